/* Adapter: cipher.h over tiny-AES-c in counter mode. */
#include "tiny.h"

uint8_t cipher_setup(struct cipher_context *context, const uint8_t *key, uint8_t key_bytes) {
    return tiny_setup(context, key, key_bytes);
}

uint8_t cipher_encrypt(struct cipher_context *context, const struct cipher_io *io) {
    if (io->nonce_bytes != AES_BLOCKLEN) {
        return CIPHER_BAD_NONCE;
    }
    tiny_begin(io);
    AES_ctx_set_iv(&context->aes, io->nonce);
    AES_CTR_xcrypt_buffer(&context->aes, io->output, io->bytes);
    return CIPHER_OK;
}

uint8_t cipher_decrypt(struct cipher_context *context, const struct cipher_io *io) {
    return cipher_encrypt(context, io);
}
