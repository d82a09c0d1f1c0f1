/* Adapter: cipher.h over Monocypher's ChaCha20-Poly1305.
 *
 * crypto_aead_write draws a new key for the next message of its stream; the first message of a stream
 * made with the IETF nonce is what RFC 8439 defines, so every message gets a stream of its own. */
#include "cipher.h"
#include "aead.h"
#include "monocypher.h"

#include <string.h>

enum { NONCE_BYTES = 12 };

uint8_t cipher_setup(struct cipher_context *context, const uint8_t *key, uint8_t key_bytes) {
    if (key_bytes != sizeof context->key) {
        return CIPHER_BAD_KEY;
    }
    memcpy(context->key, key, sizeof context->key);
    return CIPHER_OK;
}

uint8_t cipher_encrypt(struct cipher_context *context, const struct cipher_io *io) {
    crypto_aead_ctx stream;
    if (io->nonce_bytes != NONCE_BYTES) {
        return CIPHER_BAD_NONCE;
    }
    crypto_aead_init_ietf(&stream, context->key, io->nonce);
    crypto_aead_write(&stream, io->output, io->tag, io->ad, io->ad_bytes, io->input, io->bytes);
    crypto_wipe(&stream, sizeof stream);
    return CIPHER_OK;
}

uint8_t cipher_decrypt(struct cipher_context *context, const struct cipher_io *io) {
    crypto_aead_ctx stream;
    if (io->nonce_bytes != NONCE_BYTES) {
        return CIPHER_BAD_NONCE;
    }
    crypto_aead_init_ietf(&stream, context->key, io->nonce);
    int status = crypto_aead_read(&stream, io->output, io->tag, io->ad, io->ad_bytes, io->input, io->bytes);
    crypto_wipe(&stream, sizeof stream);
    if (status != 0) {
        memset(io->output, 0, io->bytes); /* in place, the ciphertext would remain */
        return CIPHER_BAD_TAG;
    }
    return CIPHER_OK;
}
