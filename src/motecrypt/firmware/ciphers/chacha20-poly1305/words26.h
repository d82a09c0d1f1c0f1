/* words26.h: ChaCha20-Poly1305 for cores whose multiplier gives 64 bits (Cortex-M3 and up, hosts). */
#ifndef MOTECRYPT_CHACHA20_POLY1305_WORDS26_H
#define MOTECRYPT_CHACHA20_POLY1305_WORDS26_H

#include "parts.h"

#define POLY1305_LIMB_BITS 26
#define POLY1305_LIMBS 5
#define POLY1305_LIMBS_AT_ONCE 2 /* products that are summed before the carry is taken */

typedef uint32_t poly1305_limb;
typedef uint64_t poly1305_product;

struct poly1305 {
    poly1305_limb sum[POLY1305_LIMBS];
    poly1305_limb factors[2 * POLY1305_LIMBS];
    uint8_t s[16];
};

#endif
