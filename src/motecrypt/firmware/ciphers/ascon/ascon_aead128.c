/* ascon_aead128.c: Ascon-AEAD128 (NIST SP 800-232, August 2025, section 4) over a permutation that the
 * variant's header brings. It must not know how a 64-bit word is kept: bytes, two halves, interleaved.
 *
 * SP 800-232 is little-endian; Ascon-128 v1.2 of the competition is not the same cipher.
 *
 * With CIPHER_TAG_VARIES each key has a tag length of its own (`tag_bytes`, set after cipher_setup), by
 * truncation (SP 800-232, 4.2.1). `tag` keeps its 16 bytes: encrypting writes all, decrypting compares the
 * first tag_bytes and, where they are right, writes all.
 */
#include "cipher.h"
#include "verify.h"
#include CIPHER_HEADER

#include <string.h>

#define RATE_BYTES 16
#define KEY_BYTES 16
#define NONCE_BYTES 16

enum { ENCRYPTING, DECRYPTING };

static void load_pair(struct ascon_word *to, const uint8_t *bytes) {
    ascon_load(&to[0], bytes);
    ascon_load(&to[1], bytes + 8);
}

#ifndef ASCON_PROCESSES

/* The bytes of the IV 0x00001000808c0001 (table 12) that are not zero are in its first six. */
static void load_iv(struct ascon_word *word) {
    uint8_t bytes[8] = {0x01, 0x00, 0x8c, 0x80, 0x00, 0x10, 0x00, 0x00};

    ascon_load(word, bytes);
}

static void add_pair(struct ascon_word *to, const struct ascon_word *from) {
    ascon_add(&to[0], &from[0]);
    ascon_add(&to[1], &from[1]);
}

#ifdef ASCON_WORDS_ARE_BYTES

/* Add up to one block of data to the rate, which is stored in the byte order of messages; the padding is a
 * single bit. */
static void absorb(struct ascon_word *state, const uint8_t *data, uint8_t bytes) {
    uint8_t *rate = (uint8_t *)state;

    for (uint8_t i = 0; i < bytes; i++) {
        rate[i] ^= data[i];
    }
    if (bytes < RATE_BYTES) {
        rate[bytes] ^= 1;
    }
}

/* Encrypt or decrypt up to one block. The plaintext enters the rate in both directions. */
static void crypt_block(struct ascon_word *state, const uint8_t *input, uint8_t *output, uint8_t bytes,
                        uint8_t decrypting) {
    uint8_t *rate = (uint8_t *)state;
    uint8_t kept = decrypting ? 0xff : 0; /* a mask: no branch for each byte */

#ifdef ASCON_CRYPTS_RATE
    if (bytes == RATE_BYTES) {
        ascon_crypt_rate(state, input, output, decrypting);
        return;
    }
#endif
    for (uint8_t i = 0; i < bytes; i++) {
        uint8_t in = input[i], old = rate[i];

        output[i] = in ^ old;
        rate[i] = in ^ (uint8_t)(old & (uint8_t)~kept);
    }
    if (bytes < RATE_BYTES) {
        rate[bytes] ^= 1;
    }
}

#else

/* Add a block to the rate; one that is not full is padded with a one and zeros. */
static void add_block(struct ascon_word *state, uint8_t *block, uint8_t bytes) {
    struct ascon_word words[2];

    if (bytes < RATE_BYTES) {
        memset(block + bytes, 0, (size_t)(RATE_BYTES - bytes));
        block[bytes] = 1;
    }
    load_pair(words, block);
    add_pair(state, words);
}

static void absorb(struct ascon_word *state, const uint8_t *data, uint8_t bytes) {
    uint8_t block[RATE_BYTES];

    memcpy(block, data, bytes);
    add_block(state, block, bytes);
}

/* Encrypt or decrypt up to one block. The plaintext enters the rate in both directions; only where it is read
 * from differs. */
static void crypt_block(struct ascon_word *state, const uint8_t *input, uint8_t *output, uint8_t bytes,
                        uint8_t decrypting) {
    uint8_t block[RATE_BYTES];

    ascon_store(block, &state[0]);
    ascon_store(block + 8, &state[1]);
    for (uint8_t i = 0; i < bytes; i++) {
        uint8_t in = input[i];
        uint8_t out = in ^ block[i];

        block[i] = decrypting ? out : in;
        output[i] = out;
    }
    add_block(state, block, bytes);
}

#endif

static void absorb_data(struct ascon_word *state, const uint8_t *data, size_t bytes) {
    uint8_t part;

    do {
        part = (uint8_t)(bytes < RATE_BYTES ? bytes : RATE_BYTES);
        absorb(state, data, part);
        ascon_permute(state, 8);
        data += part;
        bytes -= part;
    } while (part == RATE_BYTES);
}

static void crypt_message(struct ascon_word *state, const struct cipher_io *io, uint8_t decrypting) {
    const uint8_t *input = io->input;
    uint8_t *output = io->output;
    size_t left = io->bytes;

    for (;;) {
        uint8_t part = (uint8_t)(left < RATE_BYTES ? left : RATE_BYTES);

        crypt_block(state, input, output, part, decrypting);
        if (part < RATE_BYTES) {
            return;
        }
        ascon_permute(state, 8);
        input += RATE_BYTES;
        output += RATE_BYTES;
        left -= RATE_BYTES;
    }
}

/* The last bit of the state keeps associated data and message apart (SP 800-232, algorithm 3, step 3). */
static void separate_domains(struct ascon_word *state) {
    uint8_t bytes[8] = {0, 0, 0, 0, 0, 0, 0, 0x80};
    struct ascon_word word;

    ascon_load(&word, bytes);
    ascon_add(&state[4], &word);
}

static void ascon_process(const struct cipher_context *context, const struct cipher_io *io, uint8_t *tag,
                          uint8_t decrypting) {
    struct ascon_word state[5];

    load_iv(&state[0]);
    state[1] = context->key[0];
    state[2] = context->key[1];
    load_pair(&state[3], io->nonce);
    ascon_permute(state, 12);
    add_pair(&state[3], context->key);
    if (io->ad_bytes > 0) {
        absorb_data(state, io->ad, io->ad_bytes);
    }
    separate_domains(state);
    crypt_message(state, io, decrypting);
    add_pair(&state[2], context->key);
    ascon_permute(state, 12);
    add_pair(&state[3], context->key);
    ascon_store(tag, &state[3]);
    ascon_store(tag + 8, &state[4]);
}

#endif

uint8_t cipher_setup(struct cipher_context *context, const uint8_t *key, uint8_t key_bytes) {
    if (key_bytes != KEY_BYTES) {
        return CIPHER_BAD_KEY;
    }
    load_pair(context->key, key);
    return CIPHER_OK;
}

uint8_t cipher_encrypt(struct cipher_context *context, const struct cipher_io *io) {
    if (io->nonce_bytes != NONCE_BYTES) {
        return CIPHER_BAD_NONCE;
    }
    ascon_process(context, io, io->tag, ENCRYPTING);
    return CIPHER_OK;
}

uint8_t cipher_decrypt(struct cipher_context *context, const struct cipher_io *io) {
    uint8_t tag[CIPHER_TAG_BYTES];

    if (io->nonce_bytes != NONCE_BYTES) {
        return CIPHER_BAD_NONCE;
    }
    ascon_process(context, io, tag, DECRYPTING);
#ifdef CIPHER_TAG_VARIES
    uint8_t status = verify_or_wipe(io, tag, context->tag_bytes);
    if (status == CIPHER_OK) {
        memcpy(io->tag, tag, CIPHER_TAG_BYTES);
    }
    return status;
#else
    return verify_or_wipe(io, tag, CIPHER_TAG_BYTES);
#endif
}
