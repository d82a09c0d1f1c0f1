/* Adapter: cipher.h over Mbed TLS's AES in cipher block chaining. */
#include "cipher.h"
#include "cbc.h"

#include <string.h>

uint8_t cipher_setup(struct cipher_context *context, const uint8_t *key, uint8_t key_bytes) {
    mbedtls_aes_init(&context->encrypt);
    mbedtls_aes_init(&context->decrypt);
    if (mbedtls_aes_setkey_enc(&context->encrypt, key, key_bytes * 8u) != 0 ||
        mbedtls_aes_setkey_dec(&context->decrypt, key, key_bytes * 8u) != 0) {
        return CIPHER_BAD_KEY;
    }
    return CIPHER_OK;
}

static uint8_t crypt(mbedtls_aes_context *aes, int mode, const struct cipher_io *io) {
    uint8_t iv[16];
    if (io->nonce_bytes != sizeof iv) {
        return CIPHER_BAD_NONCE;
    }
    memcpy(iv, io->nonce, sizeof iv); /* the library moves the IV on */
    if (mbedtls_aes_crypt_cbc(aes, mode, io->bytes, iv, io->input, io->output) != 0) {
        return CIPHER_BAD_LENGTH;
    }
    return CIPHER_OK;
}

uint8_t cipher_encrypt(struct cipher_context *context, const struct cipher_io *io) {
    return crypt(&context->encrypt, MBEDTLS_AES_ENCRYPT, io);
}

uint8_t cipher_decrypt(struct cipher_context *context, const struct cipher_io *io) {
    return crypt(&context->decrypt, MBEDTLS_AES_DECRYPT, io);
}
