/* aes_masked.h: encryption with AES-128 as a block cipher (block.h) for AVR and Cortex-M0+, with Boolean masks
 * of first order and S-boxes in random order (after Herbst, Oswald and Mangard, ACNS 2006).
 *
 * From the first S-box to the last round key, every byte that depends on the message or on the key is held as the
 * byte XOR a mask. Masks are fresh for each block, those of the round keys too; 14 random bytes a block come
 * from random.h. The two assembly sources depend on the offsets here.
 *
 * Not hidden: the message, the key and the ciphertext where they enter and leave. Two samples together (order 2)
 * still show the message's bytes: many traces find the key.
 */
#ifndef MOTECRYPT_AES_MASKED_H
#define MOTECRYPT_AES_MASKED_H

#include "cipher.h"
#include "random.h"

#define BLOCK_BYTES 16

/* What the random bytes of a block are for. Only whole words on ARM, because a load of a byte takes its word. */
struct aes_masks {
    uint8_t keys[4]; /* added to the masks of the round keys: one for each row of the state */
    uint8_t rows[4]; /* of a row while columns are mixed */
    uint8_t in, out; /* of all bytes in front of the S-box, and behind it */
    uint8_t unused[2];
    uint8_t order[4]; /* 32 exchanges of S-boxes */
};

/* What cipher_setup returns besides the words of cipher.h and random.h. */
enum { CIPHER_NOT_ALIGNED = 6 /* on an AVR: the context does not begin at a multiple of 256 */ };

#ifdef __AVR__
/* On a page of RAM, so that a table's address is its index. 488 bytes, and what fills the page. */
struct block_key {
    uint8_t table[256]; /* the S-box behind this block's masks */
    uint8_t state[16];
    uint8_t order[16]; /* of the S-boxes: a permutation of 0 to 15 */
    uint8_t row_masks[4];
    uint8_t key_masks[4];
    struct aes_masks random;
    uint8_t round_keys[176];
} __attribute__((aligned(256)));
#else
struct block_key {
    uint8_t table[256];
    uint8_t state[32]; /* in front of the S-box and behind it */
    uint8_t order[16];
    uint8_t key_masks[4];
    struct aes_masks random;
    uint8_t round_keys[176];
} __attribute__((aligned(4)));
#endif

#endif
