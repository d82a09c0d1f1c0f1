/* xtea.c: XTEA with 64 rounds. No tables, and no branch or address depends on key or data. */
#include "block.h" /* includes xtea.h: cipher.toml names it as block_header */

#define DELTA UINT32_C(0x9e3779b9) /* 2^32 divided by the golden ratio */
enum { CYCLES = 32 };              /* two rounds each */

static uint32_t load(const uint8_t *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static void store(uint8_t *bytes, uint32_t word) {
    bytes[0] = (uint8_t)(word >> 24);
    bytes[1] = (uint8_t)(word >> 16);
    bytes[2] = (uint8_t)(word >> 8);
    bytes[3] = (uint8_t)word;
}

static uint32_t mixed(uint32_t word) {
    return ((word << 4) ^ (word >> 5)) + word;
}

uint8_t block_setup(struct block_key *key, const uint8_t *bytes, uint8_t key_bytes) {
    if (key_bytes != 16) {
        return CIPHER_BAD_KEY;
    }
    for (uint8_t i = 0; i < 4; i++) {
        key->words[i] = load(bytes + 4 * i);
    }
    return CIPHER_OK;
}

void block_encrypt(const struct block_key *key, uint8_t *block) {
    uint32_t a = load(block), b = load(block + 4), sum = 0;
    for (uint8_t i = 0; i < CYCLES; i++) {
        a += mixed(b) ^ (sum + key->words[sum & 3]);
        sum += DELTA;
        b += mixed(a) ^ (sum + key->words[sum >> 11 & 3]);
    }
    store(block, a);
    store(block + 4, b);
}

void block_decrypt(const struct block_key *key, uint8_t *block) {
    uint32_t a = load(block), b = load(block + 4), sum = CYCLES * DELTA;
    for (uint8_t i = 0; i < CYCLES; i++) {
        b -= mixed(a) ^ (sum + key->words[sum >> 11 & 3]);
        sum -= DELTA;
        a -= mixed(b) ^ (sum + key->words[sum & 3]);
    }
    store(block, a);
    store(block + 4, b);
}
