/* ascon_rv32.h: Ascon words as they are, in two halves, for RISC-V (ascon_rv32.S). A state is its 40 bytes in the
 * standard's order. */
#ifndef MOTECRYPT_ASCON_RV32_H
#define MOTECRYPT_ASCON_RV32_H

#include <stdint.h>
#include <string.h>

#define ASCON_WORDS_ARE_BYTES /* the state has the byte order of messages */
#define ASCON_CRYPTS_RATE     /* ascon_crypt_rate exists */

struct ascon_word {
    uint32_t half[2]; /* bits 0 to 31 and bits 32 to 63 */
};

struct cipher_context {
    struct ascon_word key[2];
#ifdef CIPHER_TAG_VARIES
    uint8_t tag_bytes; /* 4 to 16: how much of the tag travels; see ascon_aead128.c */
#endif
};

static inline void ascon_load(struct ascon_word *word, const uint8_t *bytes) {
    memcpy(word, bytes, sizeof *word);
}

static inline void ascon_store(uint8_t *bytes, const struct ascon_word *word) {
    memcpy(bytes, word, sizeof *word);
}

static inline void ascon_add(struct ascon_word *to, const struct ascon_word *from) {
    to->half[0] ^= from->half[0];
    to->half[1] ^= from->half[1];
}

/* Add a full block of input to the rate and put the sum out; the ciphertext stays in the rate. Input and output can be at
 * any address: no such core has to take a word at an address that is not a multiple of 4. */
static inline void ascon_crypt_rate(struct ascon_word *state, const uint8_t *input, uint8_t *output,
                                    uint8_t decrypting) {
    uint32_t *rate = &state[0].half[0], kept = decrypting ? 0 : UINT32_MAX;

    for (uint8_t i = 0; i < 4; i++, input += 4, output += 4) {
        uint32_t in =
            input[0] | (uint32_t)input[1] << 8 | (uint32_t)input[2] << 16 | (uint32_t)input[3] << 24;
        uint32_t old = rate[i], out = in ^ old;

        output[0] = (uint8_t)out;
        output[1] = (uint8_t)(out >> 8);
        output[2] = (uint8_t)(out >> 16);
        output[3] = (uint8_t)(out >> 24);
        rate[i] = in ^ (old & kept);
    }
}

/* The last `rounds` of the twelve rounds of Ascon-p over five words. */
void ascon_permute(struct ascon_word *state, uint8_t rounds);

#endif
