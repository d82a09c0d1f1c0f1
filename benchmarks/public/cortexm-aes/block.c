/* block.c: block.h over cortexm-AES. ENCRYPT, DECRYPT, EXPAND and EXPAND_DECRYPT name the functions of the
 * variant.
 *
 * The library wants blocks at addresses that are multiples of four. CCM's are; those of a message may be
 * anywhere, so with UNALIGNED a block elsewhere is copied.
 */
#include "block.h"

#include <CM0.h>
#include <CM3.h>
#include <string.h>

#define ROUNDS 10

#ifdef UNROLLED /* the functions for one length of key take no number of rounds */
static inline void encrypt_unrolled(const uint8_t *rounds, const uint8_t *in, uint8_t *out, size_t count) {
    (void)count;
    CM3_1T_AES128_encrypt_unrolled(rounds, in, out);
}

#ifdef EXPAND_DECRYPT
static inline void decrypt_unrolled(const uint8_t *rounds, const uint8_t *in, uint8_t *out, size_t count) {
    (void)count;
    CM3_1T_AES128_decrypt_unrolled(rounds, in, out);
}
#endif
#endif

uint8_t block_setup(struct block_key *key, const uint8_t *bytes, uint8_t key_bytes) {
    uint32_t words[4];

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

#ifdef UNALIGNED
static __attribute__((noinline)) void copied(void (*call)(const uint8_t *, const uint8_t *, uint8_t *, size_t),
                                             const uint32_t *rounds, uint8_t *block) {
    uint32_t words[BLOCK_BYTES / 4];

    memcpy(words, block, BLOCK_BYTES);
    call((const uint8_t *)rounds, (const uint8_t *)words, (uint8_t *)words, ROUNDS);
    memcpy(block, words, BLOCK_BYTES);
}
#define CRYPT(call, rounds, block)                                                                           \
    if (((uintptr_t)(block) & 3) != 0)                                                                       \
        copied(call, rounds, block);                                                                         \
    else                                                                                                     \
        call((const uint8_t *)(rounds), block, block, ROUNDS)
#else
#define CRYPT(call, rounds, block) call((const uint8_t *)(rounds), block, block, ROUNDS)
#endif

void block_encrypt(const struct block_key *key, uint8_t *block) {
    CRYPT(ENCRYPT, key->encrypt, block);
}

void block_decrypt(const struct block_key *key, uint8_t *block) {
#ifdef EXPAND_DECRYPT
    CRYPT(DECRYPT, key->decrypt, block);
#else
    CRYPT(DECRYPT, key->encrypt, block);
#endif
}
