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

/* A block cipher whose header defines BLOCK_STREAMS has these, too. */
#ifdef BLOCK_STREAMS
struct block_stream {
    uint32_t mac[4];
    uint32_t stream[4];  /* the last counter, encrypted */
    uint32_t counter[4]; /* the next, a number with its highest byte first */
    const uint8_t *input;
    uint8_t *output; /* the input, or a place that does not overlap it */
};

enum block_streaming { STREAM_ALONE, STREAM_ENCRYPTING, STREAM_DECRYPTING };

/* For each block: encrypt the counter, add one to it, and output the sum of stream and input, which are then
 * at the next block. STREAM_ALONE overwrites `mac`. The others add the plaintext to it and encrypt it; where the
 * header defines BLOCK_PAIRS they encrypt it, at the same time as the counter, and then add the plaintext. */
void block_stream(const struct block_key *key, struct block_stream *stream, size_t blocks,
                  enum block_streaming kind);

/* Cipher block chaining over so many blocks of input; `mac` is the block before. */
void block_chain_encrypt(const struct block_key *key, struct block_stream *stream, size_t blocks);
void block_chain_decrypt(const struct block_key *key, struct block_stream *stream, size_t blocks);

/* block_encrypt for a block of words. */
void block_encrypt_words(const struct block_key *key, uint32_t *block);

#endif

/* A cipher that has two blocks at a time defines BLOCK_PAIRS, too: the same for two, one behind the other, in place. */
#ifdef BLOCK_PAIRS
void block_encrypt_pair(const struct block_key *key, void *blocks);
void block_decrypt_pair(const struct block_key *key, void *blocks);
#endif

#endif
