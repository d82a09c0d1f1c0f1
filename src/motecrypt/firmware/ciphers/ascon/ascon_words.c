/* ascon_words.c: the Ascon permutation (NIST SP 800-232, section 3) as the standard writes it, for cores
 * of 64 bits. */
#include "ascon_words.h"

static uint64_t rotate_right(uint64_t value, unsigned bits) {
    return value >> bits | value << (64 - bits);
}

void ascon_load(struct ascon_word *word, const uint8_t *bytes) {
    uint64_t value = 0;

    for (unsigned i = 0; i < 8; i++) {
        value |= (uint64_t)bytes[i] << (8 * i);
    }
    word->value = value;
}

void ascon_store(uint8_t *bytes, const struct ascon_word *word) {
    for (unsigned i = 0; i < 8; i++) {
        bytes[i] = (uint8_t)(word->value >> (8 * i));
    }
}

void ascon_add(struct ascon_word *to, const struct ascon_word *from) {
    to->value ^= from->value;
}

void ascon_permute(struct ascon_word *state, uint8_t rounds) {
    uint64_t x0 = state[0].value;
    uint64_t x1 = state[1].value;
    uint64_t x2 = state[2].value;
    uint64_t x3 = state[3].value;
    uint64_t x4 = state[4].value;
    unsigned constant = 0x3cU + 0x0fU * rounds; /* 0xf0 for twelve rounds, 0xb4 for eight */

    for (; rounds != 0; rounds--, constant -= 0x0f) {
        uint64_t old0;
        uint64_t old1;

        x2 ^= constant;
        x0 ^= x4;
        x4 ^= x3;
        x2 ^= x1;
        old0 = x0;
        old1 = x1;
        x0 ^= ~x1 & x2;
        x1 ^= ~x2 & x3;
        x2 ^= ~x3 & x4;
        x3 ^= ~x4 & old0;
        x4 ^= ~old0 & old1;
        x1 ^= x0;
        x0 ^= x4;
        x3 ^= x2;
        x2 = ~x2;
        x0 ^= rotate_right(x0, 19) ^ rotate_right(x0, 28);
        x1 ^= rotate_right(x1, 61) ^ rotate_right(x1, 39);
        x2 ^= rotate_right(x2, 1) ^ rotate_right(x2, 6);
        x3 ^= rotate_right(x3, 10) ^ rotate_right(x3, 17);
        x4 ^= rotate_right(x4, 7) ^ rotate_right(x4, 41);
    }
    state[0].value = x0;
    state[1].value = x1;
    state[2].value = x2;
    state[3].value = x3;
    state[4].value = x4;
}
