/* ecb_mode.c: ECB as a user of aes-armcortexm writes it: the library's function for each block, from the input to
 * the output. The library loads and stores blocks by LDM and STM, at addresses that are multiples of four; those of
 * another message are copied.
 */
#include "ecb.h"
#include "calls.h"

/* A block to words and back, in few cycles: memcpy is a loop with a step for each word. */
static inline void load(uint32_t *words, const uint8_t *block) {
    __builtin_memcpy(words + 0, block + 0, 4);
    __builtin_memcpy(words + 1, block + 4, 4);
    __builtin_memcpy(words + 2, block + 8, 4);
    __builtin_memcpy(words + 3, block + 12, 4);
}

static inline void store(uint8_t *block, const uint32_t *words) {
    __builtin_memcpy(block + 0, words + 0, 4);
    __builtin_memcpy(block + 4, words + 1, 4);
    __builtin_memcpy(block + 8, words + 2, 4);
    __builtin_memcpy(block + 12, words + 3, 4);
}

static uint8_t check(const struct cipher_io *io) {
    if (io->nonce_bytes != 0)
        return CIPHER_BAD_NONCE;
    if (io->bytes % BLOCK_BYTES != 0 || io->ad_bytes != 0)
        return CIPHER_BAD_LENGTH;
    return CIPHER_OK;
}

static int is_aligned(const struct cipher_io *io) {
    return (((uintptr_t)io->input | (uintptr_t)io->output) & 3) == 0;
}

#define EACH_BLOCK(function, rounds, io)                                                                     \
    do {                                                                                                     \
        const uint8_t *in = (io)->input, *const end = in + (io)->bytes;                                      \
        uint8_t *out = (io)->output;                                                                         \
        uint32_t words[BLOCK_BYTES / 4];                                                                     \
        if (is_aligned(io))                                                                                  \
            for (; in != end; in += BLOCK_BYTES, out += BLOCK_BYTES)                                         \
                CALL(function, rounds, in, out);                                                             \
        else                                                                                                 \
            for (; in != end; in += BLOCK_BYTES, out += BLOCK_BYTES) {                                       \
                load(words, in);                                                                             \
                CALL(function, rounds, (const uint8_t *)words, (uint8_t *)words);                            \
                store(out, words);                                                                           \
            }                                                                                                \
    } while (0)

uint8_t cipher_setup(struct cipher_context *context, const uint8_t *key, uint8_t key_bytes) {
    return block_setup(&context->key, key, key_bytes);
}

uint8_t cipher_encrypt(struct cipher_context *context, const struct cipher_io *io) {
    uint8_t status = check(io);
    if (status == CIPHER_OK)
        EACH_BLOCK(AES_ENCRYPT, context->key.encrypt, io);
    return status;
}

uint8_t cipher_decrypt(struct cipher_context *context, const struct cipher_io *io) {
    uint8_t status = check(io);
    if (status == CIPHER_OK)
        EACH_BLOCK(AES_DECRYPT, DECRYPT_ROUNDS(&context->key), io);
    return status;
}
