/* parted.c: cipher.h over ascon-c, where a function for each direction takes the tag apart from the text. */
#include "common.h"

int ascon_aead_encrypt(uint8_t *tag, uint8_t *output, const uint8_t *input, uint64_t bytes, const uint8_t *ad,
                       uint64_t ad_bytes, const uint8_t *nonce, const uint8_t *key);
int ascon_aead_decrypt(uint8_t *output, const uint8_t *tag, const uint8_t *input, uint64_t bytes,
                       const uint8_t *ad, uint64_t ad_bytes, const uint8_t *nonce, const uint8_t *key);

uint8_t cipher_encrypt(struct cipher_context *context, const struct cipher_io *io) {
    if (io->nonce_bytes != 16)
        return CIPHER_BAD_NONCE;
    ascon_aead_encrypt(io->tag, io->output, io->input, io->bytes, io->ad, io->ad_bytes, io->nonce,
                       context->key);
    return CIPHER_OK;
}

uint8_t cipher_decrypt(struct cipher_context *context, const struct cipher_io *io) {
    if (io->nonce_bytes != 16)
        return CIPHER_BAD_NONCE;
    return judged(io, ascon_aead_decrypt(io->output, io->tag, io->input, io->bytes, io->ad, io->ad_bytes,
                                         io->nonce, context->key));
}
