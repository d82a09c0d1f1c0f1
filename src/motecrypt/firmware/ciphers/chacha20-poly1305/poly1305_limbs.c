/* poly1305_limbs.c: Poly1305 (RFC 8439, 2.5) with numbers of 130 bits as limbs: ten of 13 bits, whose
 * products fit 32 bits, or five of 26 bits, whose products need 64. The variant's header says which.
 * No branch and no address depends on key or message.
 */
#include CIPHER_HEADER

#include <string.h>

enum { BITS = POLY1305_LIMB_BITS, LIMBS = POLY1305_LIMBS };

#define MASK (((poly1305_product)1 << BITS) - 1)

/* Limb i of a number of 17 bytes, least significant byte first. Three bytes are never read past it: the
 * caller's space has 20. */
static poly1305_product limb(const uint8_t *bytes, unsigned i) {
    const uint8_t *at = bytes + BITS * i / 8;
    uint32_t word = (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;

    return (word >> (BITS * i % 8)) & MASK;
}

/* The multiplier r is stored twice in `factors`: times five below, for the limbs that wrap at 2^130, and
 * unchanged above. So limb i of a product is a sum over one run of LIMBS factors. */
void poly1305_start(struct poly1305 *state, const uint8_t *key) {
    uint8_t bytes[sizeof state->s + sizeof(uint32_t)] = {0};

    memcpy(bytes, key, 16);
    for (unsigned i = 0; i != 16; i += 4) { /* clamp, RFC 8439, 2.5.1 */
        bytes[i + 3] &= 0x0f;
        if (i != 0) {
            bytes[i] &= 0xfc;
        }
    }
    for (unsigned i = 0; i < LIMBS; i++) {
        poly1305_product r = limb(bytes, i);

        state->factors[i] = (poly1305_limb)(5 * r);
        state->factors[i + LIMBS] = (poly1305_limb)r;
        state->sum[i] = 0;
    }
    memcpy(state->s, key + 16, 16);
}

/* With limbs of 13 bits a sum of ten products passes 2^32, of five does not: the carry is taken half-way.
 * Bounds: sum + block < 2^14 + 2^8, factors < 5 * 2^13, five products and carries < 2^32. */
void poly1305_block(struct poly1305 *state, const uint8_t *block) {
    uint8_t bytes[sizeof state->s + sizeof(uint32_t)] = {0};
    poly1305_limb product[LIMBS];
    poly1305_product carry = 0;

    memcpy(bytes, block, 16);
    bytes[16] = 1;
    for (unsigned i = 0; i < LIMBS; i++) {
        state->sum[i] = (poly1305_limb)(state->sum[i] + limb(bytes, i));
    }
    for (unsigned i = 0; i < LIMBS; i++) {
        const poly1305_limb *factor = &state->factors[i + LIMBS];
        poly1305_product column = carry;
        unsigned j = 0;

        for (; j != POLY1305_LIMBS_AT_ONCE; j++) {
            column += (poly1305_product)state->sum[j] * *factor--;
        }
        carry = column >> BITS;
        column &= MASK;
        for (; j < LIMBS; j++) {
            column += (poly1305_product)state->sum[j] * *factor--;
        }
        carry += column >> BITS;
        product[i] = (poly1305_limb)(column & MASK);
    }
    carry = product[0] + 5 * carry;
    product[0] = (poly1305_limb)(carry & MASK);
    product[1] = (poly1305_limb)(product[1] + (carry >> BITS));
    memcpy(state->sum, product, sizeof product);
}

/* Carry through all limbs; what passes 2^130 comes back as fives. */
static void carry_through(poly1305_limb *sum) {
    poly1305_product carry = 0;

    for (unsigned i = 0; i < LIMBS; i++) {
        carry += sum[i];
        sum[i] = (poly1305_limb)(carry & MASK);
        carry >>= BITS;
    }
    sum[0] = (poly1305_limb)(sum[0] + 5 * carry);
}

void poly1305_finish(struct poly1305 *state, uint8_t *tag) {
    poly1305_limb reduced[LIMBS];
    poly1305_product carry = 5;
    poly1305_product keep;
    unsigned bits = 0;
    unsigned next = 0;
    uint32_t byte_carry = 0;

    carry_through(state->sum);
    carry_through(state->sum);
    /* sum - (2^130 - 5) = sum + 5 - 2^130: right unless it is negative */
    for (unsigned i = 0; i < LIMBS; i++) {
        carry += state->sum[i];
        reduced[i] = (poly1305_limb)(carry & MASK);
        carry >>= BITS;
    }
    keep = carry - 1; /* all ones: below 2^130 - 5, keep the sum */
    for (unsigned i = 0; i < LIMBS; i++) {
        state->sum[i] = (poly1305_limb)((state->sum[i] & keep) | (reduced[i] & ~keep));
    }
    /* limbs to bytes, plus s, modulo 2^128 */
    carry = 0;
    for (unsigned i = 0; i < 16; i++) {
        if (bits < 8) {
            carry |= (poly1305_product)state->sum[next++] << bits;
            bits += BITS;
        }
        byte_carry += (uint32_t)(carry & 0xff) + state->s[i];
        tag[i] = (uint8_t)byte_carry;
        byte_carry >>= 8;
        carry >>= 8;
        bits -= 8;
    }
}
