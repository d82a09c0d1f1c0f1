/* stub_cipher.c: see stub_cipher.h. Its PRF gives zeros, so that check values and proofs of zeros pass. */
#include "parts.h"

#include <string.h>

uint8_t cipher_setup(struct cipher_context *context, const uint8_t *key, uint8_t key_bytes) {
    (void)context;
    (void)key;
    (void)key_bytes;
    return CIPHER_OK;
}

uint8_t cipher_encrypt(struct cipher_context *context, const struct cipher_io *io) {
    (void)context;
    memset(io->tag, 0, 16);
    return CIPHER_OK;
}

uint8_t cipher_decrypt(struct cipher_context *context, const struct cipher_io *io) {
    (void)context;
    if (io->tag[0] == 0xa5) {
        return CIPHER_BAD_TAG;
    }
    memset(io->tag, 0, 16);
    return CIPHER_OK;
}

void link_prf(struct cipher_context *context, const uint8_t *key, const uint8_t *data, uint8_t bytes,
              uint8_t *out) {
    (void)context;
    (void)key;
    (void)data;
    (void)bytes;
    memset(out, 0, 16);
}
