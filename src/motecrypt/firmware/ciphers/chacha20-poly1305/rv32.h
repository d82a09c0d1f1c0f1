/* rv32.h: ChaCha20-Poly1305 for RISC-V cores of 32 bits with a multiplier: ChaCha20 in assembly (chacha_rv32.S), Poly1305 in
 * words (poly1305_words.c). The product of two words takes MUL and MULHU, whose time does not depend on the words. */
#ifndef MOTECRYPT_CHACHA20_POLY1305_RV32_H
#define MOTECRYPT_CHACHA20_POLY1305_RV32_H

#include "parts.h"

#include <string.h>

#define CHACHA20_ADDS /* chacha20_add exists */

struct poly1305 {
    uint32_t r[4];       /* the multiplier, clamped: words below 2^28 */
    uint32_t wrapped[4]; /* 5/4 of them: what a word is worth that wraps at 2^130 */
    uint32_t sum[5];     /* the accumulator: word 4 has few bits */
    uint32_t s[4];       /* added at the end */
};

/* Four bytes at a multiple of four. */
static inline uint32_t aligned_word(const uint8_t *bytes) {
    uint32_t word;

    memcpy(&word, __builtin_assume_aligned(bytes, 4), sizeof word);
    return word;
}

/* `output` becomes `input` XOR `stream`, up to 64 bytes, where `stream` is at a multiple of four. What is faster depends on the
 * addresses alone. */
static inline void chacha20_add(uint8_t *output, const uint8_t *input, const uint8_t *stream, uint8_t bytes) {
    uint8_t i = 0;

    if ((((uintptr_t)output | (uintptr_t)input) & 3) == 0) {
        for (; i + 4 <= bytes; i = (uint8_t)(i + 4)) {
            uint32_t word = aligned_word(input + i) ^ aligned_word(stream + i);

            memcpy(__builtin_assume_aligned(output + i, 4), &word, sizeof word);
        }
    }
    for (; i < bytes; i++) {
        output[i] = input[i] ^ stream[i];
    }
}

#endif
