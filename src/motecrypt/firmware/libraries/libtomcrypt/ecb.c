/* Adapter: cipher.h over LibTomCrypt's electronic codebook mode. The library finds its ciphers in a table
 * of descriptors; this program has one. */
#include "cipher.h"
#include "ecb.h"

uint8_t cipher_setup(struct cipher_context *context, const uint8_t *key, uint8_t key_bytes) {
    cipher_descriptor[0] = TOMCRYPT_DESCRIPTOR;
    return ecb_start(0, key, key_bytes, 0, &context->mode) == CRYPT_OK ? CIPHER_OK : CIPHER_BAD_KEY;
}

uint8_t cipher_encrypt(struct cipher_context *context, const struct cipher_io *io) {
    int status = ecb_encrypt(io->input, io->output, io->bytes, &context->mode);
    return status == CRYPT_OK ? CIPHER_OK : CIPHER_BAD_LENGTH;
}

uint8_t cipher_decrypt(struct cipher_context *context, const struct cipher_io *io) {
    int status = ecb_decrypt(io->input, io->output, io->bytes, &context->mode);
    return status == CRYPT_OK ? CIPHER_OK : CIPHER_BAD_LENGTH;
}
