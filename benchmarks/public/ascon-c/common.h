/* common.h: what the adapters of ascon-c share: the key, and the lengths of a message. */
#ifndef PUBLIC_ASCON_C_COMMON_H
#define PUBLIC_ASCON_C_COMMON_H

#include "cipher.h"
#include "key.h"

#include <string.h>

uint8_t cipher_setup(struct cipher_context *context, const uint8_t *key, uint8_t key_bytes) {
    if (key_bytes != sizeof(context->key))
        return CIPHER_BAD_KEY;
    memcpy(context->key, key, sizeof(context->key));
    return CIPHER_OK;
}

/* The library leaves the plaintext of a refused message to its caller. */
static uint8_t judged(const struct cipher_io *io, int verdict) {
    if (verdict == 0)
        return CIPHER_OK;
    memset(io->output, 0, io->bytes);
    return CIPHER_BAD_TAG;
}

#endif
