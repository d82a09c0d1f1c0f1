/* Adapter: cipher.h over BearSSL's ciphers in cipher block chaining. The library works in place. */
#include "cipher.h"
#include "cbc.h"

#include <string.h>

#ifdef BEARSSL_DES
enum { BLOCK_BYTES = 8 };
static uint8_t takes(uint8_t key_bytes) {
    return key_bytes == 8 || key_bytes == 24;
}
#else
enum { BLOCK_BYTES = 16 };
static uint8_t takes(uint8_t key_bytes) {
    return key_bytes == 16 || key_bytes == 24 || key_bytes == 32;
}
#endif

uint8_t cipher_setup(struct cipher_context *context, const uint8_t *key, uint8_t key_bytes) {
    if (!takes(key_bytes)) {
        return CIPHER_BAD_KEY;
    }
    BEARSSL(_cbcenc_init)(&context->encrypt, key, key_bytes);
    BEARSSL(_cbcdec_init)(&context->decrypt, key, key_bytes);
    return CIPHER_OK;
}

static uint8_t begin(const struct cipher_io *io, uint8_t *iv) {
    if (io->nonce_bytes != BLOCK_BYTES) {
        return CIPHER_BAD_NONCE;
    }
    if (io->bytes % BLOCK_BYTES != 0) {
        return CIPHER_BAD_LENGTH;
    }
    if (io->output != io->input && io->bytes != 0) {
        memcpy(io->output, io->input, io->bytes);
    }
    memcpy(iv, io->nonce, BLOCK_BYTES); /* the library moves the IV on */
    return CIPHER_OK;
}

uint8_t cipher_encrypt(struct cipher_context *context, const struct cipher_io *io) {
    uint8_t iv[BLOCK_BYTES];
    uint8_t status = begin(io, iv);
    if (status == CIPHER_OK) {
        BEARSSL(_cbcenc_run)(&context->encrypt, iv, io->output, io->bytes);
    }
    return status;
}

uint8_t cipher_decrypt(struct cipher_context *context, const struct cipher_io *io) {
    uint8_t iv[BLOCK_BYTES];
    uint8_t status = begin(io, iv);
    if (status == CIPHER_OK) {
        BEARSSL(_cbcdec_run)(&context->decrypt, iv, io->output, io->bytes);
    }
    return status;
}
