/* clmul_bytes.c: products of polynomials over GF(2) for cores of eight bits.
 *
 * Horner's rule over the bits of a's bytes, all four bytes in parallel: double the product, and add b where
 * the bits are set, through a mask, in the same time for every number.
 */
#include "polyval.h"

union word {
    uint32_t value;
    uint8_t byte[4];
};

/* Add b, moved up by n bytes, when the highest bit of byte n is set, and move on to its next bit. */
#define ADD(n, p0, p1, p2, p3)                                                                               \
    do {                                                                                                     \
        uint8_t mask = (uint8_t)-(bits.byte[n] >> 7);                                                        \
                                                                                                             \
        bits.byte[n] = (uint8_t)(bits.byte[n] << 1);                                                         \
        p0 ^= times.byte[0] & mask;                                                                          \
        p1 ^= times.byte[1] & mask;                                                                          \
        p2 ^= times.byte[2] & mask;                                                                          \
        p3 ^= times.byte[3] & mask;                                                                          \
    } while (0)

void clmul32(uint32_t *product, uint32_t a, uint32_t b) {
    union word bits = {a};
    union word times = {b};
    union word low = {0};
    union word high = {0};

    for (uint8_t i = 0; i < 8; i++) {
        high.value = high.value << 1 | low.byte[3] >> 7;
        low.value <<= 1;
        ADD(0, low.byte[0], low.byte[1], low.byte[2], low.byte[3]);
        ADD(1, low.byte[1], low.byte[2], low.byte[3], high.byte[0]);
        ADD(2, low.byte[2], low.byte[3], high.byte[0], high.byte[1]);
        ADD(3, low.byte[3], high.byte[0], high.byte[1], high.byte[2]);
    }
    product[0] = low.value;
    product[1] = high.value;
}
