/* The adapter: cipher.h's three functions over the library's two. */
#include "cipher.h"
#include "rc4.h"

#include <string.h>

uint8_t cipher_setup(struct cipher_context *context, const uint8_t *key, uint8_t key_bytes) {
    if (key_bytes == 0) {
        return CIPHER_BAD_KEY;
    }
    arcfour_init(&context->rc4, key, key_bytes);
    return CIPHER_OK;
}

uint8_t cipher_encrypt(struct cipher_context *context, const struct cipher_io *io) {
    arcfour_t rc4 = context->rc4; /* a message must not change what the next one starts from */
    if (io->output != io->input && io->bytes != 0) {
        memcpy(io->output, io->input, io->bytes); /* the library works in place */
    }
    arcfour_crypt(&rc4, io->output, io->bytes);
    return CIPHER_OK;
}

uint8_t cipher_decrypt(struct cipher_context *context, const struct cipher_io *io) {
    return cipher_encrypt(context, io);
}
