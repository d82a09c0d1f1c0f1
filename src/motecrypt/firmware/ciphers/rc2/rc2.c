/* rc2.c: RC2 (RFC 2268). RC2_EFFECTIVE_BITS, if defined, is the effective key length in bits (1 to 1024) to
 * which every key is reduced; otherwise a key counts with all its bits.
 *
 * Mashing reads the round keys at indices that depend on data, and key setup reads PITABLE at secret ones.
 */
#include "block.h"
#include "rc2_pitable.h"

static uint16_t load(const uint8_t *bytes) {
    return (uint16_t)(bytes[0] | ((uint16_t)bytes[1] << 8));
}

static void store(uint8_t *bytes, uint16_t word) {
    bytes[0] = (uint8_t)word;
    bytes[1] = (uint8_t)(word >> 8);
}

uint8_t block_setup(struct block_key *key, const uint8_t *bytes, uint8_t key_bytes) {
    uint8_t expanded[128];
    if (key_bytes == 0 || key_bytes > 128) {
        return CIPHER_BAD_KEY;
    }
#ifdef RC2_EFFECTIVE_BITS
    const uint16_t effective_bits = RC2_EFFECTIVE_BITS;
#else
    const uint16_t effective_bits = (uint16_t)(8U * key_bytes);
#endif
    const uint8_t effective_bytes = (uint8_t)((effective_bits + 7U) / 8U);
    const uint8_t mask = (uint8_t)(0xffU >> (8U * effective_bytes - effective_bits));
    for (uint8_t i = 0; i < key_bytes; i++) {
        expanded[i] = bytes[i];
    }
    for (uint8_t i = key_bytes; i < 128; i++) {
        expanded[i] = TABLE_READ8(&rc2_pitable[(uint8_t)(expanded[i - 1] + expanded[i - key_bytes])]);
    }
    uint8_t i = (uint8_t)(128 - effective_bytes);
    expanded[i] = TABLE_READ8(&rc2_pitable[expanded[i] & mask]);
    while (i-- > 0) {
        expanded[i] = TABLE_READ8(&rc2_pitable[expanded[i + 1] ^ expanded[i + effective_bytes]]);
    }
    for (i = 0; i < 64; i++) {
        key->words[i] = load(expanded + 2 * i);
    }
    return CIPHER_OK;
}

#define ROTATE_LEFT(word, bits) ((uint16_t)(((word) << (bits)) | ((word) >> (16 - (bits)))))

/* One word's share of a mixing round: a + (b & d) + (c & ~d), as in the RFC with a = R[i], b = R[i-2],
 * c = R[i-3], d = R[i-1]. The sums and ands stay in 16 bits whatever int is. */
#define MIX(a, b, c, d, k, bits)                                                                             \
    do {                                                                                                     \
        const uint16_t sum = (uint16_t)((a) + (k) + ((d) & (b)) + ((uint16_t)~(d) & (c)));                   \
        (a) = ROTATE_LEFT(sum, bits);                                                                        \
    } while (0)

#define UNMIX(a, b, c, d, k, bits)                                                                           \
    do {                                                                                                     \
        const uint16_t turned = ROTATE_LEFT((a), 16 - (bits));                                               \
        (a) = (uint16_t)(turned - (k) - ((d) & (b)) - ((uint16_t)~(d) & (c)));                               \
    } while (0)

void block_encrypt(const struct block_key *key, uint8_t *block) {
    const uint16_t *words = key->words;
    uint16_t r0 = load(block);
    uint16_t r1 = load(block + 2);
    uint16_t r2 = load(block + 4);
    uint16_t r3 = load(block + 6);
    for (uint8_t round = 0; round < 16; round++) {
        MIX(r0, r2, r1, r3, words[4 * round], 1);
        MIX(r1, r3, r2, r0, words[4 * round + 1], 2);
        MIX(r2, r0, r3, r1, words[4 * round + 2], 3);
        MIX(r3, r1, r0, r2, words[4 * round + 3], 5);
        if (round == 4 || round == 10) {
            r0 = (uint16_t)(r0 + words[r3 & 63]);
            r1 = (uint16_t)(r1 + words[r0 & 63]);
            r2 = (uint16_t)(r2 + words[r1 & 63]);
            r3 = (uint16_t)(r3 + words[r2 & 63]);
        }
    }
    store(block, r0);
    store(block + 2, r1);
    store(block + 4, r2);
    store(block + 6, r3);
}

void block_decrypt(const struct block_key *key, uint8_t *block) {
    const uint16_t *words = key->words;
    uint16_t r0 = load(block);
    uint16_t r1 = load(block + 2);
    uint16_t r2 = load(block + 4);
    uint16_t r3 = load(block + 6);
    for (uint8_t round = 16; round-- > 0;) {
        if (round == 4 || round == 10) {
            r3 = (uint16_t)(r3 - words[r2 & 63]);
            r2 = (uint16_t)(r2 - words[r1 & 63]);
            r1 = (uint16_t)(r1 - words[r0 & 63]);
            r0 = (uint16_t)(r0 - words[r3 & 63]);
        }
        UNMIX(r3, r1, r0, r2, words[4 * round + 3], 5);
        UNMIX(r2, r0, r3, r1, words[4 * round + 2], 3);
        UNMIX(r1, r3, r2, r0, words[4 * round + 1], 2);
        UNMIX(r0, r2, r1, r3, words[4 * round], 1);
    }
    store(block, r0);
    store(block + 2, r1);
    store(block + 4, r2);
    store(block + 6, r3);
}
