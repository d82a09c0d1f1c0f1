/* parts.h: what chacha20_poly1305.c asks of a variant. The variant's header defines struct poly1305. */
#ifndef MOTECRYPT_CHACHA20_POLY1305_PARTS_H
#define MOTECRYPT_CHACHA20_POLY1305_PARTS_H

#include <stdint.h>

struct poly1305;

struct cipher_context {
    uint32_t key[8]; /* bytes; as words for assembly that loads them from multiples of four */
};

/* Fill `block`, 16 words that hold 64 bytes as they go on air, with key stream block `counter` (2.3). */
void chacha20_block(uint32_t *block, const uint8_t *key, const uint8_t *nonce, uint32_t counter);

/* Poly1305 (RFC 8439, 2.5) over whole blocks: a key of 32 bytes, blocks and the tag of 16 bytes. */
void poly1305_start(struct poly1305 *state, const uint8_t *key);
void poly1305_block(struct poly1305 *state, const uint8_t *block);
void poly1305_finish(struct poly1305 *state, uint8_t *tag);

#endif
