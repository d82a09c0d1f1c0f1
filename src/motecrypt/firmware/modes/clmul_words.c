/* clmul_words.c: products of polynomials over GF(2) for cores with a multiplier of 32 bits.
 *
 * An integer product of numbers with holes: of 16 bits only every fourth is kept, so at most four ones
 * meet in one place of the product, and their carries stay in the three places above, which are cleared.
 */
#include "polyval.h"

static uint32_t clmul16(uint32_t a, uint32_t b) {
    uint32_t product = 0;

    for (uint8_t i = 0; i < 4; i++) {
        uint32_t sum = 0;

        for (uint8_t j = 0; j < 4; j++) {
            sum ^= (a & (UINT32_C(0x1111) << j)) * (b & (UINT32_C(0x1111) << ((i - j) & 3)));
        }
        product |= sum & (UINT32_C(0x11111111) << i);
    }
    return product;
}

void clmul32(uint32_t *product, uint32_t a, uint32_t b) {
    uint32_t low = clmul16(a & 0xffff, b & 0xffff);
    uint32_t high = clmul16(a >> 16, b >> 16);
    uint32_t middle = clmul16((a ^ a >> 16) & 0xffff, (b ^ b >> 16) & 0xffff) ^ low ^ high;

    product[0] = low ^ middle << 16;
    product[1] = high ^ middle >> 16;
}
