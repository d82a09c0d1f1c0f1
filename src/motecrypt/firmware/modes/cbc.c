/* cbc.c: the mode cipher block chaining over any block cipher (block.h). See cbc.h. */
#include "cbc.h"
#include "chain.h"

uint8_t cipher_setup(struct cipher_context *context, const uint8_t *key, uint8_t key_bytes) {
    return block_setup(&context->key, key, key_bytes);
}

static uint8_t check(const struct cipher_io *io) {
    if (io->nonce_bytes != BLOCK_BYTES)
        return CIPHER_BAD_NONCE;
    return io->bytes % BLOCK_BYTES != 0 || io->ad_bytes != 0 ? CIPHER_BAD_LENGTH : CIPHER_OK;
}

uint8_t cipher_encrypt(struct cipher_context *context, const struct cipher_io *io) {
    uint8_t status = check(io);
    if (status == CIPHER_OK)
        chain_encrypt(&context->key, io->nonce, io->input, io->output, io->bytes);
    return status;
}

uint8_t cipher_decrypt(struct cipher_context *context, const struct cipher_io *io) {
    uint8_t status = check(io);
    if (status == CIPHER_OK)
        chain_decrypt(&context->key, io->nonce, io->input, io->output, io->bytes);
    return status;
}
