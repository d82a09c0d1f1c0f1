/* ascon_armv7m.h: Ascon words with even and odd bits apart, for Cortex-M4, with the whole mode in assembly
 * (ascon_armv7m.S). */
#ifndef MOTECRYPT_ASCON_ARMV7M_H
#define MOTECRYPT_ASCON_ARMV7M_H

#include <stdint.h>

#define ASCON_PROCESSES /* ascon_process exists */

struct ascon_word {
    uint32_t half[2]; /* even bits, odd bits */
};

struct cipher_context {
    struct ascon_word key[2]; /* ascon_process reads it here */
#ifdef CIPHER_TAG_VARIES
    uint8_t tag_bytes; /* 4 to 16: how much of the tag travels; see ascon_aead128.c */
#endif
};

/* A word from eight bytes at any address. */
void ascon_load(struct ascon_word *word, const uint8_t *bytes);

struct cipher_io;

/* Encrypt (`decrypting` is 0) or decrypt a message and make its tag of 16 bytes. All addresses of bytes can be any. */
void ascon_process(const struct cipher_context *context, const struct cipher_io *io, uint8_t *tag,
                   uint8_t decrypting);

/* For other modes, which keep their state in memory: */

static inline void ascon_add(struct ascon_word *to, const struct ascon_word *from) {
    to->half[0] ^= from->half[0];
    to->half[1] ^= from->half[1];
}

/* A word to eight bytes at any address. */
void ascon_store(uint8_t *bytes, const struct ascon_word *word);

/* Ascon-p over five words; `rounds` is 12. */
void ascon_permute(struct ascon_word *state, uint8_t rounds);

#endif
