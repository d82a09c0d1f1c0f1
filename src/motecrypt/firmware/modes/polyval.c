/* polyval.c: multiplication in GF(2^128) for POLYVAL (RFC 8452, section 3), over clmul32 (polyval.h).
 * No branch and no address depends on the data.
 */
#include "polyval.h"

/* Karatsuba: three products of halves instead of four. */
static void multiply64(uint32_t *product, const uint32_t *a, const uint32_t *b) {
    uint32_t middle[2];

    clmul32(product, a[0], b[0]);
    clmul32(product + 2, a[1], b[1]);
    clmul32(middle, a[0] ^ a[1], b[0] ^ b[1]);
    middle[0] ^= product[0] ^ product[2];
    middle[1] ^= product[1] ^ product[3];
    product[1] ^= middle[0];
    product[2] ^= middle[1];
}

static void multiply128(uint32_t *product, const uint32_t *a, const uint32_t *b) {
    uint32_t middle[4];
    uint32_t a_sum[2] = {a[0] ^ a[2], a[1] ^ a[3]};
    uint32_t b_sum[2] = {b[0] ^ b[2], b[1] ^ b[3]};

    multiply64(product, a, b);
    multiply64(product + 4, a + 2, b + 2);
    multiply64(middle, a_sum, b_sum);
    for (uint8_t i = 0; i < 4; i++) {
        middle[i] ^= product[i] ^ product[i + 4];
    }
    for (uint8_t i = 0; i < 4; i++) {
        product[i + 2] ^= middle[i];
    }
}

void polyval_multiply(uint32_t *sum, const uint32_t *factor) {
    uint32_t product[8];

    multiply128(product, sum, factor);
    /* Montgomery's way: each low word is cleared by a multiple of x^128 + x^127 + x^126 + x^121 + 1; what
     * is left in the high words is the product times x^-128. */
    for (uint8_t i = 0; i < 4; i++) {
        uint32_t word = product[i];
        uint8_t low = (uint8_t)word;

        low = (uint8_t)(low << 1 ^ low << 6 ^ low << 7);
        product[i + 3] ^= (uint32_t)low << 24;
        product[i + 4] ^= word ^ word >> 1 ^ word >> 2 ^ word >> 7;
    }
    for (uint8_t i = 0; i < 4; i++) {
        sum[i] = product[i + 4];
    }
}
