/* des_small.c: DES and triple DES straight from FIPS 46-3, in little flash and RAM.
 *
 * Round keys are picked bit by bit when they are needed and P is a scatter of single bits. No branch and no
 * shift depends on a secret; the S-boxes are looked up by secret indices, which matters where there is a cache.
 */
#include "block.h"

/* IP. Of each byte, the bits 2, 4, 6, 8 go to the left half (halves[0..3]) and 1, 3, 5, 7 to the right. */
static void split(const uint8_t *block, uint8_t *halves) {
    for (uint8_t i = 8; i-- > 0;) {
        uint8_t byte = block[i];
        for (uint8_t row = 0; row < 4; row++) {
            halves[4 + row] = (uint8_t)((halves[4 + row] << 1) | (byte >> 7));
            byte = (uint8_t)(byte << 1);
            halves[row] = (uint8_t)((halves[row] << 1) | (byte >> 7));
            byte = (uint8_t)(byte << 1);
        }
    }
}

/* The inverse of split. */
static void join(uint8_t *halves, uint8_t *block) {
    for (uint8_t i = 8; i-- > 0;) {
        uint8_t byte = 0;
        for (uint8_t row = 0; row < 4; row++) {
            byte = (uint8_t)((byte << 1) | (halves[4 + row] >> 7));
            halves[4 + row] = (uint8_t)(halves[4 + row] << 1);
            byte = (uint8_t)((byte << 1) | (halves[row] >> 7));
            halves[row] = (uint8_t)(halves[row] << 1);
        }
        block[i] = byte;
    }
}

/* The six bits of a round's key that enter a box, first bit highest. */
static inline __attribute__((always_inline)) uint8_t key_bits(const uint8_t *key, uint8_t rotation,
                                                              uint8_t box) {
    const uint8_t *chosen = &des_pc2[6 * box];
    const uint8_t end = box < 4 ? 28 : 56;
    uint8_t bits = 0;
    for (uint8_t i = 6; i > 0; i--) {
        bits = (uint8_t)((bits << 1) | des_key_bit(key, des_key_place(chosen++, rotation, end)));
    }
    return bits;
}

/* One round: target ^= P(S(E(source) ^ round key)). */
static void des_round(uint8_t *target, const uint8_t *source, const uint8_t *key, uint8_t round) {
    const uint8_t rotation = TABLE_READ8(&des_rotations[round]);
    uint32_t expanded =
        ((uint32_t)source[0] << 24) | ((uint32_t)source[1] << 16) | ((uint32_t)source[2] << 8) | source[3];
    expanded = (expanded >> 1) | (expanded << 31); /* the first box takes bits 32, 1, 2, 3, 4, 5 */
    for (uint8_t box = 0; box < 8; box++) {
        const uint8_t top = (uint8_t)(expanded >> 24);
        const uint8_t index = (top >> 2) ^ key_bits(key, rotation, box);
        const uint8_t pair = TABLE_READ8(&des_boxes[box][index >> 1]);
        /* both halves are read and one is masked, so that the index's last bit steers no branch */
        const uint8_t odd = (uint8_t)(0U - (index & 1U));
        uint8_t bits = (uint8_t)((pair & odd & 15) | ((pair >> 4) & (uint8_t)~odd));
        for (uint8_t i = 4; i-- > 0;) {
            const uint8_t place = TABLE_READ8(&des_p[4 * box + i]);
            const uint8_t kept = (uint8_t)(0U - (bits & 1U)) & TABLE_READ8(&des_masks[place & 7]);
            target[place >> 3] = (uint8_t)(target[place >> 3] ^ kept);
            bits >>= 1;
        }
        expanded = (expanded << 4) | (top >> 4);
    }
}

static void crypt(const struct block_key *key, uint8_t *block, uint8_t decrypt) {
    uint8_t halves[8] = {0};
    split(block, halves);
    for (uint8_t pass = 0; pass < DES_PASSES; pass++) {
        const uint8_t *bytes = key->bytes[decrypt ? DES_PASSES - 1 - pass : pass];
        const uint8_t backward = (uint8_t)(decrypt ^ (pass & 1)); /* triple DES: the middle one goes back */
        for (uint8_t i = 0; i < DES_ROUNDS; i++) {
            const uint8_t round = backward ? (uint8_t)(DES_ROUNDS - 1 - i) : i;
            uint8_t *left = halves + (i & 1 ? 4 : 0);
            uint8_t *right = halves + (i & 1 ? 0 : 4);
            des_round(left, right, bytes, round);
        }
        for (uint8_t i = 0; i < 4; i++) {
            /* the halves leave a pass swapped; FP and IP between passes cancel */
            const uint8_t left = halves[i];
            halves[i] = halves[4 + i];
            halves[4 + i] = left;
        }
    }
    join(halves, block);
}

uint8_t block_setup(struct block_key *key, const uint8_t *bytes, uint8_t key_bytes) {
    if (key_bytes != 8 * DES_PASSES) {
        return CIPHER_BAD_KEY;
    }
    for (uint8_t i = 0; i < 8 * DES_PASSES; i++) {
        key->bytes[i >> 3][i & 7] = bytes[i];
    }
    return CIPHER_OK;
}

void block_encrypt(const struct block_key *key, uint8_t *block) {
    crypt(key, block, 0);
}

void block_decrypt(const struct block_key *key, uint8_t *block) {
    crypt(key, block, 1);
}
