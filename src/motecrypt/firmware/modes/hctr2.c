/* hctr2.c: the mode HCTR2 over any block cipher of 16 bytes (block.h). See hctr2.h.
 *
 * Names follow the paper, section 3: a message is a block M and a bulk N, a ciphertext U and V.
 */
#include "hctr2.h"
#include "polyval.h"

#include <string.h>

#if BLOCK_BYTES != 16
#error "HCTR2 hashes with POLYVAL, which is defined for blocks of 16 bytes"
#endif

enum { BLOCK_WORDS = BLOCK_BYTES / 4 };
enum { ENCRYPTING, DECRYPTING };

static void add(uint8_t *to, const uint8_t *from, uint8_t bytes) {
    for (uint8_t i = 0; i < bytes; i++) {
        to[i] ^= from[i];
    }
}

/* Hash whole blocks and a last one that is filled up with zeros, or with a one and zeros. */
static void hash(const struct cipher_context *context, uint32_t *sum, const uint8_t *data, size_t bytes,
                 uint8_t end) {
    uint8_t *sum_bytes = (uint8_t *)sum;

    for (; bytes >= BLOCK_BYTES; bytes -= BLOCK_BYTES, data += BLOCK_BYTES) {
        add(sum_bytes, data, BLOCK_BYTES);
        polyval_multiply(sum, context->hash_key);
    }
    if (bytes > 0) {
        add(sum_bytes, data, (uint8_t)bytes);
        sum_bytes[bytes] ^= end;
        polyval_multiply(sum, context->hash_key);
    }
}

/* The part of the hash that both passes share: length of the tweak in bits, and the tweak. */
static void hash_tweak(const struct cipher_context *context, uint32_t *sum, const struct cipher_io *io) {
    memset(sum, 0, BLOCK_BYTES);
    sum[0] = 2 * 8 * (uint32_t)io->nonce_bytes + (io->bytes % BLOCK_BYTES == 0 ? 2 : 3);
    polyval_multiply(sum, context->hash_key);
    hash(context, sum, io->nonce, io->nonce_bytes, 0);
}

/* block ^= H(tweak, bulk) */
static void add_hash(const struct cipher_context *context, uint8_t *block, const uint32_t *tweak,
                     const uint8_t *bulk, size_t bytes) {
    uint32_t sum[BLOCK_WORDS];

    memcpy(sum, tweak, BLOCK_BYTES);
    hash(context, sum, bulk, bytes, 1);
    add(block, (const uint8_t *)sum, BLOCK_BYTES);
}

/* The bulk, encrypted by block numbers that start at one and are added to S: XCTR. */
static void crypt_bulk(const struct cipher_context *context, const struct cipher_io *io, const uint8_t *s) {
    const uint8_t *input = io->input + BLOCK_BYTES;
    uint8_t *output = io->output + BLOCK_BYTES;
    size_t left = io->bytes - BLOCK_BYTES;
    uint8_t stream[BLOCK_BYTES];

    for (uint32_t number = 1; left > 0; number++) {
        uint8_t part = (uint8_t)(left < BLOCK_BYTES ? left : BLOCK_BYTES);

        memcpy(stream, s, BLOCK_BYTES);
        for (uint8_t i = 0; i < 4; i++) {
            stream[i] ^= (uint8_t)(number >> (8 * i));
        }
        block_encrypt(&context->key, stream);
        for (uint8_t i = 0; i < part; i++) {
            *output++ = *input++ ^ stream[i];
        }
        left -= part;
    }
}

static uint8_t process(const struct cipher_context *context, const struct cipher_io *io, uint8_t decrypting) {
    size_t bulk_bytes = io->bytes - BLOCK_BYTES;
    uint32_t tweak[BLOCK_WORDS];
    uint8_t block[BLOCK_BYTES];
    uint8_t s[BLOCK_BYTES];

    if (io->bytes < BLOCK_BYTES || io->ad_bytes > 0) {
        return CIPHER_BAD_LENGTH;
    }
#if SIZE_MAX > 0xffffffff
    if (bulk_bytes > (size_t)BLOCK_BYTES * 0xffffffff) {
        return CIPHER_BAD_LENGTH; /* the paper goes further; no device here does */
    }
#endif
    hash_tweak(context, tweak, io);
    memcpy(block, io->input, BLOCK_BYTES);
    add_hash(context, block, tweak, io->input + BLOCK_BYTES, bulk_bytes);
    memcpy(s, block, BLOCK_BYTES);
    if (decrypting) {
        block_decrypt(&context->key, block);
    } else {
        block_encrypt(&context->key, block);
    }
    add(s, block, BLOCK_BYTES);
    add(s, context->whitening, BLOCK_BYTES);
    crypt_bulk(context, io, s);
    add_hash(context, block, tweak, io->output + BLOCK_BYTES, bulk_bytes);
    memcpy(io->output, block, BLOCK_BYTES);
    return CIPHER_OK;
}

uint8_t cipher_setup(struct cipher_context *context, const uint8_t *key, uint8_t key_bytes) {
    if (block_setup(&context->key, key, key_bytes) != CIPHER_OK) {
        return CIPHER_BAD_KEY;
    }
    memset(context->hash_key, 0, BLOCK_BYTES);
    block_encrypt(&context->key, (uint8_t *)context->hash_key);
    memset(context->whitening, 0, BLOCK_BYTES);
    context->whitening[0] = 1;
    block_encrypt(&context->key, context->whitening);
    return CIPHER_OK;
}

uint8_t cipher_encrypt(struct cipher_context *context, const struct cipher_io *io) {
    return process(context, io, ENCRYPTING);
}

uint8_t cipher_decrypt(struct cipher_context *context, const struct cipher_io *io) {
    return process(context, io, DECRYPTING);
}
