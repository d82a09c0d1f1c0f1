/* Adapter: cipher.h over tiny-AES-c in cipher block chaining. */
#include "tiny.h"

uint8_t cipher_setup(struct cipher_context *context, const uint8_t *key, uint8_t key_bytes) {
    return tiny_setup(context, key, key_bytes);
}

static uint8_t begin(struct cipher_context *context, const struct cipher_io *io) {
    if (io->nonce_bytes != AES_BLOCKLEN) {
        return CIPHER_BAD_NONCE;
    }
    if (io->bytes % AES_BLOCKLEN != 0) {
        return CIPHER_BAD_LENGTH;
    }
    tiny_begin(io);
    AES_ctx_set_iv(&context->aes, io->nonce);
    return CIPHER_OK;
}

uint8_t cipher_encrypt(struct cipher_context *context, const struct cipher_io *io) {
    uint8_t status = begin(context, io);
    if (status == CIPHER_OK) {
        AES_CBC_encrypt_buffer(&context->aes, io->output, io->bytes);
    }
    return status;
}

uint8_t cipher_decrypt(struct cipher_context *context, const struct cipher_io *io) {
    uint8_t status = begin(context, io);
    if (status == CIPHER_OK) {
        AES_CBC_decrypt_buffer(&context->aes, io->output, io->bytes);
    }
    return status;
}
