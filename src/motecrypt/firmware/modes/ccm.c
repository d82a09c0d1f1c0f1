/* ccm.c: the mode CCM over any block cipher of 16 bytes (block.h). See ccm.h. Uses block_encrypt alone.
 *
 * Names follow SP 800-38C, appendix A: B blocks are authenticated, counter blocks are encrypted.
 */
#include "ccm.h"
#include "verify.h"

#include <string.h>

#if BLOCK_BYTES != 16
#error "CCM is defined for blocks of 16 bytes"
#endif
#if CIPHER_TAG_BYTES < 4 || CIPHER_TAG_BYTES > 16 || CIPHER_TAG_BYTES % 2 != 0
#error "CCM takes tags of 4, 6, 8, 10, 12, 14 or 16 bytes"
#endif

#ifdef CIPHER_TAG_VARIES
#define TAG_BYTES(context) ((context)->tag_bytes)
#else
#define TAG_BYTES(context) CIPHER_TAG_BYTES
#endif

/* Space for the check value, a block of key stream, and what block_stream needs. */
#ifdef BLOCK_STREAMS
#define SPACE(name)                                                                                          \
    struct block_stream words;                                                                               \
    uint8_t *const name = (uint8_t *)&words
#define ENCRYPT(key, block) block_encrypt_words(key, (uint32_t *)(void *)(block))
#else
#define SPACE(name) uint8_t name[BLOCK_BYTES + BLOCK_BYTES]
#define ENCRYPT(key, block) block_encrypt(key, block)
#endif

/* With pairs of blocks the check value waits until there is a counter block to encrypt it with. */
#ifdef BLOCK_PAIRS
#define MAC_WAITS 1
#define ENCRYPT_COUNTER(key, mac) block_encrypt_pair(key, mac)
#else
#define MAC_WAITS 0
#define ENCRYPT_COUNTER(key, mac) ENCRYPT(key, (mac) + BLOCK_BYTES)
#endif

/* Whether one instruction loads or stores a word at any address. */
#ifdef __ARM_FEATURE_UNALIGNED
#define WORDS_ANYWHERE 1
#else
#define WORDS_ANYWHERE 0
#endif

enum { NONCE_BYTES_MIN = 7, NONCE_BYTES_MAX = 13 };
enum { ENCRYPTING, DECRYPTING };

/* Lengths and block counters: as wide as a message can be long. */
#if SIZE_MAX > 0xffff
typedef uint32_t ccm_number;
#else
typedef uint16_t ccm_number;
#endif

/* Write a number big-endian into the `bytes` bytes that end before `end`. */
static void write_number(uint8_t *end, ccm_number number, uint8_t bytes) {
    while (bytes-- > 0) {
        *--end = (uint8_t)number;
        number >>= 8;
    }
}

static inline void copy_nonce(uint8_t *to, const struct cipher_io *io) {
#if WORDS_ANYWHERE /* the first seven and the last seven bytes */
    for (uint8_t at = 0; at < 4; at = (uint8_t)(at + 3)) {
        __builtin_memcpy(to + at, io->nonce + at, 4);
        __builtin_memcpy(to + io->nonce_bytes - 7 + at, io->nonce + io->nonce_bytes - 7 + at, 4);
    }
#else
    memcpy(to, io->nonce, io->nonce_bytes);
#endif
}

/* Flags, nonce and a number that fills the rest: the shape of both B0 and the counter blocks. */
static void start_block(uint8_t *block, uint8_t flags, const struct cipher_io *io, ccm_number number) {
    block[0] = flags;
    copy_nonce(block + 1, io);
    write_number(block + BLOCK_BYTES, number, (uint8_t)(BLOCK_BYTES - 1 - io->nonce_bytes));
}

static void add(uint8_t *to, const uint8_t *from, uint8_t bytes) {
#if WORDS_ANYWHERE
    for (; bytes >= 4; bytes = (uint8_t)(bytes - 4)) {
        uint32_t sum, word;
        __builtin_memcpy(&sum, to, sizeof sum);
        __builtin_memcpy(&word, from, sizeof word);
        sum ^= word;
        __builtin_memcpy(to, &sum, sizeof sum);
        to += 4;
        from += 4;
    }
#endif
    for (uint8_t i = 0; i < bytes; i++) {
        to[i] ^= from[i];
    }
}

#ifndef CIPHER_NO_AD
/* Authenticate the associated data, behind its length (SP 800-38C, A.2.2). */
static void authenticate_data(const struct block_key *key, uint8_t *mac, const struct cipher_io *io) {
    const uint8_t *data = io->ad;
    ccm_number left = (ccm_number)io->ad_bytes;
    uint8_t length[6] = {0xff, 0xfe};
    uint8_t used = left < 0xff00 ? 2 : 6;

    if (MAC_WAITS) {
        ENCRYPT(key, mac);
    }
    write_number(length + used, left, used == 2 ? 2 : 4);
    add(mac, length, used);
    while (left > 0) {
        uint8_t part = (uint8_t)(BLOCK_BYTES - used);

        if (left < part) {
            part = (uint8_t)left;
        }
        add(mac + used, data, part);
        if (!MAC_WAITS || left > part) {
            ENCRYPT(key, mac);
        }
        data += part;
        left -= part;
        used = 0;
    }
}
#endif

/* CBC-MAC and counter mode side by side, block after block; the plaintext is authenticated. Behind the check
 * value `mac` has a block of space, for the key stream. */
static void crypt_message(const struct block_key *key, uint8_t *mac, const struct cipher_io *io,
                          uint8_t decrypting) {
    const uint8_t *input = io->input;
    uint8_t *output = io->output;
    uint8_t flags = (uint8_t)(BLOCK_BYTES - 2 - io->nonce_bytes);
    size_t left = io->bytes;
    ccm_number counter = 1;

#ifdef BLOCK_STREAMS
    struct block_stream *whole = (struct block_stream *)(void *)mac;
    counter += (ccm_number)(left / BLOCK_BYTES);
    whole->input = input;
    whole->output = output;
    start_block((uint8_t *)whole->counter, flags, io, 1);
    block_stream(key, whole, left / BLOCK_BYTES, decrypting ? STREAM_DECRYPTING : STREAM_ENCRYPTING);
    input = whole->input;
    output = whole->output;
    left %= BLOCK_BYTES;
#endif
    for (; left > 0; counter++) {
        uint8_t part = (uint8_t)(left < BLOCK_BYTES ? left : BLOCK_BYTES);
        uint8_t *at = mac;

        left -= part;
        start_block(mac + BLOCK_BYTES, flags, io, counter);
        ENCRYPT_COUNTER(key, mac);
        do {
            uint8_t in = *input++;
            uint8_t out = in ^ at[BLOCK_BYTES];

            *output++ = out;
            *at = (uint8_t)(*at ^ (decrypting ? out : in));
            at++;
        } while (--part);
        if (!MAC_WAITS) {
            ENCRYPT(key, mac);
        }
    }
    start_block(mac + BLOCK_BYTES, flags, io, 0);
    ENCRYPT_COUNTER(key, mac);
    add(mac, mac + BLOCK_BYTES, CIPHER_TAG_BYTES);
}

/* Leave the tag at the front of `mac`, a space of two blocks. */
static uint8_t process(const struct cipher_context *context, uint8_t *mac, const struct cipher_io *io,
                       uint8_t decrypting) {
    const struct block_key *key = &context->key;
    uint8_t length_bytes = (uint8_t)(BLOCK_BYTES - 1 - io->nonce_bytes);
    uint8_t flags = (uint8_t)((TAG_BYTES(context) - 2) / 2 << 3 | (length_bytes - 1));

    if (io->nonce_bytes < NONCE_BYTES_MIN || io->nonce_bytes > NONCE_BYTES_MAX) {
        return CIPHER_BAD_NONCE;
    }
#if SIZE_MAX > 0xffff
    if (length_bytes < sizeof(size_t) && io->bytes >> (8 * length_bytes) != 0) {
        return CIPHER_BAD_LENGTH;
    }
#endif
#if SIZE_MAX > 0xffffffff
    if (io->bytes > 0xffffffff || io->ad_bytes > 0xffffffff) {
        return CIPHER_BAD_LENGTH; /* SP 800-38C allows up to 2^64 - 1; no device here needs it */
    }
#endif
#ifdef CIPHER_NO_AD
    start_block(mac, flags, io, (ccm_number)io->bytes);
    if (!MAC_WAITS) {
        ENCRYPT(key, mac);
    }
#else
    start_block(mac, io->ad_bytes > 0 ? flags | 0x40 : flags, io, (ccm_number)io->bytes);
    if (!MAC_WAITS) {
        ENCRYPT(key, mac);
    }
    if (io->ad_bytes > 0) {
        authenticate_data(key, mac, io);
    }
#endif
    crypt_message(key, mac, io, decrypting);
    return CIPHER_OK;
}

uint8_t cipher_setup(struct cipher_context *context, const uint8_t *key, uint8_t key_bytes) {
    return block_setup(&context->key, key, key_bytes);
}

uint8_t cipher_encrypt(struct cipher_context *context, const struct cipher_io *io) {
    SPACE(mac);
    uint8_t status = process(context, mac, io, ENCRYPTING);

    if (status == CIPHER_OK) {
        memcpy(io->tag, mac, CIPHER_TAG_BYTES);
    }
    return status;
}

uint8_t cipher_decrypt(struct cipher_context *context, const struct cipher_io *io) {
    SPACE(mac);
    uint8_t status = process(context, mac, io, DECRYPTING);

#ifdef CIPHER_TAG_VARIES
    if (status == CIPHER_OK) {
        status = verify_or_wipe(io, mac, context->tag_bytes);
    }
    if (status == CIPHER_OK) {
        memcpy(io->tag, mac, CIPHER_TAG_BYTES);
    }
    return status;
#else
    return status == CIPHER_OK ? verify_or_wipe(io, mac, CIPHER_TAG_BYTES) : status;
#endif
}
