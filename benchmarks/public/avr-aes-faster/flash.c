/* flash.c: the keys of block.h over AVR-AES-Faster with its S-boxes in flash. */
#include "block.h"

#include <AVR-AES-Faster.h>

uint8_t block_setup(struct block_key *key, const uint8_t *bytes, uint8_t key_bytes) {
    if (key_bytes != AES128_KEYSIZE)
        return CIPHER_BAD_KEY;
    AES_ExpandKey128_F(bytes, key->rounds);
    return CIPHER_OK;
}
