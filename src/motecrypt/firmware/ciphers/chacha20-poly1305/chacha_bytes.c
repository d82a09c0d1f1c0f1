/* chacha_bytes.c: the ChaCha20 block function (RFC 8439, 2.3) for cores of eight bits.
 *
 * Sums of 32 bits are what the compiler does well; rotations are not. By 16 and 8 they are moves; by 12
 * and 7 they are products with 16 and 128, whose low byte is the shifted byte and whose high byte falls
 * into the next one.
 */
#include "bytes.h"

#include <string.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "chacha_bytes.c takes words apart where they lie: little-endian cores only; use chacha_words.c"
#endif

union word {
    uint32_t value;
    uint8_t byte[4];
};

/* volatile: a compiler that knew the factors would turn the products back into shifts. */
static const volatile uint8_t factor_12 = 1 << 4;
static const volatile uint8_t factor_7 = 1 << 7;

/* Rotate left by 8 * bytes + log2(factor). */
#define DEFINE_ROTATE(name, bytes)                                                                           \
    static inline __attribute__((always_inline)) uint32_t name(uint32_t value, uint8_t factor) {             \
        union word in = {value};                                                                             \
        union word out;                                                                                      \
        uint16_t first = (uint16_t)((uint16_t)in.byte[3] * factor);                                          \
        uint16_t product = (uint16_t)((uint16_t)in.byte[0] * factor);                                        \
                                                                                                             \
        out.byte[(0 + (bytes)) & 3] = (uint8_t)(product | first >> 8);                                       \
        uint8_t carry = (uint8_t)(product >> 8);                                                             \
        product = (uint16_t)((uint16_t)in.byte[1] * factor);                                                 \
        out.byte[(1 + (bytes)) & 3] = (uint8_t)(product | carry);                                            \
        carry = (uint8_t)(product >> 8);                                                                     \
        product = (uint16_t)((uint16_t)in.byte[2] * factor);                                                 \
        out.byte[(2 + (bytes)) & 3] = (uint8_t)(product | carry);                                            \
        out.byte[(3 + (bytes)) & 3] = (uint8_t)(first | product >> 8);                                       \
        return out.value;                                                                                    \
    }

DEFINE_ROTATE(rotate_12, 1)
DEFINE_ROTATE(rotate_7, 0)

/* Section 2.1. */
#define QUARTER(a, b, c, d)                                                                                  \
    do {                                                                                                     \
        uint32_t wa = x[a], wb = x[b], wc = x[c], wd = x[d];                                                 \
                                                                                                             \
        wa += wb;                                                                                            \
        wd ^= wa;                                                                                            \
        wd = wd << 16 | wd >> 16;                                                                            \
        wc += wd;                                                                                            \
        wb = rotate_12(wb ^ wc, by_12);                                                                      \
        wa += wb;                                                                                            \
        wd ^= wa;                                                                                            \
        wd = wd << 8 | wd >> 24;                                                                             \
        wc += wd;                                                                                            \
        wb = rotate_7(wb ^ wc, by_7);                                                                        \
        x[a] = wa;                                                                                           \
        x[b] = wb;                                                                                           \
        x[c] = wc;                                                                                           \
        x[d] = wd;                                                                                           \
    } while (0)

/* volatile: words go back to where they came from; avr-gcc would keep copies of all of them on the stack.
 * A function of its own, so that the pointer stays in a register that takes offsets up to 63. */
static void __attribute__((noinline)) twenty_rounds(volatile uint32_t *x) {
    uint8_t by_12 = factor_12;
    uint8_t by_7 = factor_7;

    for (uint8_t round = 0; round < 10; round++) {
        QUARTER(0, 4, 8, 12);
        QUARTER(1, 5, 9, 13);
        QUARTER(2, 6, 10, 14);
        QUARTER(3, 7, 11, 15);
        QUARTER(0, 5, 10, 15);
        QUARTER(1, 6, 11, 12);
        QUARTER(2, 7, 8, 13);
        QUARTER(3, 4, 9, 14);
    }
}

/* The input of the block function: constants, key, counter, nonce. */
static void start(uint32_t *x, const uint8_t *key, const uint8_t *nonce, uint32_t counter) {
    x[0] = 0x61707865;
    x[1] = 0x3320646e;
    x[2] = 0x79622d32;
    x[3] = 0x6b206574;
    memcpy(x + 4, key, 32);
    x[12] = counter;
    memcpy(x + 13, nonce, 12);
}

void chacha20_block(uint32_t *block, const uint8_t *key, const uint8_t *nonce, uint32_t counter) {
    uint32_t input[16];

    start(input, key, nonce, counter);
    memcpy(block, input, sizeof input);
    twenty_rounds(block);
    for (uint8_t i = 0; i < 16; i++) {
        block[i] += input[i];
    }
}
