/* rc2.h: RC2 (RFC 2268): 64-bit blocks, keys of 8 to 1024 bits, 128 bytes of round keys. */
#ifndef MOTECRYPT_RC2_H
#define MOTECRYPT_RC2_H

#include <stdint.h>

#define BLOCK_BYTES 8

struct block_key {
    uint16_t words[64];
};

#endif
