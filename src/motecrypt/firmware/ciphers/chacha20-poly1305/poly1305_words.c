/* poly1305_words.c: Poly1305 (RFC 8439, 2.5) with numbers of 130 bits as four words of 32 bits and a small fifth one, for cores
 * whose products have 64 bits.
 *
 * Clamping leaves the words of the multiplier below 2^28, and all but the lowest at multiples of four. So a product that wraps
 * at 2^130 is worth 5/4 of it four words below, without a fraction. No branch and no address depends on key or message.
 */
#include CIPHER_HEADER

#include <string.h>

static uint32_t load32(const uint8_t *bytes) {
    if (((uintptr_t)bytes & 3) == 0) {
        return aligned_word(bytes);
    }
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static void store32(uint8_t *bytes, uint32_t value) {
    bytes[0] = (uint8_t)value;
    bytes[1] = (uint8_t)(value >> 8);
    bytes[2] = (uint8_t)(value >> 16);
    bytes[3] = (uint8_t)(value >> 24);
}

void poly1305_start(struct poly1305 *state, const uint8_t *key) {
    for (unsigned i = 0; i < 4; i++) {
        state->r[i] = load32(key + 4 * i) & (i == 0 ? 0x0fffffffu : 0x0ffffffcu); /* 2.5.1 */
        state->wrapped[i] = (state->r[i] >> 2) * 5;
        state->s[i] = load32(key + 16 + 4 * i);
        state->sum[i] = 0;
    }
    state->sum[4] = 0;
}

static inline uint64_t product(uint32_t a, uint32_t b) {
    return (uint64_t)a * b;
}

/* Bounds: the sum's word 4 is at most 4 before a block and 6 with it. Four products of 32 by 29 bits and a small one stay below
 * 2^63; what they carry into word 4 is below 2^31, and 5/4 of that below 2^32. */
void poly1305_block(struct poly1305 *state, const uint8_t *block) {
    const uint32_t *r = state->r, *w = state->wrapped;
    uint32_t *sum = state->sum;
    uint64_t carry = (uint64_t)sum[0] + load32(block), x0, x1, x2, x3;
    uint32_t a0, a1, a2, a3, a4, top;

    a0 = (uint32_t)carry;
    carry = (carry >> 32) + sum[1] + load32(block + 4);
    a1 = (uint32_t)carry;
    carry = (carry >> 32) + sum[2] + load32(block + 8);
    a2 = (uint32_t)carry;
    carry = (carry >> 32) + sum[3] + load32(block + 12);
    a3 = (uint32_t)carry;
    a4 = sum[4] + (uint32_t)(carry >> 32) + 1;

    x0 = product(a0, r[0]) + product(a1, w[3]) + product(a2, w[2]) + product(a3, w[1]) + a4 * (uint64_t)w[0];
    x1 = product(a0, r[1]) + product(a1, r[0]) + product(a2, w[3]) + product(a3, w[2]) + a4 * (uint64_t)w[1];
    x2 = product(a0, r[2]) + product(a1, r[1]) + product(a2, r[0]) + product(a3, w[3]) + a4 * (uint64_t)w[2];
    x3 = product(a0, r[3]) + product(a1, r[2]) + product(a2, r[1]) + product(a3, r[0]) + a4 * (uint64_t)w[3];
    x1 += x0 >> 32;
    x2 += x1 >> 32;
    x3 += x2 >> 32;
    /* the lowest word's last two bits do not wrap with the others */
    top = (uint32_t)(x3 >> 32) + a4 * (r[0] & 3);

    carry = (uint64_t)(uint32_t)x0 + (top >> 2) * 5;
    sum[0] = (uint32_t)carry;
    carry = (carry >> 32) + (uint32_t)x1;
    sum[1] = (uint32_t)carry;
    carry = (carry >> 32) + (uint32_t)x2;
    sum[2] = (uint32_t)carry;
    carry = (carry >> 32) + (uint32_t)x3;
    sum[3] = (uint32_t)carry;
    sum[4] = (uint32_t)(carry >> 32) + (top & 3);
}

/* The sum is below 2 (2^130 - 5): after adding 5, bit 130 is set where it is at least 2^130 - 5, and the bits below are what is left. */
void poly1305_finish(struct poly1305 *state, uint8_t *tag) {
    uint32_t reduced[4], keep;
    uint64_t carry = 5;

    for (unsigned i = 0; i < 4; i++) {
        carry += state->sum[i];
        reduced[i] = (uint32_t)carry;
        carry >>= 32;
    }
    keep = (uint32_t)((state->sum[4] + carry) >> 2) - 1; /* all ones: the sum stays as it is */
    carry = 0;
    for (unsigned i = 0; i < 4; i++) {
        carry += (uint64_t)((state->sum[i] & keep) | (reduced[i] & ~keep)) + state->s[i];
        store32(tag + 4 * i, (uint32_t)carry);
        carry >>= 32;
    }
}
