/* key.h: ascon-c takes the key's bytes with each message. */
#ifndef PUBLIC_ASCON_C_KEY_H
#define PUBLIC_ASCON_C_KEY_H

#include <stdint.h>

struct cipher_context {
    uint8_t key[16];
};

#endif
