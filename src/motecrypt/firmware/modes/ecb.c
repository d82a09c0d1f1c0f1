/* ecb.c: the mode electronic codebook over any block cipher (block.h). See ecb.h. */
#include "ecb.h"

uint8_t cipher_setup(struct cipher_context *context, const uint8_t *key, uint8_t key_bytes) {
    return block_setup(&context->key, key, key_bytes);
}

/* Check the lengths and bring the message to `output`, where its blocks are then worked on in place. */
static uint8_t begin(const struct cipher_io *io) {
    if (io->nonce_bytes != 0)
        return CIPHER_BAD_NONCE;
    if (io->bytes % BLOCK_BYTES != 0 || io->ad_bytes != 0)
        return CIPHER_BAD_LENGTH;
    if (io->output != io->input)
        for (size_t i = 0; i < io->bytes; i++)
            io->output[i] = io->input[i];
    return CIPHER_OK;
}

uint8_t cipher_encrypt(struct cipher_context *context, const struct cipher_io *io) {
    uint8_t status = begin(io);
    if (status == CIPHER_OK)
        for (size_t i = 0; i < io->bytes; i += BLOCK_BYTES)
            block_encrypt(&context->key, io->output + i);
    return status;
}

uint8_t cipher_decrypt(struct cipher_context *context, const struct cipher_io *io) {
    uint8_t status = begin(io);
    if (status == CIPHER_OK)
        for (size_t i = 0; i < io->bytes; i += BLOCK_BYTES)
            block_decrypt(&context->key, io->output + i);
    return status;
}
