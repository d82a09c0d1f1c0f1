/* Monocypher has no set-up of a key: its stream's context is made for each message. */
#ifndef MONOCYPHER_ADAPTER_AEAD_H
#define MONOCYPHER_ADAPTER_AEAD_H

#include <stdint.h>

struct cipher_context {
    uint8_t key[32];
};

#endif
