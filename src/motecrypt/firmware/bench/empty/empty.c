/* The no-op cipher: what the same firmware costs without any cipher in it. */
#include "cipher.h"
#include "empty.h"

uint8_t cipher_setup(struct cipher_context *context, const uint8_t *key, uint8_t key_bytes) {
    (void)context;
    (void)key;
    (void)key_bytes;
    return CIPHER_OK;
}

uint8_t cipher_encrypt(struct cipher_context *context, const struct cipher_io *io) {
    (void)context;
    (void)io;
    return CIPHER_OK;
}

uint8_t cipher_decrypt(struct cipher_context *context, const struct cipher_io *io) {
    (void)context;
    (void)io;
    return CIPHER_OK;
}
