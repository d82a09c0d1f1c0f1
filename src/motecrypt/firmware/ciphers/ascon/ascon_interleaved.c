/* ascon_interleaved.c: the Ascon permutation (NIST SP 800-232, section 3) over words split into even and
 * odd bits, for cores of 32 bits. The S-box works on columns and does not notice; a rotation by an even
 * number of bits rotates each half by half of it, one by an odd number also exchanges the halves. */
#include "ascon_interleaved.h"
#include "tables.h"

/* The round constants, even bits in the low nibble, odd bits in the high one. */
TABLE uint8_t constants[12] = {
    0xcc, 0xc9, 0x9c, 0x99, 0xc6, 0xc3, 0x96, 0x93, 0x6c, 0x69, 0x3c, 0x39,
};

static uint32_t load32(const uint8_t *bytes) {
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static void store32(uint8_t *bytes, uint32_t value) {
    bytes[0] = (uint8_t)value;
    bytes[1] = (uint8_t)(value >> 8);
    bytes[2] = (uint8_t)(value >> 16);
    bytes[3] = (uint8_t)(value >> 24);
}

/* Exchange the bits of value under mask with those `bits` above them. */
static uint32_t exchange(uint32_t value, uint32_t mask, uint8_t bits) {
    uint32_t moved = (value ^ value >> bits) & mask;

    return value ^ moved ^ moved << bits;
}

/* Even bits to the low half, odd bits to the high half (Warren, Hacker's Delight, section 7-2). */
static uint32_t separate(uint32_t value) {
    value = exchange(value, 0x22222222, 1);
    value = exchange(value, 0x0c0c0c0c, 2);
    value = exchange(value, 0x00f000f0, 4);
    return exchange(value, 0x0000ff00, 8);
}

static uint32_t join(uint32_t value) {
    value = exchange(value, 0x0000ff00, 8);
    value = exchange(value, 0x00f000f0, 4);
    value = exchange(value, 0x0c0c0c0c, 2);
    return exchange(value, 0x22222222, 1);
}

void ascon_load(struct ascon_word *word, const uint8_t *bytes) {
    uint32_t low = separate(load32(bytes));
    uint32_t high = separate(load32(bytes + 4));

    word->half[0] = (low & 0xffff) | high << 16;
    word->half[1] = low >> 16 | (high & 0xffff0000);
}

void ascon_store(uint8_t *bytes, const struct ascon_word *word) {
    store32(bytes, join((word->half[0] & 0xffff) | word->half[1] << 16));
    store32(bytes + 4, join(word->half[0] >> 16 | (word->half[1] & 0xffff0000)));
}

void ascon_add(struct ascon_word *to, const struct ascon_word *from) {
    to->half[0] ^= from->half[0];
    to->half[1] ^= from->half[1];
}

/* The S-box on one half of each word: 32 of its 64 columns. */
static void substitute(struct ascon_word *state, uint8_t half) {
    uint32_t x0 = state[0].half[half];
    uint32_t x1 = state[1].half[half];
    uint32_t x2 = state[2].half[half];
    uint32_t x3 = state[3].half[half];
    uint32_t x4 = state[4].half[half];
    uint32_t old0;
    uint32_t old1;

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
    state[1].half[half] = x1 ^ x0;
    state[0].half[half] = x0 ^ x4;
    state[3].half[half] = x3 ^ x2;
    state[2].half[half] = ~x2;
    state[4].half[half] = x4;
}

static uint32_t rotate_right(uint32_t value, unsigned bits) {
    return bits == 0 ? value : value >> bits | value << (32 - bits);
}

/* What a rotation of the word to the right by `bits` brings to its even and to its odd half. */
#define EVEN(bits) rotate_right((bits) % 2 == 0 ? even : odd, (bits) / 2)
#define ODD(bits) rotate_right((bits) % 2 == 0 ? odd : even, ((bits) + 1) / 2 % 32)

#define DIFFUSE(n, a, b)                                                                                     \
    do {                                                                                                     \
        uint32_t even = state[n].half[0];                                                                    \
        uint32_t odd = state[n].half[1];                                                                     \
                                                                                                             \
        state[n].half[0] = even ^ EVEN(a) ^ EVEN(b);                                                         \
        state[n].half[1] = odd ^ ODD(a) ^ ODD(b);                                                            \
    } while (0)

void ascon_permute(struct ascon_word *state, uint8_t rounds) {
    for (unsigned i = 12U - rounds; i < 12; i++) {
        uint32_t constant = TABLE_READ8(&constants[i]);

        state[2].half[0] ^= constant & 0x0f;
        state[2].half[1] ^= constant >> 4;
        substitute(state, 0);
        substitute(state, 1);
        DIFFUSE(0, 19, 28);
        DIFFUSE(1, 61, 39);
        DIFFUSE(2, 1, 6);
        DIFFUSE(3, 10, 17);
        DIFFUSE(4, 7, 41);
    }
}
