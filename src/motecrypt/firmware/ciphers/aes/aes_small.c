/* aes_small.c: AES (FIPS 197) for the least flash; see aes_small.h.
 *
 * No branch and no loop count depends on the key or the message. Table lookups do: on a CPU with a data
 * or flash cache (RP2040 from XIP flash, every host) their time depends on the index. AVR has no cache:
 * lpm and ld take the same time for every address.
 */
#include "block.h"
#include "tables.h"

/* Multiplicative inverses in GF(2^8) modulo x^8 + x^4 + x^3 + x + 1, with 0 for 0 (FIPS 197, 4.2). */
TABLE uint8_t inverses[256] = {
    0x00, 0x01, 0x8d, 0xf6, 0xcb, 0x52, 0x7b, 0xd1, 0xe8, 0x4f, 0x29, 0xc0, 0xb0, 0xe1, 0xe5, 0xc7,
    0x74, 0xb4, 0xaa, 0x4b, 0x99, 0x2b, 0x60, 0x5f, 0x58, 0x3f, 0xfd, 0xcc, 0xff, 0x40, 0xee, 0xb2,
    0x3a, 0x6e, 0x5a, 0xf1, 0x55, 0x4d, 0xa8, 0xc9, 0xc1, 0x0a, 0x98, 0x15, 0x30, 0x44, 0xa2, 0xc2,
    0x2c, 0x45, 0x92, 0x6c, 0xf3, 0x39, 0x66, 0x42, 0xf2, 0x35, 0x20, 0x6f, 0x77, 0xbb, 0x59, 0x19,
    0x1d, 0xfe, 0x37, 0x67, 0x2d, 0x31, 0xf5, 0x69, 0xa7, 0x64, 0xab, 0x13, 0x54, 0x25, 0xe9, 0x09,
    0xed, 0x5c, 0x05, 0xca, 0x4c, 0x24, 0x87, 0xbf, 0x18, 0x3e, 0x22, 0xf0, 0x51, 0xec, 0x61, 0x17,
    0x16, 0x5e, 0xaf, 0xd3, 0x49, 0xa6, 0x36, 0x43, 0xf4, 0x47, 0x91, 0xdf, 0x33, 0x93, 0x21, 0x3b,
    0x79, 0xb7, 0x97, 0x85, 0x10, 0xb5, 0xba, 0x3c, 0xb6, 0x70, 0xd0, 0x06, 0xa1, 0xfa, 0x81, 0x82,
    0x83, 0x7e, 0x7f, 0x80, 0x96, 0x73, 0xbe, 0x56, 0x9b, 0x9e, 0x95, 0xd9, 0xf7, 0x02, 0xb9, 0xa4,
    0xde, 0x6a, 0x32, 0x6d, 0xd8, 0x8a, 0x84, 0x72, 0x2a, 0x14, 0x9f, 0x88, 0xf9, 0xdc, 0x89, 0x9a,
    0xfb, 0x7c, 0x2e, 0xc3, 0x8f, 0xb8, 0x65, 0x48, 0x26, 0xc8, 0x12, 0x4a, 0xce, 0xe7, 0xd2, 0x62,
    0x0c, 0xe0, 0x1f, 0xef, 0x11, 0x75, 0x78, 0x71, 0xa5, 0x8e, 0x76, 0x3d, 0xbd, 0xbc, 0x86, 0x57,
    0x0b, 0x28, 0x2f, 0xa3, 0xda, 0xd4, 0xe4, 0x0f, 0xa9, 0x27, 0x53, 0x04, 0x1b, 0xfc, 0xac, 0xe6,
    0x7a, 0x07, 0xae, 0x63, 0xc5, 0xdb, 0xe2, 0xea, 0x94, 0x8b, 0xc4, 0xd5, 0x9d, 0xf8, 0x90, 0x6b,
    0xb1, 0x0d, 0xd6, 0xeb, 0xc6, 0x0e, 0xcf, 0xad, 0x08, 0x4e, 0xd7, 0xe3, 0x5d, 0x50, 0x1e, 0xb3,
    0x5b, 0x23, 0x38, 0x34, 0x68, 0x46, 0x03, 0x8c, 0xdd, 0x9c, 0x7d, 0xa0, 0xcd, 0x1a, 0x41, 0x1c,
};

#if CIPHER_KEY_BYTES_MAX > 16
#define ROUNDS(key) ((key)->rounds)
#else
#define ROUNDS(key) 10
#endif

/* Row r of the state moves by r columns: byte i comes from 5i modulo 16, and backwards from 13i, as
 * 5 * 13 = 1 modulo 16. */
enum { FORWARDS = 5, BACKWARDS = 13 };

#define ROTATE(x, bits) ((uint8_t)((uint8_t)((x) << (bits)) | (uint8_t)((x) >> (8 - (bits)))))
#define TIMES2(x) ((uint8_t)((uint8_t)((x) << 1) ^ (0x1b & -((x) >> 7))))

/* FIPS 197, 5.1.1: the affine map after the inverse. */
static uint8_t substitute(uint8_t x) {
    x = TABLE_READ8(&inverses[x]);
    uint8_t y = (uint8_t)(x ^ ROTATE(x, 1));
    y ^= ROTATE(y, 2);
    return (uint8_t)(y ^ ROTATE(x, 4) ^ 0x63);
}

/* FIPS 197, 5.3.2: the inverse of the affine map, then the inverse. */
static uint8_t unsubstitute(uint8_t x) {
    uint8_t y = (uint8_t)(ROTATE(x, 1) ^ ROTATE(x, 3) ^ ROTATE(x, 6) ^ 0x05);
    return TABLE_READ8(&inverses[y]);
}

uint8_t block_setup(struct block_key *key, const uint8_t *bytes, uint8_t key_bytes) {
#if CIPHER_KEY_BYTES_MAX > 16
    if ((key_bytes != 16 && key_bytes != 24 && key_bytes != 32) || key_bytes > CIPHER_KEY_BYTES_MAX)
        return CIPHER_BAD_KEY;
    key->rounds = (uint8_t)(key_bytes / 4 + 6);
#else
    if (key_bytes != 16)
        return CIPHER_BAD_KEY;
#endif
    uint8_t *keys = key->round_keys;
    for (uint8_t i = 0; i < key_bytes; i++)
        keys[i] = bytes[i];
    uint8_t at = 0, rcon = 1;
    for (uint8_t left = (uint8_t)(3 * key_bytes + 112); left; left--, keys++) {
        const uint8_t *word = keys + key_bytes - 4;
        uint8_t x = word[0];
        if (at < 4)
            x = substitute(at == 3 ? word[-3] : word[1]);
        else if (key_bytes == 32 && (at & 0xfc) == 16)
            x = substitute(x);
        if (at == 0) {
            x ^= rcon;
            rcon = TIMES2(rcon);
        }
        keys[key_bytes] = keys[0] ^ x;
        if (++at == key_bytes)
            at = 0;
    }
    return CIPHER_OK;
}

static void mix_columns(uint8_t *block) {
    for (uint8_t *a = block; a != block + 16; a += 4) {
        uint8_t first = a[0], all = (uint8_t)(a[0] ^ a[1] ^ a[2] ^ a[3]);
        for (uint8_t i = 0; i < 4; i++) {
            uint8_t next = i == 3 ? first : a[i + 1];
            next ^= a[i];
            a[i] ^= (uint8_t)(all ^ TIMES2(next));
        }
    }
}

static void crypt(const struct block_key *key, uint8_t *block, uint8_t direction) {
    const uint8_t *k = key->round_keys;
    uint8_t shifted[16], left = ROUNDS(key);
    if (direction == BACKWARDS)
        k += 16 * ROUNDS(key);
    for (uint8_t i = 0; i < 16; i++)
        block[i] ^= k[i];
    do {
        uint8_t from = 0;
        for (uint8_t i = 0; i < 16; i++) {
            uint8_t x = block[from];
            shifted[i] = direction == FORWARDS ? substitute(x) : unsubstitute(x);
            from = (uint8_t)(from + direction) & 15;
        }
        k = direction == FORWARDS ? k + 16 : k - 16;
        left--;
        if (direction == FORWARDS && left)
            mix_columns(shifted);
        for (uint8_t i = 0; i < 16; i++)
            block[i] = shifted[i] ^ k[i];
        if (direction == BACKWARDS && left)
            for (uint8_t i = 0; i < 3; i++) /* mixing four times changes nothing */
                mix_columns(block);
    } while (left);
}

void block_encrypt(const struct block_key *key, uint8_t *block) {
    crypt(key, block, FORWARDS);
}

void block_decrypt(const struct block_key *key, uint8_t *block) {
    crypt(key, block, BACKWARDS);
}
