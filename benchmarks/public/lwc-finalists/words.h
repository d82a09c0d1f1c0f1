/* words.h: Ascon words as lwc-finalists keeps them, eight bytes with the most significant first. */
#ifndef PUBLIC_LWC_FINALISTS_WORDS_H
#define PUBLIC_LWC_FINALISTS_WORDS_H

#include <stdint.h>

struct ascon_word {
    uint8_t byte[8];
};

struct cipher_context {
    struct ascon_word key[2];
};

static inline void ascon_load(struct ascon_word *word, const uint8_t *bytes) {
    for (uint8_t i = 0; i < 8; i++)
        word->byte[i] = bytes[7 - i];
}

static inline void ascon_store(uint8_t *bytes, const struct ascon_word *word) {
    for (uint8_t i = 0; i < 8; i++)
        bytes[i] = word->byte[7 - i];
}

static inline void ascon_add(struct ascon_word *to, const struct ascon_word *from) {
    for (uint8_t i = 0; i < 8; i++)
        to->byte[i] ^= from->byte[i];
}

/* The library's: all rounds from `first_round` to the twelfth. */
void ascon_permute(struct ascon_word *state, uint8_t first_round);

static inline void last_rounds(struct ascon_word *state, uint8_t rounds) {
    ascon_permute(state, (uint8_t)(12 - rounds));
}

#endif
