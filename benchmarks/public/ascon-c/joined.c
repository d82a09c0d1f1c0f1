/* joined.c: cipher.h over ascon-c, where one function serves both directions. */
#include "common.h"

enum { ENCRYPT = 3, DECRYPT = 7 }; /* ASCON_ENCRYPT and ASCON_DECRYPT of the library */

int ascon_aead(uint8_t *tag, uint8_t *output, const uint8_t *input, uint64_t bytes, const uint8_t *ad,
               uint64_t ad_bytes, const uint8_t *nonce, const uint8_t *key, uint8_t direction);

static int run(const struct cipher_context *context, const struct cipher_io *io, uint8_t direction) {
    return ascon_aead(io->tag, io->output, io->input, io->bytes, io->ad, io->ad_bytes, io->nonce,
                      context->key, direction);
}

uint8_t cipher_encrypt(struct cipher_context *context, const struct cipher_io *io) {
    if (io->nonce_bytes != 16)
        return CIPHER_BAD_NONCE;
    run(context, io, ENCRYPT);
    return CIPHER_OK;
}

uint8_t cipher_decrypt(struct cipher_context *context, const struct cipher_io *io) {
    if (io->nonce_bytes != 16)
        return CIPHER_BAD_NONCE;
    return judged(io, run(context, io, DECRYPT));
}
