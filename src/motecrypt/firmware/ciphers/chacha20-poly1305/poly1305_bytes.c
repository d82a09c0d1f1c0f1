/* poly1305_bytes.c: Poly1305 (RFC 8439, 2.5) with numbers as bytes, for cores with a multiplier of eight
 * bits. No branch and no address depends on key or message.
 */
#include "bytes.h"

#include <string.h>

enum { R_BYTES = 16, SUM_BYTES = 17, PRODUCT_BYTES = R_BYTES + SUM_BYTES };

void poly1305_start(struct poly1305 *state, const uint8_t *key) {
    memset(state->sum, 0, SUM_BYTES);
    memcpy(state->r, key, R_BYTES);
    memcpy(state->s, key + R_BYTES, 16);
    for (uint8_t i = 0; i < R_BYTES; i = (uint8_t)(i + 4)) { /* clamp, RFC 8439, 2.5.1 */
        state->r[i + 3] &= 0x0f;
        if (i != 0) {
            state->r[i] &= 0xfc;
        }
    }
}

/* One byte of product += sum * factor: 255 * 255 + 255 + 255 is the largest number of 16 bits. */
#define STEP(i)                                                                                              \
    do {                                                                                                     \
        uint16_t part = (uint16_t)((uint16_t)*sum++ * factor);                                               \
                                                                                                             \
        part = (uint16_t)(part + carry);                                                                     \
        part = (uint16_t)(part + product[i]);                                                                \
        product[i] = (uint8_t)part;                                                                          \
        carry = (uint8_t)(part >> 8);                                                                        \
    } while (0)

/* A function of its own, so that both pointers stay in registers that take offsets. */
static void __attribute__((noinline)) multiply_add(uint8_t *product, const uint8_t *sum, uint8_t factor) {
    uint8_t carry = 0;

    STEP(0);
    STEP(1);
    STEP(2);
    STEP(3);
    STEP(4);
    STEP(5);
    STEP(6);
    STEP(7);
    STEP(8);
    STEP(9);
    STEP(10);
    STEP(11);
    STEP(12);
    STEP(13);
    STEP(14);
    STEP(15);
    STEP(16);
    product[17] = carry;
}

static void multiply(uint8_t *product, const uint8_t *sum, const uint8_t *r) {
    memset(product, 0, PRODUCT_BYTES);
    for (uint8_t i = 0; i < R_BYTES; i++) {
        multiply_add(product + i, sum, r[i]);
    }
}

/* sum = product modulo 2^130 - 5, not quite reduced: 2^130 counts as 5, so the part above it is multiplied by
 * 5 = 4 + 1, and is times 4 in place already, in the bytes from 16 on without the lowest two bits. */
static void reduce(uint8_t *sum, const uint8_t *product) {
    uint16_t carry = 0;

    for (uint8_t i = 0; i < SUM_BYTES; i++) {
        uint8_t at = (uint8_t)(i + 16);
        uint8_t above = product[at];
        uint8_t next = (uint8_t)(at + 1 != PRODUCT_BYTES ? product[at + 1] : 0);
        uint8_t low = (uint8_t)(i < 16 ? product[i] : product[i] & 3);

        carry = (uint16_t)(carry + low + (i == 0 ? above & 0xfc : above));
        carry = (uint16_t)(carry + (uint8_t)(above >> 2 | next << 6));
        sum[i] = (uint8_t)carry;
        carry >>= 8;
    }
}

void poly1305_block(struct poly1305 *state, const uint8_t *block) {
    uint8_t product[PRODUCT_BYTES];
    uint16_t carry = 0;

    for (uint8_t i = 0; i < 16; i++) {
        carry = (uint16_t)(carry + state->sum[i] + block[i]);
        state->sum[i] = (uint8_t)carry;
        carry >>= 8;
    }
    state->sum[16] = (uint8_t)(state->sum[16] + carry + 1);
    multiply(product, state->sum, state->r);
    reduce(state->sum, product);
}

void poly1305_finish(struct poly1305 *state, uint8_t *tag) {
    uint8_t reduced[SUM_BYTES];
    uint16_t carry = (uint16_t)((state->sum[16] >> 2) * 5);
    uint8_t keep;

    /* what is above 2^130 comes back as fives */
    state->sum[16] &= 3;
    for (uint8_t i = 0; i < SUM_BYTES; i++) {
        carry = (uint16_t)(carry + state->sum[i]);
        state->sum[i] = (uint8_t)carry;
        carry >>= 8;
    }
    /* sum - (2^130 - 5) = sum + 5 - 2^130: right unless it is negative */
    carry = 5;
    for (uint8_t i = 0; i < SUM_BYTES; i++) {
        carry = (uint16_t)(carry + state->sum[i]);
        reduced[i] = (uint8_t)carry;
        carry >>= 8;
    }
    keep = (uint8_t)((reduced[16] >> 2) - 1); /* 0xff: below 2^130, keep sum; 0: take reduced */
    carry = 0;
    for (uint8_t i = 0; i < 16; i++) {
        uint8_t byte = (uint8_t)((state->sum[i] & keep) | (reduced[i] & (uint8_t)~keep));

        carry = (uint16_t)(carry + byte + state->s[i]);
        tag[i] = (uint8_t)carry;
        carry >>= 8;
    }
}
