/* Adapter: cipher.h over BearSSL's ChaCha20-Poly1305. The library works in place. */
#include "cipher.h"
#include "chachapoly.h"

#include <string.h>

enum { NONCE_BYTES = 12, TAG_BYTES = 16 };

uint8_t cipher_setup(struct cipher_context *context, const uint8_t *key, uint8_t key_bytes) {
    if (key_bytes != sizeof context->key) {
        return CIPHER_BAD_KEY;
    }
    memcpy(context->key, key, sizeof context->key);
    return CIPHER_OK;
}

static uint8_t run(struct cipher_context *context, const struct cipher_io *io, uint8_t *tag, int encrypt) {
    if (io->nonce_bytes != NONCE_BYTES) {
        return CIPHER_BAD_NONCE;
    }
    if (io->output != io->input && io->bytes != 0) {
        memcpy(io->output, io->input, io->bytes);
    }
    BEARSSL_POLY1305(context->key, io->nonce, io->output, io->bytes, io->ad, io->ad_bytes, tag,
                     br_chacha20_ct_run, encrypt);
    return CIPHER_OK;
}

uint8_t cipher_encrypt(struct cipher_context *context, const struct cipher_io *io) {
    return run(context, io, io->tag, 1);
}

uint8_t cipher_decrypt(struct cipher_context *context, const struct cipher_io *io) {
    uint8_t tag[TAG_BYTES];
    uint8_t difference = 0;
    uint8_t status = run(context, io, tag, 0);
    if (status != CIPHER_OK) {
        return status;
    }
    for (uint8_t i = 0; i < TAG_BYTES; i++) {
        difference |= (uint8_t)(tag[i] ^ io->tag[i]);
    }
    if (difference != 0) {
        memset(io->output, 0, io->bytes);
        return CIPHER_BAD_TAG;
    }
    return CIPHER_OK;
}
