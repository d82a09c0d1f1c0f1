/* ecb.c: the mode electronic codebook over any block cipher (block.h). See ecb.h. */
#include "ecb.h"
#include "chain.h"

uint8_t cipher_setup(struct cipher_context *context, const uint8_t *key, uint8_t key_bytes) {
    return block_setup(&context->key, key, key_bytes);
}

/* Check the lengths; where blocks are not handled by words, copy the whole message to `output` first. */
static uint8_t begin(const struct cipher_io *io) {
    if (io->nonce_bytes != 0)
        return CIPHER_BAD_NONCE;
    if (io->bytes % BLOCK_BYTES != 0 || io->ad_bytes != 0)
        return CIPHER_BAD_LENGTH;
    if (!BLOCK_BY_WORDS && io->output != io->input)
        for (size_t i = 0; i < io->bytes; i++)
            io->output[i] = io->input[i];
    return CIPHER_OK;
}

/* A block of `output`, in which it is then worked on in place. */
static inline uint8_t *block_at(const struct cipher_io *io, size_t at) {
    if (BLOCK_BY_WORDS && io->output != io->input)
        block_copy(io->output + at, io->input + at);
    return io->output + at;
}

#ifdef BLOCK_PAIRS
/* All whole pairs of blocks; returns the bytes behind them. */
static size_t pairs(const struct block_key *key, const struct cipher_io *io,
                    void (*crypt)(const struct block_key *, void *)) {
    size_t i = 0;
    for (; i + 2 * BLOCK_BYTES <= io->bytes; i += 2 * BLOCK_BYTES) {
        block_at(io, i + BLOCK_BYTES);
        crypt(key, block_at(io, i));
    }
    return i;
}
#define PAIRS(key, io, crypt) pairs(key, io, crypt)
#else
#define PAIRS(key, io, crypt) 0
#endif

uint8_t cipher_encrypt(struct cipher_context *context, const struct cipher_io *io) {
    uint8_t status = begin(io);
    if (status == CIPHER_OK)
        for (size_t i = PAIRS(&context->key, io, block_encrypt_pair); i < io->bytes; i += BLOCK_BYTES)
            block_encrypt(&context->key, block_at(io, i));
    return status;
}

uint8_t cipher_decrypt(struct cipher_context *context, const struct cipher_io *io) {
    uint8_t status = begin(io);
    if (status == CIPHER_OK)
        for (size_t i = PAIRS(&context->key, io, block_decrypt_pair); i < io->bytes; i += BLOCK_BYTES)
            block_decrypt(&context->key, block_at(io, i));
    return status;
}
