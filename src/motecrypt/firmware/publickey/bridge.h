/* A public-key operation has no context: cipher.h asks for one. */
#ifndef PUBLIC_KEY_BRIDGE_H
#define PUBLIC_KEY_BRIDGE_H

#include <stdint.h>

struct cipher_context {
    uint8_t unused;
};

#endif
