/* chacha20_poly1305.c: authenticated encryption of RFC 8439, section 2.8, over the parts of a variant.
 *
 * Every block that Poly1305 gets is whole, since the construction pads with zeros: the parts know no
 * other.
 */
#include "cipher.h"
#include "verify.h"
#include CIPHER_HEADER

#include <string.h>

enum { KEY_BYTES = 32, NONCE_BYTES = 12, STREAM_BYTES = 64, MAC_BYTES = 16 };

#ifndef POLY1305_PADS
static void poly1305_padded(struct poly1305 *mac, const uint8_t *data, size_t bytes) {
    uint8_t block[MAC_BYTES];

    for (; bytes >= MAC_BYTES; bytes -= MAC_BYTES, data += MAC_BYTES) {
        poly1305_block(mac, data);
    }
    if (bytes > 0) {
        memset(block, 0, MAC_BYTES);
        memcpy(block, data, bytes);
        poly1305_block(mac, block);
    }
}
#endif

#ifndef POLY1305_TAKES_WORDS
static void write_length(uint8_t *to, size_t length) {
    for (uint8_t i = 0; i != sizeof(uint64_t); i++) {
        to[i] = (uint8_t)length;
        length >>= 8;
    }
}
#endif

#ifndef CHACHA20_CRYPTS
static void chacha20_key(uint32_t *words, const uint32_t *key, const uint8_t *nonce) {
    chacha20_block(words, (const uint8_t *)key, nonce, 0);
}

static void crypt_message(const struct cipher_context *context, const struct cipher_io *io, uint32_t *words) {
    const uint8_t *stream = (const uint8_t *)words;
    const uint8_t *input = io->input;
    uint8_t *output = io->output;
    size_t left = io->bytes;

    for (uint32_t counter = 1; left > 0; counter++) {
        uint8_t part = (uint8_t)(left < STREAM_BYTES ? left : STREAM_BYTES);

        chacha20_block(words, (const uint8_t *)context->key, io->nonce, counter);
#ifdef CHACHA20_ADDS
        chacha20_add(output, input, stream, part);
        input += part;
        output += part;
#else
        for (uint8_t i = 0; i < part; i++) {
            *output++ = *input++ ^ stream[i];
        }
#endif
        left -= part;
    }
}
#endif

/* The tag over associated data, ciphertext and their lengths, at the front of `words`. */
static void authenticate(const struct cipher_context *context, const struct cipher_io *io,
                         const uint8_t *ciphertext, uint32_t *words) {
    uint8_t *bytes = (uint8_t *)words;
    struct poly1305 mac;

    chacha20_key(words, context->key, io->nonce);
    poly1305_start(&mac, bytes);
    poly1305_padded(&mac, io->ad, io->ad_bytes);
    poly1305_padded(&mac, ciphertext, io->bytes);
#ifdef POLY1305_TAKES_WORDS
    words[0] = io->ad_bytes;
    words[1] = 0;
    words[2] = io->bytes;
    words[3] = 0;
#else
    write_length(bytes, io->ad_bytes);
    write_length(bytes + 8, io->bytes);
#endif
    poly1305_block(&mac, bytes);
    poly1305_finish(&mac, bytes);
}

uint8_t cipher_setup(struct cipher_context *context, const uint8_t *key, uint8_t key_bytes) {
    if (key_bytes != KEY_BYTES) {
        return CIPHER_BAD_KEY;
    }
    memcpy(context->key, key, KEY_BYTES);
    return CIPHER_OK;
}

/* The counter of 32 bits leaves 2^32 - 1 blocks for the message. */
static uint8_t check(const struct cipher_io *io) {
    if (io->nonce_bytes != NONCE_BYTES) {
        return CIPHER_BAD_NONCE;
    }
#if SIZE_MAX > 0xffffffff
    if (io->bytes > (size_t)STREAM_BYTES * 0xffffffff) {
        return CIPHER_BAD_LENGTH;
    }
#endif
    return CIPHER_OK;
}

uint8_t cipher_encrypt(struct cipher_context *context, const struct cipher_io *io) {
    uint32_t stream[16];
    uint8_t status = check(io);

    if (status != CIPHER_OK) {
        return status;
    }
#ifdef CHACHA20_CRYPTS
    chacha20_crypt(context->key, io);
#else
    crypt_message(context, io, stream);
#endif
    authenticate(context, io, io->output, stream);
    memcpy(io->tag, stream, CIPHER_TAG_BYTES);
    return CIPHER_OK;
}

uint8_t cipher_decrypt(struct cipher_context *context, const struct cipher_io *io) {
    uint32_t stream[16];
    uint8_t tag[CIPHER_TAG_BYTES];
    uint8_t status = check(io);

    if (status != CIPHER_OK) {
        return status;
    }
    authenticate(context, io, io->input, stream);
    memcpy(tag, stream, CIPHER_TAG_BYTES);
#ifdef CHACHA20_CRYPTS
    chacha20_crypt(context->key, io);
#else
    crypt_message(context, io, stream);
#endif
    return verify_or_wipe(io, tag, CIPHER_TAG_BYTES);
}
