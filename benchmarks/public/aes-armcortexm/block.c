/* block.c: block.h over aes-armcortexm.
 *
 * The library loads and stores blocks by LDM and STM, so at addresses that are multiples of four. CCM's are;
 * those of a message may be anywhere, so with DECRYPTS (ECB) a block elsewhere is copied.
 */
#include "block.h"

#include <string.h>

void AES_128_keyschedule(const uint8_t *key, uint8_t *rounds);
void AES_128_keyschedule_dec(const uint8_t *key, uint8_t *rounds);
void AES_128_encrypt(const uint8_t *rounds, const uint8_t *in, uint8_t *out);
void AES_128_decrypt(const uint8_t *rounds, const uint8_t *in, uint8_t *out);

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

#ifdef DECRYPTS
static __attribute__((noinline)) void copied(void (*call)(const uint8_t *, const uint8_t *, uint8_t *),
                                             const uint32_t *rounds, uint8_t *block) {
    uint32_t words[BLOCK_BYTES / 4];

    memcpy(words, block, BLOCK_BYTES);
    call((const uint8_t *)rounds, (const uint8_t *)words, (uint8_t *)words);
    memcpy(block, words, BLOCK_BYTES);
}
#define CRYPT(call, rounds, block)                                                                           \
    if (((uintptr_t)(block) & 3) != 0)                                                                       \
        copied(call, rounds, block);                                                                         \
    else                                                                                                     \
        call((const uint8_t *)(rounds), block, block)

void block_decrypt(const struct block_key *key, uint8_t *block) {
    CRYPT(AES_128_decrypt, key->decrypt, block);
}
#else
#define CRYPT(call, rounds, block) call((const uint8_t *)(rounds), block, block)
#endif

void block_encrypt(const struct block_key *key, uint8_t *block) {
    CRYPT(AES_128_encrypt, key->encrypt, block);
}
