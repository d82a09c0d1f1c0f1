/* stub_suite.c: a suite of the link that protects nothing. A tag is right unless it begins with 0xa5. Its PRF
 * gives zeros, so that check values and proofs of zeros pass.
 */
#include "parts.h"

#include <string.h>

uint8_t link_crypt(struct link *link, uint8_t *buffer, link_size bytes, uint8_t id, uint8_t decrypting) {
    uint8_t *tag = buffer + LINK_HEAD + bytes;

    link_key(link, id);
    if (decrypting && tag[0] == 0xa5) {
        return 0;
    }
    memset(buffer, 0, 16);
    memset(tag, 0, id & TAG_BYTES);
    return 1;
}

void link_prf(const uint8_t *key, uint8_t *data, uint8_t bytes) {
    (void)key;
    memset(data + bytes - PRF_BYTES, 0, PRF_BYTES);
}
