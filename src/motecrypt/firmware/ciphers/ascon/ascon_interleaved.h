/* ascon_interleaved.h: Ascon words as their even and their odd bits, for cores of 32 bits: a rotation of
 * 64 bits becomes two rotations of 32, which those cores have as an instruction. */
#ifndef MOTECRYPT_ASCON_INTERLEAVED_H
#define MOTECRYPT_ASCON_INTERLEAVED_H

#include <stdint.h>

struct ascon_word {
    uint32_t half[2]; /* bits 0, 2, 4 ... 62 and bits 1, 3, 5 ... 63 */
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
