/* Adapter: cipher.h over LibTomCrypt's ChaCha20-Poly1305. */
#include "cipher.h"
#include "chachapoly.h"
#include "tomcrypt.h"

#include <string.h>

enum { NONCE_BYTES = 12, TAG_BYTES = 16 };

uint8_t cipher_setup(struct cipher_context *context, const uint8_t *key, uint8_t key_bytes) {
    if (key_bytes != sizeof context->key) {
        return CIPHER_BAD_KEY;
    }
    memcpy(context->key, key, sizeof context->key);
    return CIPHER_OK;
}

static int run(struct cipher_context *context, const struct cipher_io *io, uint8_t *tag, int direction) {
    unsigned long tag_bytes = TAG_BYTES;
    return chacha20poly1305_memory(context->key, sizeof context->key, io->nonce, io->nonce_bytes,
                                   io->ad_bytes != 0 ? io->ad : NULL, io->ad_bytes, io->input, io->bytes,
                                   io->output, tag, &tag_bytes, direction);
}

uint8_t cipher_encrypt(struct cipher_context *context, const struct cipher_io *io) {
    if (io->nonce_bytes != NONCE_BYTES) {
        return CIPHER_BAD_NONCE;
    }
    return run(context, io, io->tag, LTC_ENCRYPT) == CRYPT_OK ? CIPHER_OK : CIPHER_BAD_LENGTH;
}

/* The library hands back the tag of what it read; comparing is the caller's part. */
uint8_t cipher_decrypt(struct cipher_context *context, const struct cipher_io *io) {
    uint8_t tag[TAG_BYTES];
    uint8_t difference = 0;
    if (io->nonce_bytes != NONCE_BYTES) {
        return CIPHER_BAD_NONCE;
    }
    memcpy(tag, io->tag, sizeof tag);
    if (run(context, io, tag, LTC_DECRYPT) != CRYPT_OK) {
        memset(io->output, 0, io->bytes);
        return CIPHER_BAD_TAG;
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
