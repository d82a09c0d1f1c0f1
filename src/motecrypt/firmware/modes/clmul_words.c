/* clmul_words.c: products of polynomials over GF(2) for cores with a multiplier of 32 bits.
 *
 * An integer product of numbers with holes: of 16 bits only every fourth is kept, so at most four ones
 * meet in one place of the product, and their carries stay in the three places above, which are cleared.
 */
#include "polyval.h"

static uint32_t clmul16(uint32_t a, uint32_t b) {
    uint32_t a0 = a & 0x1111;
    uint32_t a1 = a & 0x2222;
    uint32_t a2 = a & 0x4444;
    uint32_t a3 = a & 0x8888;
    uint32_t b0 = b & 0x1111;
    uint32_t b1 = b & 0x2222;
    uint32_t b2 = b & 0x4444;
    uint32_t b3 = b & 0x8888;
    uint32_t place0 = a0 * b0 ^ a1 * b3 ^ a2 * b2 ^ a3 * b1;
    uint32_t place1 = a0 * b1 ^ a1 * b0 ^ a2 * b3 ^ a3 * b2;
    uint32_t place2 = a0 * b2 ^ a1 * b1 ^ a2 * b0 ^ a3 * b3;
    uint32_t place3 = a0 * b3 ^ a1 * b2 ^ a2 * b1 ^ a3 * b0;

    return (place0 & 0x11111111) | (place1 & 0x22222222) | (place2 & 0x44444444) | (place3 & 0x88888888);
}

void clmul32(uint32_t *product, uint32_t a, uint32_t b) {
    uint32_t low = clmul16(a & 0xffff, b & 0xffff);
    uint32_t high = clmul16(a >> 16, b >> 16);
    uint32_t middle = clmul16((a ^ a >> 16) & 0xffff, (b ^ b >> 16) & 0xffff) ^ low ^ high;

    product[0] = low ^ middle << 16;
    product[1] = high ^ middle >> 16;
}
