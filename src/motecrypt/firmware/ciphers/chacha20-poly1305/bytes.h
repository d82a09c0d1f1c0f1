/* bytes.h: ChaCha20-Poly1305 for cores of eight bits: Poly1305 counts in bytes. */
#ifndef MOTECRYPT_CHACHA20_POLY1305_BYTES_H
#define MOTECRYPT_CHACHA20_POLY1305_BYTES_H

#include "parts.h"

struct poly1305 {
    uint8_t sum[17]; /* the accumulator, below 2^130 + 2^8, least significant byte first */
    uint8_t r[16];   /* the clamped multiplier */
    uint8_t s[16];   /* added at the end */
};

#endif
