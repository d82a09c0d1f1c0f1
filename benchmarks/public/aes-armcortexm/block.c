/* block.c: the keys of block.h over aes-armcortexm. */
#include "block.h"
#include "calls.h"

#include <string.h>

uint8_t block_setup(struct block_key *key, const uint8_t *bytes, uint8_t key_bytes) {
    if (key_bytes != BLOCK_BYTES)
        return CIPHER_BAD_KEY;
    memcpy(key->encrypt, bytes, BLOCK_BYTES);
    AES_128_keyschedule((const uint8_t *)key->encrypt, (uint8_t *)(key->encrypt + 4));
#ifdef DECRYPTS
    memcpy(key->decrypt + 40, bytes, BLOCK_BYTES);
    AES_128_keyschedule_dec((const uint8_t *)key->encrypt, (uint8_t *)key->decrypt);
#endif
    return CIPHER_OK;
}
