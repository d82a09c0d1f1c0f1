/* chain.h: cipher block chaining over whole blocks, shared by the modes CBC and CTS, and what moves blocks.
 *
 * Must not know: lengths that are no multiple of the block, nonces, tags. Neither direction needs a
 * buffer: encryption chains through the output, decryption runs from the last block to the first, so
 * that the ciphertext block it needs is still there when it works in place. Where block.h has
 * BLOCK_STREAMS, the block cipher chains by itself, first block first.
 */
#ifndef MOTECRYPT_CHAIN_H
#define MOTECRYPT_CHAIN_H

#include "block.h"

#if BLOCK_BY_WORDS
typedef uint32_t block_unit;
#else
typedef uint8_t block_unit;
#endif

/* output = a ^ b, one block; output may be a or b. */
static inline void block_xor(uint8_t *output, const uint8_t *a, const uint8_t *b) {
    for (uint8_t i = 0; i < BLOCK_BYTES; i = (uint8_t)(i + sizeof(block_unit))) {
        block_unit x, y;
        __builtin_memcpy(&x, a + i, sizeof x);
        __builtin_memcpy(&y, b + i, sizeof y);
        x = (block_unit)(x ^ y);
        __builtin_memcpy(output + i, &x, sizeof x);
    }
}

static inline void block_copy(uint8_t *output, const uint8_t *input) {
    for (uint8_t i = 0; i < BLOCK_BYTES; i = (uint8_t)(i + sizeof(block_unit)))
        __builtin_memcpy(output + i, input + i, sizeof(block_unit));
}

#ifdef BLOCK_STREAMS
static inline void chain_start(struct block_stream *chain, const uint8_t *previous, const uint8_t *input,
                               uint8_t *output) {
    block_copy((uint8_t *)chain->mac, previous);
    chain->input = input;
    chain->output = output;
}
#endif

/* Encrypt `bytes`, a multiple of BLOCK_BYTES, chained from `previous` (the IV). */
static inline void chain_encrypt(const struct block_key *key, const uint8_t *previous, const uint8_t *input,
                                 uint8_t *output, size_t bytes) {
#ifdef BLOCK_STREAMS
    struct block_stream chain;
    chain_start(&chain, previous, input, output);
    block_chain_encrypt(key, &chain, bytes / BLOCK_BYTES);
#else
    for (; bytes; bytes -= BLOCK_BYTES) {
        block_xor(output, input, previous);
        block_encrypt(key, output);
        previous = output;
        input += BLOCK_BYTES;
        output += BLOCK_BYTES;
    }
#endif
}

/* Decrypt `bytes`, a multiple of BLOCK_BYTES. */
static inline void chain_decrypt(const struct block_key *key, const uint8_t *iv, const uint8_t *input,
                                 uint8_t *output, size_t bytes) {
#ifdef BLOCK_STREAMS
    struct block_stream chain;
    chain_start(&chain, iv, input, output);
    block_chain_decrypt(key, &chain, bytes / BLOCK_BYTES);
#else
#ifdef BLOCK_PAIRS
    while (bytes >= 2 * BLOCK_BYTES) {
        bytes -= 2 * BLOCK_BYTES;
        uint8_t *pair = output + bytes, first[BLOCK_BYTES];
        block_copy(first, input + bytes);
        if (output != input) {
            block_copy(pair, input + bytes);
            block_copy(pair + BLOCK_BYTES, input + bytes + BLOCK_BYTES);
        }
        block_decrypt_pair(key, pair);
        block_xor(pair + BLOCK_BYTES, pair + BLOCK_BYTES, first);
        block_xor(pair, pair, bytes ? input + bytes - BLOCK_BYTES : iv);
    }
#endif
    while (bytes) {
        bytes -= BLOCK_BYTES;
        uint8_t *block = output + bytes;
        if (output != input)
            block_copy(block, input + bytes);
        block_decrypt(key, block);
        block_xor(block, block, bytes ? input + bytes - BLOCK_BYTES : iv);
    }
#endif
}

#endif
