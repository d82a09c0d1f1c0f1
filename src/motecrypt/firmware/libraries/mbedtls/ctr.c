/* Adapter: cipher.h over Mbed TLS's AES in counter mode. */
#include "cipher.h"
#include "ctr.h"

#include <string.h>

uint8_t cipher_setup(struct cipher_context *context, const uint8_t *key, uint8_t key_bytes) {
    mbedtls_aes_init(&context->aes);
    return mbedtls_aes_setkey_enc(&context->aes, key, key_bytes * 8u) == 0 ? CIPHER_OK : CIPHER_BAD_KEY;
}

uint8_t cipher_encrypt(struct cipher_context *context, const struct cipher_io *io) {
    uint8_t counter[16];
    uint8_t keystream[16];
    size_t used = 0;
    if (io->nonce_bytes != sizeof counter) {
        return CIPHER_BAD_NONCE;
    }
    memcpy(counter, io->nonce, sizeof counter); /* the library counts in it */
    if (mbedtls_aes_crypt_ctr(&context->aes, io->bytes, &used, counter, keystream, io->input, io->output) !=
        0) {
        return CIPHER_BAD_LENGTH;
    }
    return CIPHER_OK;
}

uint8_t cipher_decrypt(struct cipher_context *context, const struct cipher_io *io) {
    return cipher_encrypt(context, io);
}
