/* aes_sliced.c: AES (FIPS 197) by bit slices; see aes_sliced.h.
 *
 * Eight words hold two blocks: word b has bit b of all 32 bytes. In each word, byte r is row r of both states, and
 * its bit 2c + k is column c of block k. ShiftRows is then a rotation of bytes by 2r bits, and the next row of
 * MixColumns a rotation of the word by 8.
 *
 * The S-box is a circuit without the addition of 0x63, which is in the round keys instead: ShiftRows and MixColumns
 * leave a block of sixteen equal bytes as it is.
 */
#include "block.h"

#include <string.h>

enum { WORDS = 8 };

#if CIPHER_KEY_BYTES_MAX > 16
#define ROUNDS(key) ((key)->rounds)
#else
#define ROUNDS(key) 10
#endif

#define ROTATE(x, bits) ((x) >> (bits) | (x) << (32 - (bits)))

/* The S-box without its constant: the circuit of J. Boyar and R. Peralta, "A new combinational logic minimization
 * technique with applications to cryptology" (SEA 2010), figures 1 to 3. */
static void substitute(uint32_t *q) {
    uint32_t x0 = q[7], x1 = q[6], x2 = q[5], x3 = q[4], x4 = q[3], x5 = q[2], x6 = q[1], x7 = q[0];

    /* Linear: into the tower of fields. */
    uint32_t y14 = x3 ^ x5, y13 = x0 ^ x6, y9 = x0 ^ x3, y8 = x0 ^ x5;
    uint32_t t0 = x1 ^ x2, y1 = t0 ^ x7, y4 = y1 ^ x3, y12 = y13 ^ y14;
    uint32_t y2 = y1 ^ x0, y5 = y1 ^ x6, y3 = y5 ^ y8, t1 = x4 ^ y12;
    uint32_t y15 = t1 ^ x5, y20 = t1 ^ x1, y6 = y15 ^ x7, y10 = y15 ^ t0;
    uint32_t y11 = y20 ^ y9, y7 = x7 ^ y11, y17 = y10 ^ y11, y19 = y10 ^ y8;
    uint32_t y16 = t0 ^ y11, y21 = y13 ^ y16, y18 = x0 ^ y16;

    /* The inverse. */
    uint32_t t2 = y12 & y15, t4 = (y3 & y6) ^ t2, t6 = (y4 & x7) ^ t2;
    uint32_t t7 = y13 & y16, t9 = (y5 & y1) ^ t7, t11 = (y2 & y7) ^ t7;
    uint32_t t12 = y9 & y11, t14 = (y14 & y17) ^ t12, t16 = (y8 & y10) ^ t12;
    uint32_t t21 = t4 ^ t14 ^ y20, t22 = t6 ^ t16 ^ y19, t23 = t9 ^ t14 ^ y21, t24 = t11 ^ t16 ^ y18;
    uint32_t t25 = t21 ^ t22, t26 = t21 & t23, t27 = t24 ^ t26, t29 = (t25 & t27) ^ t22;
    uint32_t t30 = t23 ^ t24, t31 = t22 ^ t26, t33 = (t31 & t30) ^ t24, t34 = t23 ^ t33;
    uint32_t t35 = t27 ^ t33, t36 = t24 & t35, t37 = t36 ^ t34, t38 = t27 ^ t36;
    uint32_t t40 = t25 ^ (t29 & t38), t41 = t40 ^ t37, t42 = t29 ^ t33, t43 = t29 ^ t40;
    uint32_t t44 = t33 ^ t37, t45 = t42 ^ t41;
    uint32_t z0 = t44 & y15, z1 = t37 & y6, z2 = t33 & x7, z3 = t43 & y16, z4 = t40 & y1, z5 = t29 & y7;
    uint32_t z6 = t42 & y11, z7 = t45 & y17, z8 = t41 & y10, z9 = t44 & y12, z10 = t37 & y3, z11 = t33 & y4;
    uint32_t z12 = t43 & y13, z13 = t40 & y5, z14 = t29 & y2, z15 = t42 & y9, z16 = t45 & y14, z17 = t41 & y8;

    /* Linear: out of the tower, and the affine map. */
    uint32_t t46 = z15 ^ z16, t47 = z10 ^ z11, t48 = z5 ^ z13, t49 = z9 ^ z10, t50 = z2 ^ z12, t51 = z2 ^ z5;
    uint32_t t52 = z7 ^ z8, t53 = z0 ^ z3, t54 = z6 ^ z7, t55 = z16 ^ z17, t56 = z12 ^ t48, t57 = t50 ^ t53;
    uint32_t t58 = z4 ^ t46, t59 = z3 ^ t54, t60 = t46 ^ t57, t61 = z14 ^ t57, t62 = t52 ^ t58,
             t63 = t49 ^ t58;
    uint32_t t64 = z4 ^ t59, t65 = t61 ^ t62, t66 = z1 ^ t63, t67 = t64 ^ t65, s3 = t53 ^ t66;
    q[7] = t59 ^ t63;
    q[6] = t64 ^ s3;
    q[5] = t55 ^ t67;
    q[4] = s3;
    q[3] = t51 ^ t66;
    q[2] = t47 ^ t65;
    q[1] = t56 ^ t62;
    q[0] = t48 ^ t60;
}

/* The linear part of the inverse of the S-box's affine map. */
static void unmap(uint32_t *q) {
    uint32_t from[WORDS];

    memcpy(from, q, sizeof from);
    for (uint8_t i = 0; i < WORDS; i++) {
        q[i] = from[(i + 2) % WORDS] ^ from[(i + 5) % WORDS] ^ from[(i + 7) % WORDS];
    }
}

/* Swap bits of two words: those of `a` under the mask, moved, with those of `b` that are there. */
static inline void swap(uint32_t *a, uint32_t *b, uint32_t mask, uint8_t bits) {
    uint32_t differ = ((*a >> bits) ^ *b) & mask;

    *b ^= differ;
    *a ^= differ << bits;
}

/* Bytes of words to bit slices and back: a transposition of 8 by 8 bits in each of four places. */
static void transpose(uint32_t *q) {
    for (uint8_t i = 0; i < WORDS; i = (uint8_t)(i + 2)) {
        swap(&q[i], &q[i + 1], 0x55555555, 1);
    }
    for (uint8_t i = 0; i < 2; i++) {
        swap(&q[i], &q[i + 2], 0x33333333, 2);
        swap(&q[i + 4], &q[i + 6], 0x33333333, 2);
    }
    for (uint8_t i = 0; i < 4; i++) {
        swap(&q[i], &q[i + 4], 0x0f0f0f0f, 4);
    }
}

static inline uint32_t load(const uint8_t *bytes) {
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static inline void store(uint8_t *bytes, uint32_t word) {
    for (uint8_t i = 0; i < 4; i++) {
        bytes[i] = (uint8_t)(word >> (8 * i));
    }
}

/* Row r by r columns, which are 2r bits of byte r. */
static void shift_rows(uint32_t *q) {
    for (uint8_t i = 0; i < WORDS; i++) {
        uint32_t x = q[i];
        q[i] = (x & 0x000000ff) | (x & 0x0000fc00) >> 2 | (x & 0x00000300) << 6 | (x & 0x00f00000) >> 4 |
               (x & 0x000f0000) << 4 | (x & 0xc0000000) >> 6 | (x & 0x3f000000) << 2;
    }
}

static void unshift_rows(uint32_t *q) {
    for (uint8_t i = 0; i < WORDS; i++) {
        uint32_t x = q[i];
        q[i] = (x & 0x000000ff) | (x & 0x00003f00) << 2 | (x & 0x0000c000) >> 6 | (x & 0x00f00000) >> 4 |
               (x & 0x000f0000) << 4 | (x & 0x03000000) << 6 | (x & 0xfc000000) >> 2;
    }
}

/* Each byte is 2 (a + next) + next + the two rows behind that. */
static void mix_columns(uint32_t *q) {
    uint32_t high = q[7] ^ ROTATE(q[7], 8), below = 0;

    for (uint8_t i = 0; i < WORDS; i++) {
        uint32_t next = ROTATE(q[i], 8), both = q[i] ^ next, reduced = i == 0 || i == 1 || i == 3 || i == 4;
        q[i] = next ^ ROTATE(both, 16) ^ below ^ (reduced ? high : 0);
        below = both;
    }
}

/* 4 (a + the row two on), added; what is left of the inverse is then mix_columns (J. Daemen, V. Rijmen, The
 * Design of Rijndael, 4.1.3). */
static void unmix_columns(uint32_t *q) {
    uint32_t s[WORDS];

    for (uint8_t i = 0; i < WORDS; i++) {
        s[i] = q[i] ^ ROTATE(q[i], 16);
    }
    q[0] ^= s[6];
    q[1] ^= s[6] ^ s[7];
    q[2] ^= s[0] ^ s[7];
    q[3] ^= s[1] ^ s[6];
    q[4] ^= s[2] ^ s[6] ^ s[7];
    q[5] ^= s[3] ^ s[7];
    q[6] ^= s[4];
    q[7] ^= s[5];
    mix_columns(q);
}

static void add_key(uint32_t *q, const uint32_t *key) {
    for (uint8_t i = 0; i < WORDS; i++) {
        q[i] ^= key[i];
    }
}

/* The S-box on the four bytes of a word. */
static uint32_t substitute_word(uint32_t word) {
    uint32_t q[WORDS] = {word};

    transpose(q);
    substitute(q);
    transpose(q);
    return q[0] ^ 0x63636363;
}

uint8_t block_setup(struct block_key *key, const uint8_t *bytes, uint8_t key_bytes) {
#if CIPHER_KEY_BYTES_MAX > 16
    if ((key_bytes != 16 && key_bytes != 24 && key_bytes != 32) || key_bytes > CIPHER_KEY_BYTES_MAX) {
        return CIPHER_BAD_KEY;
    }
    key->rounds = key_bytes / 4u + 6;
#else
    if (key_bytes != 16) {
        return CIPHER_BAD_KEY;
    }
#endif
    uint32_t last[CIPHER_KEY_BYTES_MAX / 4]; /* as many words of the schedule as the key has */
    uint8_t words = key_bytes / 4, at = 0, rcon = 1;
    uint32_t *q = key->round_keys;

    for (uint8_t i = 0; i < words; i++) {
        last[i] = load(bytes + 4 * i);
    }
    for (uint8_t round = 0; round <= ROUNDS(key); round++, q += WORDS) {
        for (uint8_t column = 0; column < 4; column++) {
            q[2 * column] = q[2 * column + 1] = last[at];
            /* The word that takes the place of this one (FIPS 197, 5.2). */
            uint32_t before = last[at == 0 ? words - 1 : at - 1];
            if (at == 0) {
                before = substitute_word(ROTATE(before, 8)) ^ rcon;
                rcon = (uint8_t)(rcon << 1 ^ (rcon >> 7) * 0x1b);
            } else if (words == 8 && at == 4) {
                before = substitute_word(before);
            }
            last[at] ^= before;
            at = at + 1 == words ? 0 : (uint8_t)(at + 1);
        }
        transpose(q);
        if (round > 0) { /* 0x63, bits 0, 1, 5 and 6 of each byte */
            q[0] = ~q[0];
            q[1] = ~q[1];
            q[5] = ~q[5];
            q[6] = ~q[6];
        }
    }
    return CIPHER_OK;
}

static void encrypt(const struct block_key *key, uint32_t *q) {
    const uint32_t *k = key->round_keys, *end = k + WORDS * ROUNDS(key);

    for (add_key(q, k); k != end; add_key(q, k)) {
        substitute(q);
        shift_rows(q);
        k += WORDS;
        if (k != end) {
            mix_columns(q);
        }
    }
}

static void decrypt(const struct block_key *key, uint32_t *q) {
    const uint32_t *k = key->round_keys + WORDS * ROUNDS(key);

    add_key(q, k);
    do {
        k -= WORDS;
        unshift_rows(q);
        unmap(q);
        substitute(q);
        unmap(q);
        add_key(q, k);
        if (k != key->round_keys) {
            unmix_columns(q);
        }
    } while (k != key->round_keys);
}

/* One block or two. */
static void crypt(const struct block_key *key, uint8_t *bytes, uint8_t blocks,
                  void (*direction)(const struct block_key *, uint32_t *)) {
    uint32_t q[WORDS] = {0};

    for (uint8_t i = 0; i < 4 * blocks; i++) {
        q[2 * (i % 4) + i / 4] = load(bytes + 4 * i);
    }
    transpose(q);
    direction(key, q);
    transpose(q);
    for (uint8_t i = 0; i < 4 * blocks; i++) {
        store(bytes + 4 * i, q[2 * (i % 4) + i / 4]);
    }
}

void block_encrypt(const struct block_key *key, uint8_t *block) {
    crypt(key, block, 1, encrypt);
}

void block_decrypt(const struct block_key *key, uint8_t *block) {
    crypt(key, block, 1, decrypt);
}

void block_encrypt_pair(const struct block_key *key, void *blocks) {
    crypt(key, blocks, 2, encrypt);
}

void block_decrypt_pair(const struct block_key *key, void *blocks) {
    crypt(key, blocks, 2, decrypt);
}
