/* ascon_avr.h: Ascon words as eight bytes each, with the permutation in AVR assembly. */
#ifndef MOTECRYPT_ASCON_AVR_H
#define MOTECRYPT_ASCON_AVR_H

#include <stdint.h>

#define ASCON_WORDS_ARE_BYTES

struct ascon_word {
    uint8_t byte[8]; /* least significant first, as SP 800-232 reads messages */
};

struct cipher_context {
    struct ascon_word key[2];
#ifdef CIPHER_TAG_VARIES
    uint8_t tag_bytes; /* 4 to 16: how much of the tag travels; see ascon_aead128.c */
#endif
};

void ascon_load(struct ascon_word *word, const uint8_t *bytes);
void ascon_store(uint8_t *bytes, const struct ascon_word *word);
void ascon_add(struct ascon_word *to, const struct ascon_word *from);

/* The last `rounds` of the twelve rounds of Ascon-p over five words. */
void ascon_permute(struct ascon_word *state, uint8_t rounds);

#endif
