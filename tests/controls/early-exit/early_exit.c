/* early_exit.c: a toy cipher whose only purpose is its fault: the tag is compared until the first byte that
 * differs, so the time of a refusal reveals how many bytes of a guess were right. Nothing else in it branches
 * on a secret or looks one up. With COMPARE_EVENLY the fault is fixed, and the audit must find nothing. */
#include "early_exit.h"

uint8_t cipher_setup(struct cipher_context *context, const uint8_t *key, uint8_t key_bytes) {
    if (key_bytes != sizeof context->key) {
        return CIPHER_BAD_KEY;
    }
    for (uint8_t i = 0; i < sizeof context->key; i++) {
        context->key[i] = key[i];
    }
    return CIPHER_OK;
}

/* One step of a state of 8 bytes: shifts and exclusive ors alone. */
static void step(uint8_t *state, const uint8_t *key) {
    for (uint8_t i = 0; i < 8; i++) {
        uint8_t next = state[(i + 1) & 7];
        uint8_t x = (uint8_t)(state[i] ^ key[i] ^ (uint8_t)(next << 3) ^ (next >> 5));
        state[i] = (uint8_t)(x ^ (uint8_t)((uint8_t)(x << 1) & key[i + 8]) ^ (state[(i + 5) & 7] >> 1));
    }
}

static void crypt(const struct cipher_context *context, const struct cipher_io *io, uint8_t *tag,
                  uint8_t decrypts) {
    uint8_t stream[8];
    uint8_t mac[8];
    for (uint8_t i = 0; i < 8; i++) {
        stream[i] = io->nonce[i];
        mac[i] = (uint8_t)~io->nonce[i];
    }
    for (size_t at = 0; at < io->bytes; at++) {
        step(stream, context->key);
        uint8_t in = io->input[at];
        uint8_t out = in ^ stream[0];
        io->output[at] = out;
        mac[0] = (uint8_t)(mac[0] ^ (decrypts ? out : in));
        step(mac, context->key);
    }
    for (uint8_t i = 0; i < 8; i++) {
        step(mac, context->key);
    }
    for (uint8_t i = 0; i < CIPHER_TAG_BYTES; i++) {
        tag[i] = mac[i];
    }
}

uint8_t cipher_encrypt(struct cipher_context *context, const struct cipher_io *io) {
    if (io->nonce_bytes != 8) {
        return CIPHER_BAD_NONCE;
    }
    crypt(context, io, io->tag, 0);
    return CIPHER_OK;
}

static uint8_t differ(const uint8_t *a, const uint8_t *b) {
#ifdef COMPARE_EVENLY
    uint8_t difference = 0;
    for (uint8_t i = 0; i < CIPHER_TAG_BYTES; i++) {
        difference = (uint8_t)(difference | (a[i] ^ b[i]));
    }
    return difference;
#else
    for (uint8_t i = 0; i < CIPHER_TAG_BYTES; i++) {
        if (a[i] != b[i]) { /* the fault */
            return 1;
        }
    }
    return 0;
#endif
}

uint8_t cipher_decrypt(struct cipher_context *context, const struct cipher_io *io) {
    uint8_t tag[CIPHER_TAG_BYTES];
    if (io->nonce_bytes != 8) {
        return CIPHER_BAD_NONCE;
    }
    crypt(context, io, tag, 1);
    if (differ(tag, io->tag)) {
        for (size_t i = 0; i < io->bytes; i++) {
            io->output[i] = 0;
        }
        return CIPHER_BAD_TAG;
    }
    return CIPHER_OK;
}
