/* des_fast.c: DES and triple DES with S-boxes and P in one table (2 KB) and expanded round keys.
 *
 * Both halves are kept rotated left by one bit, so that the inputs of the even S-boxes are in the low bits of
 * the four bytes of a half. Those of the odd ones are after a rotation by four. The tables are indexed by
 * secrets: on a processor with a data cache the time can depend on them.
 */
#include "block.h"
#include "des_sp.h"

static uint32_t load(const uint8_t *bytes) {
    return ((uint32_t)bytes[0] << 24) | ((uint32_t)bytes[1] << 16) | ((uint32_t)bytes[2] << 8) | bytes[3];
}

static void store(uint8_t *bytes, uint32_t word) {
    bytes[0] = (uint8_t)(word >> 24);
    bytes[1] = (uint8_t)(word >> 16);
    bytes[2] = (uint8_t)(word >> 8);
    bytes[3] = (uint8_t)word;
}

#define ROTATE_LEFT(word, bits) (((word) << (bits)) | ((word) >> (32 - (bits))))

/* By four to the right. AVR shifts by loops, but moves bytes for nothing. */
#if defined(__AVR__)
#define ROTATE_RIGHT_4(word) (((word) >> 4) | ((uint32_t)(uint8_t)((uint8_t)(word) << 4) << 24))
#else
#define ROTATE_RIGHT_4(word) (((word) >> 4) | ((word) << 28))
#endif

/* Exchange the bits of `b` under `mask` with those of `a` that are `shift` places higher. */
#define EXCHANGE(a, b, shift, mask)                                                                          \
    do {                                                                                                     \
        const uint32_t difference = (((a) >> (shift)) ^ (b)) & (mask);                                       \
        (b) ^= difference;                                                                                   \
        (a) ^= difference << (shift);                                                                        \
    } while (0)

/* The part of a round that the four boxes first, first + 2, first + 4, first + 6 (from 0) contribute. */
#define BOXES(work, first)                                                                                   \
    (TABLE_READ32(&des_sp[(first)][(uint8_t)((work) >> 24) & 63]) ^                                          \
     TABLE_READ32(&des_sp[(first) + 2][(uint8_t)((work) >> 16) & 63]) ^                                      \
     TABLE_READ32(&des_sp[(first) + 4][(uint8_t)((work) >> 8) & 63]) ^                                       \
     TABLE_READ32(&des_sp[(first) + 6][(uint8_t)(work) & 63]))

#define ROUND(target, source, keys)                                                                          \
    do {                                                                                                     \
        const uint32_t odd = ROTATE_RIGHT_4(source) ^ (keys)[0];                                             \
        const uint32_t even = (source) ^ (keys)[1];                                                          \
        (target) ^= BOXES(odd, 0) ^ BOXES(even, 1);                                                          \
    } while (0)

/* One DES without IP and FP; `step` is 2 to go through the round keys forward, -2 backward. */
static void pass(uint32_t *halves, const uint32_t *keys, int8_t step) {
    uint32_t left = halves[0];
    uint32_t right = halves[1];
    for (uint8_t i = 0; i < DES_ROUNDS / 2; i++) {
        ROUND(left, right, keys);
        keys += step;
        ROUND(right, left, keys);
        keys += step;
    }
    halves[0] = right;
    halves[1] = left;
}

/* IP, then both halves one bit to the left. */
static void split(const uint8_t *block, uint32_t *halves) {
    uint32_t left = load(block);
    uint32_t right = load(block + 4);
    EXCHANGE(left, right, 4, 0x0f0f0f0fU);
    EXCHANGE(left, right, 16, 0x0000ffffU);
    EXCHANGE(right, left, 2, 0x33333333U);
    EXCHANGE(right, left, 8, 0x00ff00ffU);
    EXCHANGE(left, right, 1, 0x55555555U);
    halves[0] = ROTATE_LEFT(left, 1);
    halves[1] = ROTATE_LEFT(right, 1);
}

static void join(const uint32_t *halves, uint8_t *block) {
    uint32_t left = ROTATE_LEFT(halves[0], 31);
    uint32_t right = ROTATE_LEFT(halves[1], 31);
    EXCHANGE(left, right, 1, 0x55555555U);
    EXCHANGE(right, left, 8, 0x00ff00ffU);
    EXCHANGE(right, left, 2, 0x33333333U);
    EXCHANGE(left, right, 16, 0x0000ffffU);
    EXCHANGE(left, right, 4, 0x0f0f0f0fU);
    store(block, left);
    store(block + 4, right);
}

static void expand(uint32_t (*rounds)[2], const uint8_t *key) {
    uint8_t bits[56]; /* of C and D, one in a byte: each is used about 14 times */
    for (uint8_t place = 0; place < 56; place++) {
        bits[place] = des_key_bit(key, place);
    }
    for (uint8_t round = 0; round < DES_ROUNDS; round++) {
        const uint8_t rotation = TABLE_READ8(&des_rotations[round]);
        for (uint8_t half = 0; half < 2; half++) {
            uint32_t word = 0;
            for (uint8_t box = half; box < 8; box = (uint8_t)(box + 2)) {
                const uint8_t *chosen = &des_pc2[6 * box];
                const uint8_t end = box < 4 ? 28 : 56;
                uint8_t six = 0;
                for (uint8_t i = 6; i > 0; i--) {
                    six = (uint8_t)((six << 1) | bits[des_key_place(chosen++, rotation, end)]);
                }
                word = (word << 8) | six;
            }
            rounds[round][half] = word;
        }
    }
}

uint8_t block_setup(struct block_key *key, const uint8_t *bytes, uint8_t key_bytes) {
    if (key_bytes != 8 * DES_PASSES) {
        return CIPHER_BAD_KEY;
    }
    for (uint8_t i = 0; i < DES_PASSES; i++) {
        expand(key->rounds[i], bytes + 8 * i);
    }
    return CIPHER_OK;
}

void block_encrypt(const struct block_key *key, uint8_t *block) {
    uint32_t halves[2];
    split(block, halves);
    pass(halves, key->rounds[0][0], 2);
#if DES_PASSES == 3
    pass(halves, key->rounds[1][DES_ROUNDS - 1], -2);
    pass(halves, key->rounds[2][0], 2);
#endif
    join(halves, block);
}

void block_decrypt(const struct block_key *key, uint8_t *block) {
    uint32_t halves[2];
    split(block, halves);
#if DES_PASSES == 3
    pass(halves, key->rounds[2][DES_ROUNDS - 1], -2);
    pass(halves, key->rounds[1][0], 2);
#endif
    pass(halves, key->rounds[0][DES_ROUNDS - 1], -2);
    join(halves, block);
}
