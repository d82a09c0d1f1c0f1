/* rc6.c: RC6-32/RC6_ROUNDS for keys of 1 to CIPHER_KEY_BYTES_MAX bytes (the paper allows 0 to 255).
 *
 * RC6 rotates by amounts that depend on data. Where the processor has no barrel shifter (AVR) a compiler turns
 * such a rotation into a loop whose length depends on the amount. RC6_FIXED_ROTATE composes it of rotations
 * by constants, each kept or dropped by a mask: the same work for every amount, and no table.
 */
#include "block.h"

#define P32 0xb7e15163U /* Odd((e - 2) 2^32) */
#define Q32 0x9e3779b9U /* Odd((phi - 1) 2^32), phi the golden ratio */

#define KEY_WORDS ((CIPHER_KEY_BYTES_MAX + 3) / 4)
#define ROUND_WORDS (2 * RC6_ROUNDS + 4)

#define LEFT(word, bits) (((word) << (bits)) | ((word) >> (32 - (bits))))

/* Rotations by constants. avr-gcc makes loops of shifts other than by whole bytes, seven cycles a bit and for
 * both halves of a rotation; a rotation by one is five or six instructions. */
#if defined(__AVR__)
static inline uint32_t left_1(uint32_t word) {
    __asm__("lsl %A0\n\trol %B0\n\trol %C0\n\trol %D0\n\tadc %A0, __zero_reg__" : "+r"(word));
    return word;
}

static inline uint32_t right_1(uint32_t word) {
    __asm__("bst %A0, 0\n\tror %D0\n\tror %C0\n\tror %B0\n\tror %A0\n\tbld %D0, 7" : "+r"(word));
    return word;
}

#define LEFT_1(word) left_1(word)
#define LEFT_2(word) left_1(left_1(word))
#define LEFT_3(word) left_1(LEFT_2(word))
#define LEFT_4(word) left_1(LEFT_3(word))
#define LEFT_5(word) right_1(right_1(right_1(LEFT(word, 8))))
#else
#define LEFT_1(word) LEFT(word, 1)
#define LEFT_2(word) LEFT(word, 2)
#define LEFT_3(word) LEFT(word, 3)
#define LEFT_4(word) LEFT(word, 4)
#define LEFT_5(word) LEFT(word, 5)
#endif

#ifdef RC6_FIXED_ROTATE
/* 0, or all ones where the lowest bit of `shifted` is set. What the assembly statement lets through is any byte to
 * the compiler, so it has to extend its sign; avr-gcc 14 makes a branch of a byte that it knows to be 0 or 1. */
static inline uint32_t mask_of(unsigned shifted) {
    uint8_t mask = (uint8_t)(0U - (shifted & 1U));
#ifdef __GNUC__
    __asm__("" : "+r"(mask));
#endif
    return (uint32_t)(int32_t)(int8_t)mask;
}

/* word, or other where bit `bit` of `amount` is set. That no branch is left is seen in the device's cycles,
 * which must not vary. A macro: avr-gcc -Os would call a function five times. */
#define CHOOSE(word, other, amount, bit)                                                                     \
    ((word) ^ (((word) ^ (other)) & mask_of((unsigned)(amount) >> (bit))))

static uint32_t rotate_left(uint32_t word, uint8_t amount) {
    uint32_t turned = LEFT_1(word);
    word = CHOOSE(word, turned, amount, 0);
    turned = LEFT_2(word);
    word = CHOOSE(word, turned, amount, 1);
    turned = LEFT_4(word);
    word = CHOOSE(word, turned, amount, 2);
    turned = LEFT(word, 8);
    word = CHOOSE(word, turned, amount, 3);
    turned = LEFT(word, 16);
    return CHOOSE(word, turned, amount, 4);
}

/* To the right by n is to the left by -n, modulo 32. */
static inline uint32_t rotate_right(uint32_t word, uint8_t amount) {
    return rotate_left(word, (uint8_t)(0U - amount));
}
#else
/* A shift by 32 is undefined, so the amounts are masked; compilers recognise the pattern and use a rotate
 * instruction. */
static inline uint32_t rotate_left(uint32_t word, uint8_t amount) {
    return (word << (amount & 31U)) | (word >> ((0U - amount) & 31U));
}

static inline uint32_t rotate_right(uint32_t word, uint8_t amount) {
    return (word >> (amount & 31U)) | (word << ((0U - amount) & 31U));
}
#endif

static uint32_t load(const uint8_t *bytes) {
    return bytes[0] | ((uint32_t)bytes[1] << 8) | ((uint32_t)bytes[2] << 16) | ((uint32_t)bytes[3] << 24);
}

static void store(uint8_t *bytes, uint32_t word) {
    bytes[0] = (uint8_t)word;
    bytes[1] = (uint8_t)(word >> 8);
    bytes[2] = (uint8_t)(word >> 16);
    bytes[3] = (uint8_t)(word >> 24);
}

uint8_t block_setup(struct block_key *key, const uint8_t *bytes, uint8_t key_bytes) {
    uint32_t given[KEY_WORDS] = {0};
    if (key_bytes == 0 || key_bytes > CIPHER_KEY_BYTES_MAX) {
        return CIPHER_BAD_KEY;
    }
    for (uint8_t i = 0; i < key_bytes; i++) {
        given[i / 4] |= (uint32_t)bytes[i] << (8 * (i % 4));
    }
    const uint8_t given_words = (uint8_t)((key_bytes + 3) / 4);
    uint32_t word = P32;
    for (uint16_t i = 0; i < ROUND_WORDS; i++) {
        key->words[i] = word;
        word += Q32;
    }
    const uint16_t steps = (uint16_t)(3 * (given_words > ROUND_WORDS ? given_words : ROUND_WORDS));
    uint32_t a = 0;
    uint32_t b = 0;
    uint16_t i = 0;
    uint8_t j = 0;
    for (uint16_t step = 0; step < steps; step++) {
        a += key->words[i] + b;
        a = key->words[i] = LEFT_3(a);
        b = given[j] = rotate_left(given[j] + a + b, (uint8_t)(a + b));
        i = (uint16_t)(i + 1 == ROUND_WORDS ? 0 : i + 1);
        j = (uint8_t)(j + 1 == given_words ? 0 : j + 1);
    }
    return CIPHER_OK;
}

#define ROUND(a, b, c, d, k)                                                                                 \
    do {                                                                                                     \
        uint32_t t = (b) * (2 * (b) + 1);                                                                    \
        uint32_t u = (d) * (2 * (d) + 1);                                                                    \
        t = LEFT_5(t);                                                                                       \
        u = LEFT_5(u);                                                                                       \
        (a) = rotate_left((a) ^ t, (uint8_t)u) + (k)[0];                                                     \
        (c) = rotate_left((c) ^ u, (uint8_t)t) + (k)[1];                                                     \
    } while (0)

#define UNROUND(a, b, c, d, k)                                                                               \
    do {                                                                                                     \
        uint32_t t = (b) * (2 * (b) + 1);                                                                    \
        uint32_t u = (d) * (2 * (d) + 1);                                                                    \
        t = LEFT_5(t);                                                                                       \
        u = LEFT_5(u);                                                                                       \
        (c) = rotate_right((c) - (k)[1], (uint8_t)t) ^ u;                                                    \
        (a) = rotate_right((a) - (k)[0], (uint8_t)u) ^ t;                                                    \
    } while (0)

void block_encrypt(const struct block_key *key, uint8_t *block) {
    const uint32_t *words = key->words + 2;
    uint32_t a = load(block);
    uint32_t b = load(block + 4) + key->words[0];
    uint32_t c = load(block + 8);
    uint32_t d = load(block + 12) + key->words[1];
    BLOCK_UNROLL(4)
    for (uint8_t i = 0; i < RC6_ROUNDS; i++) {
        ROUND(a, b, c, d, words);
        words += 2;
        const uint32_t first = a;
        a = b;
        b = c;
        c = d;
        d = first;
    }
    store(block, a + words[0]);
    store(block + 4, b);
    store(block + 8, c + words[1]);
    store(block + 12, d);
}

void block_decrypt(const struct block_key *key, uint8_t *block) {
    const uint32_t *words = key->words + 2 * RC6_ROUNDS + 2;
    uint32_t a = load(block) - words[0];
    uint32_t b = load(block + 4);
    uint32_t c = load(block + 8) - words[1];
    uint32_t d = load(block + 12);
    BLOCK_UNROLL(4)
    for (uint8_t i = 0; i < RC6_ROUNDS; i++) {
        words -= 2;
        const uint32_t last = d;
        d = c;
        c = b;
        b = a;
        a = last;
        UNROUND(a, b, c, d, words);
    }
    store(block, a);
    store(block + 4, b - key->words[0]);
    store(block + 8, c);
    store(block + 12, d - key->words[1]);
}
