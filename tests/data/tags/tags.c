/* Toys for the tests: XOR with the key, and a tag that sums up key and plaintext. No security at all. */
#include "cipher.h"
#include "tags.h"

#include <string.h>

uint8_t cipher_setup(struct cipher_context *context, const uint8_t *key, uint8_t key_bytes) {
    memcpy(context->key, key, key_bytes);
    return CIPHER_OK;
}

static void crypt(const struct cipher_context *context, const struct cipher_io *io) {
    for (size_t i = 0; i < io->bytes; i++) {
        io->output[i] = io->input[i] ^ context->key[i % 16];
    }
}

static void sum(const struct cipher_context *context, const uint8_t *bytes, size_t count, uint8_t *tag) {
    memcpy(tag, context->key, 4);
    for (size_t i = 0; i < count; i++) {
        tag[i % 4] = (uint8_t)(tag[i % 4] + bytes[i]);
    }
}

uint8_t cipher_encrypt(struct cipher_context *context, const struct cipher_io *io) {
    sum(context, io->input, io->bytes, io->tag);
    crypt(context, io);
    return CIPHER_OK;
}

uint8_t cipher_decrypt(struct cipher_context *context, const struct cipher_io *io) {
    uint8_t expected[4];
    crypt(context, io);
    sum(context, io->output, io->bytes, expected);
#ifdef HALF_CHECKED
    int wrong = memcmp(expected, io->tag, 2);
#else
    int wrong = memcmp(expected, io->tag, 4);
#endif
#ifdef UNCHECKED
    wrong = 0;
#endif
    if (wrong) {
#ifndef NOT_WIPED
        memset(io->output, 0, io->bytes);
#endif
        return CIPHER_BAD_TAG;
    }
    return CIPHER_OK;
}
