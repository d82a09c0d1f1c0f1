/* armv6m.h: ChaCha20-Poly1305 in assembly for Cortex-M0 and M0+ (chacha_armv6m.S, poly1305_armv6m.S). Blocks of key
 * stream, keys and tags of Poly1305 are at multiples of four, messages and nonces at any address. */
#ifndef MOTECRYPT_CHACHA20_POLY1305_ARMV6M_H
#define MOTECRYPT_CHACHA20_POLY1305_ARMV6M_H

#include "parts.h"

#include <stddef.h>

#define CHACHA20_ADDS /* chacha20_add exists */
#define POLY1305_PADS /* poly1305_padded exists */

struct poly1305_factor {
    int32_t low;   /* above -2^14, at most 2^14 */
    uint32_t high; /* the factor is 2^15 * high + low */
};

struct poly1305 {
    struct poly1305_factor factors[7]; /* 5/4 r1, 5/4 r2, 5/4 r3, r0, r1, r2, r3 */
    struct {
        uint32_t factor; /* of the bits above 2^128 in word i of a product: 0, 5/4 r1, 5/4 r2, 5/4 r3 */
        uint32_t sum;    /* word i of the accumulator */
    } words[4];
    int32_t sum_top;   /* its word 4, of which only the low two bits are below 2^130 */
    uint32_t factor_0; /* r0 */
    uint32_t s[4];     /* added at the end */
};

/* output = input ^ stream, for at most 64 bytes. The output is the input or does not overlap it. */
void chacha20_add(uint8_t *output, const uint8_t *input, const uint8_t *stream, size_t bytes);

/* poly1305_block for all blocks of `data`, the last one with zeros after it where it is not whole. */
void poly1305_padded(struct poly1305 *state, const uint8_t *data, size_t bytes);

#endif
