/* Adapter: cipher.h over LibTomCrypt's cipher block chaining. The library finds its ciphers in a table of
 * descriptors; this program has one. */
#include "cipher.h"
#include "cbc.h"

static const uint8_t no_iv[MAXBLOCKSIZE];

uint8_t cipher_setup(struct cipher_context *context, const uint8_t *key, uint8_t key_bytes) {
    cipher_descriptor[0] = TOMCRYPT_DESCRIPTOR;
    return cbc_start(0, no_iv, key, key_bytes, 0, &context->mode) == CRYPT_OK ? CIPHER_OK : CIPHER_BAD_KEY;
}

uint8_t cipher_encrypt(struct cipher_context *context, const struct cipher_io *io) {
    if (cbc_setiv(io->nonce, io->nonce_bytes, &context->mode) != CRYPT_OK) {
        return CIPHER_BAD_NONCE;
    }
    if (cbc_encrypt(io->input, io->output, io->bytes, &context->mode) != CRYPT_OK) {
        return CIPHER_BAD_LENGTH;
    }
    return CIPHER_OK;
}

uint8_t cipher_decrypt(struct cipher_context *context, const struct cipher_io *io) {
    if (cbc_setiv(io->nonce, io->nonce_bytes, &context->mode) != CRYPT_OK) {
        return CIPHER_BAD_NONCE;
    }
    if (cbc_decrypt(io->input, io->output, io->bytes, &context->mode) != CRYPT_OK) {
        return CIPHER_BAD_LENGTH;
    }
    return CIPHER_OK;
}
