/* block.h: the contract between a block cipher and the modes of operation in firmware/modes.
 *
 * A block cipher's header, which its descriptor names (`block_header`) and the build passes as
 * BLOCK_HEADER, defines BLOCK_BYTES and `struct block_key`; its source defines these functions. A
 * mode then makes a cipher (cipher.h) of it: `struct cipher_context` holds the block_key.
 */
#ifndef MOTECRYPT_BLOCK_H
#define MOTECRYPT_BLOCK_H

#include "cipher.h"

/* Computers load and store words anywhere in memory and have room for code; small cores do neither. There,
 * blocks go by 32-bit words: ciphers load and store those, and a load that follows stores of another size
 * waits for them (CBC decryption took 1.6 times as long). And loops over rounds may be unrolled. */
#if defined(__x86_64__) || (defined(__aarch64__) && !defined(__AARCH64EB__))
#define BLOCK_BY_WORDS 1
#else
#define BLOCK_BY_WORDS 0
#endif

/* Ahead of a loop: so many of its turns in a row, which saves moving variables from one to the next. */
#if BLOCK_BY_WORDS && defined(__GNUC__) && !defined(__clang__)
#define BLOCK_PRAGMA(text) _Pragma(#text)
#define BLOCK_UNROLL(turns) BLOCK_PRAGMA(GCC unroll turns)
#else
#define BLOCK_UNROLL(turns)
#endif

#include BLOCK_HEADER

/* Expand a key. Returns CIPHER_OK or CIPHER_BAD_KEY. */
uint8_t block_setup(struct block_key *key, const uint8_t *bytes, uint8_t key_bytes);

/* Encrypt or decrypt one block of BLOCK_BYTES in place. */
void block_encrypt(const struct block_key *key, uint8_t *block);
void block_decrypt(const struct block_key *key, uint8_t *block);

#endif
