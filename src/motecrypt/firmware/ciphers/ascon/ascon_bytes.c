/* ascon_bytes.c: the Ascon permutation (NIST SP 800-232, section 3) for cores of eight bits.
 *
 * A rotation of a 64-bit word is a move of whole bytes, which costs nothing when indices are constants,
 * and a shift by less than a byte. On AVR a shift by n is n instructions a byte, but a product with 2^n
 * takes two cycles and gives the shifted byte and what falls into the next one.
 */
#include "ascon_bytes.h"

#include <string.h>

/* Rotations to the right of SP 800-232, table 3, as rotations to the left by bytes and a factor. */
enum { BYTES_0A = 5, BYTES_0B = 4 }; /* 64 - 19 = 45, 64 - 28 = 36 */
enum { BYTES_1A = 0, BYTES_1B = 3 }; /* 64 - 61 =  3, 64 - 39 = 25 */
enum { BYTES_2A = 7, BYTES_2B = 7 }; /* 64 -  1 = 63, 64 -  6 = 58 */
enum { BYTES_3A = 6, BYTES_3B = 5 }; /* 64 - 10 = 54, 64 - 17 = 47 */
enum { BYTES_4A = 7, BYTES_4B = 2 }; /* 64 -  7 = 57, 64 - 41 = 23 */

/* volatile: a compiler that knew the factors would turn the products back into shifts. */
static const volatile uint8_t factors[5][2] = {
    {1 << 5, 1 << 4}, {1 << 3, 1 << 1}, {1 << 7, 1 << 2}, {1 << 6, 1 << 7}, {1 << 1, 1 << 7},
};

void ascon_load(struct ascon_word *word, const uint8_t *bytes) {
    memcpy(word->byte, bytes, 8);
}

void ascon_store(uint8_t *bytes, const struct ascon_word *word) {
    memcpy(bytes, word->byte, 8);
}

void ascon_add(struct ascon_word *to, const struct ascon_word *from) {
    for (uint8_t i = 0; i < 8; i++) {
        to->byte[i] ^= from->byte[i];
    }
}

/* The S-box on byte i of each word: eight of its 64 columns. */
static void __attribute__((noinline)) substitute(uint8_t *state) {
    for (uint8_t i = 0; i < 8; i++, state++) {
        uint8_t x0 = state[0];
        uint8_t x1 = state[8];
        uint8_t x2 = state[16];
        uint8_t x3 = state[24];
        uint8_t x4 = state[32];
        uint8_t old0;
        uint8_t old1;

        x0 ^= x4;
        x4 ^= x3;
        x2 ^= x1;
        old0 = x0;
        old1 = x1;
        x0 ^= (uint8_t)(~x1 & x2);
        x1 ^= (uint8_t)(~x2 & x3);
        x2 ^= (uint8_t)(~x3 & x4);
        x3 ^= (uint8_t)(~x4 & old0);
        x4 ^= (uint8_t)(~old0 & old1);
        x1 ^= x0;
        x0 ^= x4;
        x3 ^= x2;
        state[0] = x0;
        state[8] = x1;
        state[16] = (uint8_t)~x2;
        state[24] = x3;
        state[32] = x4;
    }
}

/* One byte of x ^ (x <<< A) ^ (x <<< B): each product brings its low byte to this byte and its high byte
 * to the next. Written byte after byte, so that few products wait in registers. */
#define DIFFUSE_BYTE(i, shift_a, shift_b)                                                                    \
    product_a = (uint16_t)(x[((i) - (shift_a)) & 7] * a);                                                    \
    product_b = (uint16_t)(x[((i) - (shift_b)) & 7] * b);                                                    \
    word[i] = (uint8_t)(x[i] ^ carry_a ^ carry_b ^ product_a ^ product_b);                                   \
    carry_a = (uint8_t)(product_a >> 8);                                                                     \
    carry_b = (uint8_t)(product_b >> 8)

#define DEFINE_DIFFUSE(n)                                                                                    \
    static inline void diffuse_##n(uint8_t *word) {                                                          \
        uint8_t x[8] = {word[0], word[1], word[2], word[3], word[4], word[5], word[6], word[7]};             \
        uint8_t a = factors[n][0];                                                                           \
        uint8_t b = factors[n][1];                                                                           \
        uint16_t product_a = (uint16_t)(x[(7 - BYTES_##n##A) & 7] * a);                                      \
        uint16_t product_b = (uint16_t)(x[(7 - BYTES_##n##B) & 7] * b);                                      \
        uint8_t carry_a = (uint8_t)(product_a >> 8);                                                         \
        uint8_t carry_b = (uint8_t)(product_b >> 8);                                                         \
                                                                                                             \
        DIFFUSE_BYTE(0, BYTES_##n##A, BYTES_##n##B);                                                         \
        DIFFUSE_BYTE(1, BYTES_##n##A, BYTES_##n##B);                                                         \
        DIFFUSE_BYTE(2, BYTES_##n##A, BYTES_##n##B);                                                         \
        DIFFUSE_BYTE(3, BYTES_##n##A, BYTES_##n##B);                                                         \
        DIFFUSE_BYTE(4, BYTES_##n##A, BYTES_##n##B);                                                         \
        DIFFUSE_BYTE(5, BYTES_##n##A, BYTES_##n##B);                                                         \
        DIFFUSE_BYTE(6, BYTES_##n##A, BYTES_##n##B);                                                         \
        DIFFUSE_BYTE(7, BYTES_##n##A, BYTES_##n##B);                                                         \
    }

DEFINE_DIFFUSE(0)
DEFINE_DIFFUSE(1)
DEFINE_DIFFUSE(2)
DEFINE_DIFFUSE(3)
DEFINE_DIFFUSE(4)

void ascon_permute(struct ascon_word *words, uint8_t rounds) {
    uint8_t *state = words[0].byte;
    uint8_t constant = (uint8_t)(0x3c + 0x0f * rounds); /* 0xf0 for twelve rounds, 0xb4 for eight */

    do {
        state[16] ^= constant;
        constant = (uint8_t)(constant - 0x0f);
        substitute(state);
        diffuse_0(state);
        diffuse_1(state + 8);
        diffuse_2(state + 16);
        diffuse_3(state + 24);
        diffuse_4(state + 32);
    } while (--rounds != 0);
}
