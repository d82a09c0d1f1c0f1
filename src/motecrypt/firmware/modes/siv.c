/* siv.c: the mode SIV over any block cipher of 16 bytes (block.h). See siv.h. Uses block_encrypt alone. */
#include "siv.h"
#include "verify.h"

#include <string.h>

#if BLOCK_BYTES != 16 || CIPHER_TAG_BYTES != 16
#error "SIV is defined for blocks and tags of 16 bytes"
#endif

static void add(uint8_t *to, const uint8_t *from) {
    for (uint8_t i = 0; i < BLOCK_BYTES; i++) {
        to[i] ^= from[i];
    }
}

/* Multiply by x in GF(2^128), big-endian (RFC 5297, 2.3), in a time that does not depend on the top bit. */
static void twice(uint8_t *block) {
    uint8_t top = (uint8_t)(block[0] >> 7);

    for (uint8_t i = 0; i < BLOCK_BYTES - 1; i++) {
        block[i] = (uint8_t)(block[i] << 1 | block[i + 1] >> 7);
    }
    block[BLOCK_BYTES - 1] = (uint8_t)(block[BLOCK_BYTES - 1] << 1 ^ (0x87 & (uint8_t)-top));
}

/* CMAC (SP 800-38B). `end`, when it is there, is added to the last block's worth of data on the way. */
static void cmac(const struct cipher_context *context, uint8_t *mac, const uint8_t *data, size_t bytes,
                 const uint8_t *end) {
    size_t plain = end != NULL ? bytes - BLOCK_BYTES : bytes;
    size_t at = 0;
    uint8_t used = 0;

    memset(mac, 0, BLOCK_BYTES);
    for (; at < bytes; at++) {
        if (used == BLOCK_BYTES) {
            block_encrypt(&context->mac_key, mac);
            used = 0;
        }
        mac[used] = (uint8_t)(mac[used] ^ data[at] ^ (at < plain ? 0 : end[at - plain]));
        used++;
    }
    if (used == BLOCK_BYTES) {
        add(mac, context->subkey);
    } else {
        uint8_t subkey[BLOCK_BYTES];

        memcpy(subkey, context->subkey, BLOCK_BYTES);
        twice(subkey);
        mac[used] ^= 0x80;
        add(mac, subkey);
    }
    block_encrypt(&context->mac_key, mac);
}

static void add_component(const struct cipher_context *context, uint8_t *sum, const uint8_t *data,
                          size_t bytes) {
    uint8_t mac[BLOCK_BYTES];

    cmac(context, mac, data, bytes, NULL);
    twice(sum);
    add(sum, mac);
}

/* S2V (RFC 5297, 2.4): the synthetic IV of associated data, nonce and plaintext. */
static void synthesize(const struct cipher_context *context, const struct cipher_io *io,
                       const uint8_t *plaintext, uint8_t *iv) {
    uint8_t sum[BLOCK_BYTES];

    memcpy(sum, context->start, BLOCK_BYTES);
    if (io->nonce_bytes > 0 || io->ad_bytes > 0) {
        add_component(context, sum, io->ad, io->ad_bytes);
    }
    if (io->nonce_bytes > 0) {
        add_component(context, sum, io->nonce, io->nonce_bytes);
    }
    if (io->bytes >= BLOCK_BYTES) {
        cmac(context, iv, plaintext, io->bytes, sum);
        return;
    }
    twice(sum);
    for (uint8_t i = 0; i < io->bytes; i++) {
        sum[i] ^= plaintext[i];
    }
    sum[io->bytes] ^= 0x80;
    cmac(context, iv, sum, BLOCK_BYTES, NULL);
}

static void crypt_message(const struct cipher_context *context, const struct cipher_io *io,
                          const uint8_t *iv) {
    const uint8_t *input = io->input;
    uint8_t *output = io->output;
    size_t left = io->bytes;
    uint8_t counter[BLOCK_BYTES];
    uint8_t stream[BLOCK_BYTES];

    memcpy(counter, iv, BLOCK_BYTES);
    counter[8] &= 0x7f; /* RFC 5297, 2.5: no carry leaves the words of 32 bits before 2^31 blocks */
    counter[12] &= 0x7f;
    while (left > 0) {
        uint8_t part = (uint8_t)(left < BLOCK_BYTES ? left : BLOCK_BYTES);

        memcpy(stream, counter, BLOCK_BYTES);
        block_encrypt(&context->counter_key, stream);
        for (uint8_t i = 0; i < part; i++) {
            *output++ = *input++ ^ stream[i];
        }
        left -= part;
        for (uint8_t i = BLOCK_BYTES - 1, carry = 1; i >= 8; i--) {
            uint16_t sum = (uint16_t)(counter[i] + carry);

            counter[i] = (uint8_t)sum;
            carry = (uint8_t)(sum >> 8);
        }
    }
}

uint8_t cipher_setup(struct cipher_context *context, const uint8_t *key, uint8_t key_bytes) {
    uint8_t half = key_bytes / 2;

    if (key_bytes % 2 != 0 || block_setup(&context->mac_key, key, half) != CIPHER_OK ||
        block_setup(&context->counter_key, key + half, half) != CIPHER_OK) {
        return CIPHER_BAD_KEY;
    }
    memset(context->subkey, 0, BLOCK_BYTES);
    block_encrypt(&context->mac_key, context->subkey);
    twice(context->subkey);
    memcpy(context->start, context->subkey, BLOCK_BYTES);
    block_encrypt(&context->mac_key, context->start);
    return CIPHER_OK;
}

uint8_t cipher_encrypt(struct cipher_context *context, const struct cipher_io *io) {
    synthesize(context, io, io->input, io->tag);
    crypt_message(context, io, io->tag);
    return CIPHER_OK;
}

uint8_t cipher_decrypt(struct cipher_context *context, const struct cipher_io *io) {
    uint8_t iv[BLOCK_BYTES];

    crypt_message(context, io, io->tag);
    synthesize(context, io, io->output, iv);
    return verify_or_wipe(io, iv, BLOCK_BYTES);
}
