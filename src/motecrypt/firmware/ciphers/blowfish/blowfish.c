/* blowfish.c: Blowfish as published (B. Schneier, Fast Software Encryption 1993).
 *
 * The S-boxes depend on the key and are looked up by secret indices: constant time only where RAM has no cache.
 *
 * They need 4 KB of RAM and no less: each entry is the result of an encryption under all entries
 * before it, so none can be recomputed on demand. An ATmega328P has 2 KB of RAM and 1 KB of EEPROM. What
 * is left is its flash: 32 pages written by the program itself, from its boot section, at about 8 ms a page and
 * for 10,000 changes of the key (datasheet DS40002061B); that is a design for one fixed key, and not built here.
 */
#include "block.h"
#include "blowfish_pi.h"

#define ROUNDS 16

static uint32_t load(const uint8_t *bytes) {
    return ((uint32_t)bytes[0] << 24) | ((uint32_t)bytes[1] << 16) | ((uint32_t)bytes[2] << 8) | bytes[3];
}

static void store(uint8_t *bytes, uint32_t word) {
    bytes[0] = (uint8_t)(word >> 24);
    bytes[1] = (uint8_t)(word >> 16);
    bytes[2] = (uint8_t)(word >> 8);
    bytes[3] = (uint8_t)word;
}

#define F(key, x)                                                                                            \
    ((((key)->s[0][(uint8_t)((x) >> 24)] + (key)->s[1][(uint8_t)((x) >> 16)]) ^                              \
      (key)->s[2][(uint8_t)((x) >> 8)]) +                                                                    \
     (key)->s[3][(uint8_t)(x)])

uint8_t block_setup(struct block_key *key, const uint8_t *bytes, uint8_t key_bytes) {
    if (key_bytes < 4 || key_bytes > 56) {
        return CIPHER_BAD_KEY;
    }
    uint8_t place = 0;
    for (uint8_t i = 0; i < ROUNDS + 2; i++) {
        uint32_t word = 0;
        for (uint8_t j = 0; j < 4; j++) {
            word = (word << 8) | bytes[place];
            place = (uint8_t)(place + 1 == key_bytes ? 0 : place + 1);
        }
        key->p[i] = TABLE_READ32(&blowfish_pi[i]) ^ word;
    }
    for (uint16_t i = 0; i < 4 * 256; i++) {
        key->s[i >> 8][i & 255] = TABLE_READ32(&blowfish_pi[ROUNDS + 2 + i]);
    }
    uint8_t block[8] = {0};
    for (uint8_t i = 0; i < ROUNDS + 2; i = (uint8_t)(i + 2)) {
        block_encrypt(key, block);
        key->p[i] = load(block);
        key->p[i + 1] = load(block + 4);
    }
    for (uint16_t i = 0; i < 4 * 256; i = (uint16_t)(i + 2)) {
        block_encrypt(key, block);
        key->s[i >> 8][i & 255] = load(block);
        key->s[i >> 8][(i & 255) + 1] = load(block + 4);
    }
    return CIPHER_OK;
}

void block_encrypt(const struct block_key *key, uint8_t *block) {
    uint32_t left = load(block);
    uint32_t right = load(block + 4);
    BLOCK_UNROLL(8)
    for (uint8_t i = 0; i < ROUNDS; i = (uint8_t)(i + 2)) {
        left ^= key->p[i];
        right ^= F(key, left);
        right ^= key->p[i + 1];
        left ^= F(key, right);
    }
    store(block, right ^ key->p[ROUNDS + 1]);
    store(block + 4, left ^ key->p[ROUNDS]);
}

void block_decrypt(const struct block_key *key, uint8_t *block) {
    uint32_t left = load(block);
    uint32_t right = load(block + 4);
    BLOCK_UNROLL(8)
    for (uint8_t i = ROUNDS + 1; i > 1; i = (uint8_t)(i - 2)) {
        left ^= key->p[i];
        right ^= F(key, left);
        right ^= key->p[i - 1];
        left ^= F(key, right);
    }
    store(block, right ^ key->p[0]);
    store(block + 4, left ^ key->p[1]);
}
