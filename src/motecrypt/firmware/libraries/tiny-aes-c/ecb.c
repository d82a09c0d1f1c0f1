/* Adapter: cipher.h over tiny-AES-c's bare blocks. */
#include "tiny.h"

uint8_t cipher_setup(struct cipher_context *context, const uint8_t *key, uint8_t key_bytes) {
    return tiny_setup(context, key, key_bytes);
}

uint8_t cipher_encrypt(struct cipher_context *context, const struct cipher_io *io) {
    if (io->bytes % AES_BLOCKLEN != 0) {
        return CIPHER_BAD_LENGTH;
    }
    tiny_begin(io);
    for (size_t at = 0; at < io->bytes; at += AES_BLOCKLEN) {
        AES_ECB_encrypt(&context->aes, io->output + at);
    }
    return CIPHER_OK;
}

uint8_t cipher_decrypt(struct cipher_context *context, const struct cipher_io *io) {
    if (io->bytes % AES_BLOCKLEN != 0) {
        return CIPHER_BAD_LENGTH;
    }
    tiny_begin(io);
    for (size_t at = 0; at < io->bytes; at += AES_BLOCKLEN) {
        AES_ECB_decrypt(&context->aes, io->output + at);
    }
    return CIPHER_OK;
}
