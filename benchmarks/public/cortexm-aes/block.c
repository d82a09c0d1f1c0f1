/* block.c: the keys of block.h over cortexm-AES. EXPAND and EXPAND_DECRYPT name the functions of the variant. */
#include "block.h"
#include "calls.h"

#include <string.h>

uint8_t block_setup(struct block_key *key, const uint8_t *bytes, uint8_t key_bytes) {
    uint32_t words[4]; /* the library wants the key at an address that is a multiple of four */

    if (key_bytes != sizeof(words))
        return CIPHER_BAD_KEY;
    memcpy(words, bytes, sizeof(words));
    EXPAND((uint8_t *)key->encrypt, (const uint8_t *)words);
#ifdef EXPAND_DECRYPT
    memcpy(key->decrypt, key->encrypt, sizeof(key->decrypt));
    EXPAND_DECRYPT((uint8_t *)key->decrypt, ROUNDS);
#endif
    return CIPHER_OK;
}
