/* Adapter: cipher.h over Mbed TLS's ChaCha20-Poly1305. */
#include "cipher.h"
#include "chachapoly.h"

enum { KEY_BYTES = 32, NONCE_BYTES = 12 };

uint8_t cipher_setup(struct cipher_context *context, const uint8_t *key, uint8_t key_bytes) {
    if (key_bytes != KEY_BYTES) {
        return CIPHER_BAD_KEY;
    }
    mbedtls_chachapoly_init(&context->aead);
    return mbedtls_chachapoly_setkey(&context->aead, key) == 0 ? CIPHER_OK : CIPHER_BAD_KEY;
}

uint8_t cipher_encrypt(struct cipher_context *context, const struct cipher_io *io) {
    if (io->nonce_bytes != NONCE_BYTES) {
        return CIPHER_BAD_NONCE;
    }
    int status = mbedtls_chachapoly_encrypt_and_tag(&context->aead, io->bytes, io->nonce, io->ad,
                                                    io->ad_bytes, io->input, io->output, io->tag);
    return status == 0 ? CIPHER_OK : CIPHER_BAD_LENGTH;
}

uint8_t cipher_decrypt(struct cipher_context *context, const struct cipher_io *io) {
    if (io->nonce_bytes != NONCE_BYTES) {
        return CIPHER_BAD_NONCE;
    }
    int status = mbedtls_chachapoly_auth_decrypt(&context->aead, io->bytes, io->nonce, io->ad, io->ad_bytes,
                                                 io->tag, io->input, io->output);
    if (status == MBEDTLS_ERR_CHACHAPOLY_AUTH_FAILED) {
        return CIPHER_BAD_TAG;
    }
    return status == 0 ? CIPHER_OK : CIPHER_BAD_LENGTH;
}
