/* armv7m.h: ChaCha20-Poly1305 in assembly for Cortex-M4 (chacha_armv7m.S, poly1305_armv7m.S). Keys are at multiples
 * of four, messages, nonces and tags at any address. */
#ifndef MOTECRYPT_CHACHA20_POLY1305_ARMV7M_H
#define MOTECRYPT_CHACHA20_POLY1305_ARMV7M_H

#include "parts.h"

#include <stddef.h>

#define CHACHA20_CRYPTS      /* chacha20_crypt and chacha20_key exist */
#define POLY1305_PADS        /* poly1305_padded exists */
#define POLY1305_TAKES_WORDS /* a block can be made of words */

struct poly1305 {
    uint32_t factors[7]; /* r0, r1, s3, s2, s1, r2, r3, where s is 5/4 r */
    /* words 0, 1, 2, 4, 3 of the accumulator, of which only two bits of word 4 are below 2^130 */
    uint32_t sum[5];
    uint32_t s[4]; /* added at the end */
};

struct cipher_io;

/* Encrypt or decrypt the message with key stream blocks from 1 on. */
void chacha20_crypt(const uint32_t *key, const struct cipher_io *io);

/* The first eight words of key stream block 0. */
void chacha20_key(uint32_t *words, const uint32_t *key, const uint8_t *nonce);

/* poly1305_block for all blocks of `data`, the last one with zeros after it where it is not whole. */
void poly1305_padded(struct poly1305 *state, const uint8_t *data, size_t bytes);

#endif
