/* words13.h: ChaCha20-Poly1305 for cores of 32 bits whose multiplier gives 32 bits (Cortex-M0+). */
#ifndef MOTECRYPT_CHACHA20_POLY1305_WORDS13_H
#define MOTECRYPT_CHACHA20_POLY1305_WORDS13_H

#include "parts.h"

#define POLY1305_LIMB_BITS 13
#define POLY1305_LIMBS 10
#define POLY1305_LIMBS_AT_ONCE 5 /* products that are summed before the carry is taken */

typedef uint16_t poly1305_limb;
typedef uint32_t poly1305_product;

struct poly1305 {
    poly1305_limb sum[POLY1305_LIMBS];
    poly1305_limb factors[2 * POLY1305_LIMBS];
    uint8_t s[16];
};

#endif
