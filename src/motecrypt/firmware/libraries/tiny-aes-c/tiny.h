/* tiny-AES-c: its own context is ours; the key length is a matter of the build. */
#ifndef TINY_AES_ADAPTER_H
#define TINY_AES_ADAPTER_H

#include "aes.h"
#include "cipher.h"

#include <string.h>

struct cipher_context {
    struct AES_ctx aes;
};

static inline uint8_t tiny_setup(struct cipher_context *context, const uint8_t *key, uint8_t key_bytes) {
    if (key_bytes != AES_KEYLEN) {
        return CIPHER_BAD_KEY;
    }
    AES_init_ctx(&context->aes, key);
    return CIPHER_OK;
}

/* The library works in place. */
static inline void tiny_begin(const struct cipher_io *io) {
    if (io->output != io->input && io->bytes != 0) {
        memcpy(io->output, io->input, io->bytes);
    }
}

#endif
