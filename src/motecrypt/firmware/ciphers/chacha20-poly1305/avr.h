/* avr.h: ChaCha20-Poly1305 for AVR, with its parts in assembly. */
#ifndef MOTECRYPT_CHACHA20_POLY1305_AVR_H
#define MOTECRYPT_CHACHA20_POLY1305_AVR_H

#include "parts.h"

#include <stddef.h>

/* The assembly relies on this order. */
struct poly1305 {
    uint8_t r[16];       /* the clamped multiplier, least significant byte first */
    uint8_t s[16];       /* added at the end */
    uint8_t sum[17];     /* the accumulator, below 4.7 * 2^128 */
    uint8_t product[52]; /* what one block needs in between */
};

/* output = input ^ stream, over 1 to 255 bytes; input may be output. */
#define CHACHA20_ADDS
void chacha20_add(uint8_t *output, const uint8_t *input, const uint8_t *stream, uint8_t bytes);

#endif
