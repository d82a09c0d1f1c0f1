/* aes_fast.c: AES (FIPS 197) for speed on a CPU of 8 bits, in portable C; see aes_fast.h.
 *
 * The 16 bytes of state live in 16 local variables, which a compiler for AVR can keep in registers. The
 * rounds work in place: shifting rows is a renaming of variables that comes round after four rounds.
 * With AES_UNROLLED four rounds follow each other under their own names; without it one round is a loop
 * and the variables are moved after each.
 *
 * No branch and no loop count depends on the key or the message. Table lookups do: on a CPU with a data
 * or flash cache (RP2040 from XIP flash, every host) their time depends on the index. AVR has no cache:
 * lpm and ld take the same time for every address.
 */
#include "block.h"
#include "tables.h"

/* Make the compiler assume that a value changed here: it then keeps the order below instead of
 * regrouping the exclusive-ors of a column, for which AVR has no registers to spare (avr-gcc 5.4, -Os: a
 * block takes 3010 cycles instead of 3141, backwards 3764 instead of 4371), and does not turn a mask into a
 * branch. */
#ifdef __GNUC__
#define HOLD(value) __asm__("" : "+r"(value))
#else
#define HOLD(value) ((void)(value))
#endif

/* In the loop the pointer to the round keys is held as well, to keep avr-gcc from adding to it and taking
 * away again for every byte. Unrolled, the compiler flag -mstrict-X does that better. */
#ifdef AES_UNROLLED
#define HOLD_KEY() ((void)0)
#else
#define HOLD_KEY() HOLD(k)
#endif

/* A lookup costs AVR two cycles less when its table begins at a multiple of 256. lpm takes the address in
 * the register Z alone; from RAM avr-gcc would take X, which the pointer to the round keys then lacks. */
#ifdef __AVR__
#define TABLE_ALIGNED __attribute__((aligned(256)))
#define ENTRY_ADDRESS(table, x) ((const uint8_t *)(((uintptr_t)(table) & 0xff00) | (x)))
#else
#define TABLE_ALIGNED
#define ENTRY_ADDRESS(table, x) (&(table)[x])
#endif
#if defined(__AVR__) && defined(TABLES_IN_RAM)
__attribute__((always_inline)) static inline const uint8_t *entry_of(const uint8_t *table, uint8_t x) {
    const uint8_t *entry = ENTRY_ADDRESS(table, x);
    __asm__("" : "+z"(entry));
    return entry;
}
#else
#define entry_of(table, x) ENTRY_ADDRESS(table, x)
#endif

/* The S-box (FIPS 197, 5.1.1), and after it the S-box times 2 in GF(2^8). */
TABLE uint8_t sbox[512] TABLE_ALIGNED = {
    0x63, 0x7c, 0x77, 0x7b, 0xf2, 0x6b, 0x6f, 0xc5, 0x30, 0x01, 0x67, 0x2b, 0xfe, 0xd7, 0xab, 0x76,
    0xca, 0x82, 0xc9, 0x7d, 0xfa, 0x59, 0x47, 0xf0, 0xad, 0xd4, 0xa2, 0xaf, 0x9c, 0xa4, 0x72, 0xc0,
    0xb7, 0xfd, 0x93, 0x26, 0x36, 0x3f, 0xf7, 0xcc, 0x34, 0xa5, 0xe5, 0xf1, 0x71, 0xd8, 0x31, 0x15,
    0x04, 0xc7, 0x23, 0xc3, 0x18, 0x96, 0x05, 0x9a, 0x07, 0x12, 0x80, 0xe2, 0xeb, 0x27, 0xb2, 0x75,
    0x09, 0x83, 0x2c, 0x1a, 0x1b, 0x6e, 0x5a, 0xa0, 0x52, 0x3b, 0xd6, 0xb3, 0x29, 0xe3, 0x2f, 0x84,
    0x53, 0xd1, 0x00, 0xed, 0x20, 0xfc, 0xb1, 0x5b, 0x6a, 0xcb, 0xbe, 0x39, 0x4a, 0x4c, 0x58, 0xcf,
    0xd0, 0xef, 0xaa, 0xfb, 0x43, 0x4d, 0x33, 0x85, 0x45, 0xf9, 0x02, 0x7f, 0x50, 0x3c, 0x9f, 0xa8,
    0x51, 0xa3, 0x40, 0x8f, 0x92, 0x9d, 0x38, 0xf5, 0xbc, 0xb6, 0xda, 0x21, 0x10, 0xff, 0xf3, 0xd2,
    0xcd, 0x0c, 0x13, 0xec, 0x5f, 0x97, 0x44, 0x17, 0xc4, 0xa7, 0x7e, 0x3d, 0x64, 0x5d, 0x19, 0x73,
    0x60, 0x81, 0x4f, 0xdc, 0x22, 0x2a, 0x90, 0x88, 0x46, 0xee, 0xb8, 0x14, 0xde, 0x5e, 0x0b, 0xdb,
    0xe0, 0x32, 0x3a, 0x0a, 0x49, 0x06, 0x24, 0x5c, 0xc2, 0xd3, 0xac, 0x62, 0x91, 0x95, 0xe4, 0x79,
    0xe7, 0xc8, 0x37, 0x6d, 0x8d, 0xd5, 0x4e, 0xa9, 0x6c, 0x56, 0xf4, 0xea, 0x65, 0x7a, 0xae, 0x08,
    0xba, 0x78, 0x25, 0x2e, 0x1c, 0xa6, 0xb4, 0xc6, 0xe8, 0xdd, 0x74, 0x1f, 0x4b, 0xbd, 0x8b, 0x8a,
    0x70, 0x3e, 0xb5, 0x66, 0x48, 0x03, 0xf6, 0x0e, 0x61, 0x35, 0x57, 0xb9, 0x86, 0xc1, 0x1d, 0x9e,
    0xe1, 0xf8, 0x98, 0x11, 0x69, 0xd9, 0x8e, 0x94, 0x9b, 0x1e, 0x87, 0xe9, 0xce, 0x55, 0x28, 0xdf,
    0x8c, 0xa1, 0x89, 0x0d, 0xbf, 0xe6, 0x42, 0x68, 0x41, 0x99, 0x2d, 0x0f, 0xb0, 0x54, 0xbb, 0x16,

    0xc6, 0xf8, 0xee, 0xf6, 0xff, 0xd6, 0xde, 0x91, 0x60, 0x02, 0xce, 0x56, 0xe7, 0xb5, 0x4d, 0xec,
    0x8f, 0x1f, 0x89, 0xfa, 0xef, 0xb2, 0x8e, 0xfb, 0x41, 0xb3, 0x5f, 0x45, 0x23, 0x53, 0xe4, 0x9b,
    0x75, 0xe1, 0x3d, 0x4c, 0x6c, 0x7e, 0xf5, 0x83, 0x68, 0x51, 0xd1, 0xf9, 0xe2, 0xab, 0x62, 0x2a,
    0x08, 0x95, 0x46, 0x9d, 0x30, 0x37, 0x0a, 0x2f, 0x0e, 0x24, 0x1b, 0xdf, 0xcd, 0x4e, 0x7f, 0xea,
    0x12, 0x1d, 0x58, 0x34, 0x36, 0xdc, 0xb4, 0x5b, 0xa4, 0x76, 0xb7, 0x7d, 0x52, 0xdd, 0x5e, 0x13,
    0xa6, 0xb9, 0x00, 0xc1, 0x40, 0xe3, 0x79, 0xb6, 0xd4, 0x8d, 0x67, 0x72, 0x94, 0x98, 0xb0, 0x85,
    0xbb, 0xc5, 0x4f, 0xed, 0x86, 0x9a, 0x66, 0x11, 0x8a, 0xe9, 0x04, 0xfe, 0xa0, 0x78, 0x25, 0x4b,
    0xa2, 0x5d, 0x80, 0x05, 0x3f, 0x21, 0x70, 0xf1, 0x63, 0x77, 0xaf, 0x42, 0x20, 0xe5, 0xfd, 0xbf,
    0x81, 0x18, 0x26, 0xc3, 0xbe, 0x35, 0x88, 0x2e, 0x93, 0x55, 0xfc, 0x7a, 0xc8, 0xba, 0x32, 0xe6,
    0xc0, 0x19, 0x9e, 0xa3, 0x44, 0x54, 0x3b, 0x0b, 0x8c, 0xc7, 0x6b, 0x28, 0xa7, 0xbc, 0x16, 0xad,
    0xdb, 0x64, 0x74, 0x14, 0x92, 0x0c, 0x48, 0xb8, 0x9f, 0xbd, 0x43, 0xc4, 0x39, 0x31, 0xd3, 0xf2,
    0xd5, 0x8b, 0x6e, 0xda, 0x01, 0xb1, 0x9c, 0x49, 0xd8, 0xac, 0xf3, 0xcf, 0xca, 0xf4, 0x47, 0x10,
    0x6f, 0xf0, 0x4a, 0x5c, 0x38, 0x57, 0x73, 0x97, 0xcb, 0xa1, 0xe8, 0x3e, 0x96, 0x61, 0x0d, 0x0f,
    0xe0, 0x7c, 0x71, 0xcc, 0x90, 0x06, 0xf7, 0x1c, 0xc2, 0x6a, 0xae, 0x69, 0x17, 0x99, 0x3a, 0x27,
    0xd9, 0xeb, 0x2b, 0x22, 0xd2, 0xa9, 0x07, 0x33, 0x2d, 0x3c, 0x15, 0xc9, 0x87, 0xaa, 0x50, 0xa5,
    0x03, 0x59, 0x09, 0x1a, 0x65, 0xd7, 0x84, 0xd0, 0x82, 0x29, 0x5a, 0x1e, 0x7b, 0xa8, 0x6d, 0x2c,
};

TABLE uint8_t inverse_sbox[256] TABLE_ALIGNED = {
    0x52, 0x09, 0x6a, 0xd5, 0x30, 0x36, 0xa5, 0x38, 0xbf, 0x40, 0xa3, 0x9e, 0x81, 0xf3, 0xd7, 0xfb,
    0x7c, 0xe3, 0x39, 0x82, 0x9b, 0x2f, 0xff, 0x87, 0x34, 0x8e, 0x43, 0x44, 0xc4, 0xde, 0xe9, 0xcb,
    0x54, 0x7b, 0x94, 0x32, 0xa6, 0xc2, 0x23, 0x3d, 0xee, 0x4c, 0x95, 0x0b, 0x42, 0xfa, 0xc3, 0x4e,
    0x08, 0x2e, 0xa1, 0x66, 0x28, 0xd9, 0x24, 0xb2, 0x76, 0x5b, 0xa2, 0x49, 0x6d, 0x8b, 0xd1, 0x25,
    0x72, 0xf8, 0xf6, 0x64, 0x86, 0x68, 0x98, 0x16, 0xd4, 0xa4, 0x5c, 0xcc, 0x5d, 0x65, 0xb6, 0x92,
    0x6c, 0x70, 0x48, 0x50, 0xfd, 0xed, 0xb9, 0xda, 0x5e, 0x15, 0x46, 0x57, 0xa7, 0x8d, 0x9d, 0x84,
    0x90, 0xd8, 0xab, 0x00, 0x8c, 0xbc, 0xd3, 0x0a, 0xf7, 0xe4, 0x58, 0x05, 0xb8, 0xb3, 0x45, 0x06,
    0xd0, 0x2c, 0x1e, 0x8f, 0xca, 0x3f, 0x0f, 0x02, 0xc1, 0xaf, 0xbd, 0x03, 0x01, 0x13, 0x8a, 0x6b,
    0x3a, 0x91, 0x11, 0x41, 0x4f, 0x67, 0xdc, 0xea, 0x97, 0xf2, 0xcf, 0xce, 0xf0, 0xb4, 0xe6, 0x73,
    0x96, 0xac, 0x74, 0x22, 0xe7, 0xad, 0x35, 0x85, 0xe2, 0xf9, 0x37, 0xe8, 0x1c, 0x75, 0xdf, 0x6e,
    0x47, 0xf1, 0x1a, 0x71, 0x1d, 0x29, 0xc5, 0x89, 0x6f, 0xb7, 0x62, 0x0e, 0xaa, 0x18, 0xbe, 0x1b,
    0xfc, 0x56, 0x3e, 0x4b, 0xc6, 0xd2, 0x79, 0x20, 0x9a, 0xdb, 0xc0, 0xfe, 0x78, 0xcd, 0x5a, 0xf4,
    0x1f, 0xdd, 0xa8, 0x33, 0x88, 0x07, 0xc7, 0x31, 0xb1, 0x12, 0x10, 0x59, 0x27, 0x80, 0xec, 0x5f,
    0x60, 0x51, 0x7f, 0xa9, 0x19, 0xb5, 0x4a, 0x0d, 0x2d, 0xe5, 0x7a, 0x9f, 0x93, 0xc9, 0x9c, 0xef,
    0xa0, 0xe0, 0x3b, 0x4d, 0xae, 0x2a, 0xf5, 0xb0, 0xc8, 0xeb, 0xbb, 0x3c, 0x83, 0x53, 0x99, 0x61,
    0x17, 0x2b, 0x04, 0x7e, 0xba, 0x77, 0xd6, 0x26, 0xe1, 0x69, 0x14, 0x63, 0x55, 0x21, 0x0c, 0x7d,
};

#define SUBSTITUTE(x) TABLE_READ8(entry_of(sbox, x))
#define UNSUBSTITUTE(x) TABLE_READ8(entry_of(inverse_sbox, x))
#define TIMES2(x) ((uint8_t)((uint8_t)((x) << 1) ^ (0x1b & -((x) >> 7))))

#if CIPHER_KEY_BYTES_MAX > 16
#define ROUNDS(key) ((key)->rounds)
#else
#define ROUNDS(key) 10
#endif

uint8_t block_setup(struct block_key *key, const uint8_t *bytes, uint8_t key_bytes) {
#if CIPHER_KEY_BYTES_MAX > 16
    if ((key_bytes != 16 && key_bytes != 24 && key_bytes != 32) || key_bytes > CIPHER_KEY_BYTES_MAX)
        return CIPHER_BAD_KEY;
    key->rounds = (uint8_t)(key_bytes / 4 + 6);
#else
    if (key_bytes != 16)
        return CIPHER_BAD_KEY;
#endif
    uint8_t *word = key->round_keys;
    const uint8_t *before = word;
    uint8_t a = 0, b = 0, c = 0, d = 0, rcon = 1;
    for (uint8_t i = key_bytes; i; i = (uint8_t)(i - 4)) {
        *word++ = a = *bytes++;
        *word++ = b = *bytes++;
        *word++ = c = *bytes++;
        *word++ = d = *bytes++;
    }
    /* Words come in groups that begin with a substituted one: as many as the key has, with a key of 8
     * words two groups of 4, the second without rotation and constant. */
    uint8_t group = key_bytes == 24 ? 6 : 4, rotate = 1;
    for (uint8_t words = (uint8_t)(3 * key_bytes / 4 + 28); words; words = (uint8_t)(words - group)) {
        a = SUBSTITUTE(a), b = SUBSTITUTE(b), c = SUBSTITUTE(c), d = SUBSTITUTE(d);
        if (rotate) {
            uint8_t first = a;
            a = b ^ rcon, b = c, c = d, d = first;
            rcon = TIMES2(rcon);
        }
        if (key_bytes == 32)
            rotate ^= 1;
        if (group > words)
            group = words;
        for (uint8_t i = group; i; i--) {
            *word++ = a ^= *before++;
            *word++ = b ^= *before++;
            *word++ = c ^= *before++;
            *word++ = d ^= *before++;
        }
    }
    return CIPHER_OK;
}

/* Substitute x, and look up twice the result as well. */
#define SUBSTITUTE_BOTH(x, twice)                                                                            \
    do {                                                                                                     \
        const uint8_t *entry = entry_of(sbox, x);                                                            \
        x = TABLE_READ8(entry);                                                                              \
        twice = TABLE_READ8(entry + 256);                                                                    \
    } while (0)

/* Substitute a column, mix it and add its round key, in place. With all = a + b + c + d, the mixed a is
 * all + a + 2a + 2b and so on; the four mixed bytes add up to all again, which gives d. */
#define MIX(a, b, c, d)                                                                                      \
    do {                                                                                                     \
        uint8_t ab, bc, cd, dd;                                                                              \
        SUBSTITUTE_BOTH(a, ab);                                                                              \
        SUBSTITUTE_BOTH(b, bc);                                                                              \
        ab ^= bc;                                                                                            \
        HOLD(ab);                                                                                            \
        SUBSTITUTE_BOTH(c, cd);                                                                              \
        bc ^= cd;                                                                                            \
        HOLD(bc);                                                                                            \
        SUBSTITUTE_BOTH(d, dd);                                                                              \
        cd ^= dd;                                                                                            \
        HOLD(cd);                                                                                            \
        d ^= a, d ^= b, d ^= c;                                                                              \
        HOLD(d);                                                                                             \
        a ^= d, a ^= ab;                                                                                     \
        HOLD(a);                                                                                             \
        b ^= d, b ^= bc;                                                                                     \
        HOLD(b);                                                                                             \
        c ^= d, c ^= cd;                                                                                     \
        HOLD(c);                                                                                             \
        d ^= a, d ^= b, d ^= c;                                                                              \
        HOLD(d);                                                                                             \
        a ^= *k++, b ^= *k++, c ^= *k++, d ^= *k++;                                                          \
        HOLD(a);                                                                                             \
        HOLD(b);                                                                                             \
        HOLD(c);                                                                                             \
        HOLD(d);                                                                                             \
    } while (0)

/* Four rounds in a row: each finds the columns, rows shifted, where the one before has left them. */
#define ROUND_1                                                                                              \
    MIX(s0, s5, s10, s15);                                                                                   \
    MIX(s4, s9, s14, s3);                                                                                    \
    MIX(s8, s13, s2, s7);                                                                                    \
    MIX(s12, s1, s6, s11);
#define ROUND_2                                                                                              \
    MIX(s0, s9, s2, s11);                                                                                    \
    MIX(s4, s13, s6, s15);                                                                                   \
    MIX(s8, s1, s10, s3);                                                                                    \
    MIX(s12, s5, s14, s7);
#define ROUND_3                                                                                              \
    MIX(s0, s13, s10, s7);                                                                                   \
    MIX(s4, s1, s14, s11);                                                                                   \
    MIX(s8, s5, s2, s15);                                                                                    \
    MIX(s12, s9, s6, s3);
#define ROUND_4                                                                                              \
    MIX(s0, s1, s2, s3);                                                                                     \
    MIX(s4, s5, s6, s7);                                                                                     \
    MIX(s8, s9, s10, s11);                                                                                   \
    MIX(s12, s13, s14, s15);

/* Bring the variables back to their places after one round. */
#define SHIFT                                                                                                \
    do {                                                                                                     \
        t = s1, s1 = s5, s5 = s9, s9 = s13, s13 = t;                                                         \
        t = s2, s2 = s10, s10 = t;                                                                           \
        t = s3, s3 = s15, s15 = s11, s11 = s7, s7 = t;                                                       \
        t = s6, s6 = s14, s14 = t;                                                                           \
    } while (0)

void block_encrypt(const struct block_key *key, uint8_t *block) {
    const uint8_t *k = key->round_keys;
    uint8_t left = (uint8_t)(ROUNDS(key) - 1), t; /* t: for the moves */
    uint8_t s0 = block[0], s1 = block[1], s2 = block[2], s3 = block[3];
    uint8_t s4 = block[4], s5 = block[5], s6 = block[6], s7 = block[7];
    uint8_t s8 = block[8], s9 = block[9], s10 = block[10], s11 = block[11];
    uint8_t s12 = block[12], s13 = block[13], s14 = block[14], s15 = block[15];
    s0 ^= *k++, s1 ^= *k++, s2 ^= *k++, s3 ^= *k++;
    s4 ^= *k++, s5 ^= *k++, s6 ^= *k++, s7 ^= *k++;
    s8 ^= *k++, s9 ^= *k++, s10 ^= *k++, s11 ^= *k++;
    s12 ^= *k++, s13 ^= *k++, s14 ^= *k++, s15 ^= *k++;
#ifdef AES_UNROLLED
    /* 9, 11 or 13 rounds: the way out is after the first of the four, and with a key of 24 bytes after the
     * third, from where the variables are as many moves away from their places. */
    for (;;) {
        ROUND_1;
        HOLD(left);
        if (left == 1)
            break;
        ROUND_2;
        ROUND_3;
        if (left == 3) {
            SHIFT;
            SHIFT;
            break;
        }
        ROUND_4;
        left = (uint8_t)(left - 4);
    }
    SHIFT;
#else
    do {
        ROUND_1;
        SHIFT;
    } while (--left);
#endif
    s0 = SUBSTITUTE(s0), s5 = SUBSTITUTE(s5), s10 = SUBSTITUTE(s10), s15 = SUBSTITUTE(s15);
    s0 ^= *k++, s5 ^= *k++, s10 ^= *k++, s15 ^= *k++;
    s4 = SUBSTITUTE(s4), s9 = SUBSTITUTE(s9), s14 = SUBSTITUTE(s14), s3 = SUBSTITUTE(s3);
    s4 ^= *k++, s9 ^= *k++, s14 ^= *k++, s3 ^= *k++;
    s8 = SUBSTITUTE(s8), s13 = SUBSTITUTE(s13), s2 = SUBSTITUTE(s2), s7 = SUBSTITUTE(s7);
    s8 ^= *k++, s13 ^= *k++, s2 ^= *k++, s7 ^= *k++;
    s12 = SUBSTITUTE(s12), s1 = SUBSTITUTE(s1), s6 = SUBSTITUTE(s6), s11 = SUBSTITUTE(s11);
    s12 ^= *k++, s1 ^= *k++, s6 ^= *k++, s11 ^= *k++;
    block[0] = s0, block[1] = s5, block[2] = s10, block[3] = s15;
    block[4] = s4, block[5] = s9, block[6] = s14, block[7] = s3;
    block[8] = s8, block[9] = s13, block[10] = s2, block[11] = s7;
    block[12] = s12, block[13] = s1, block[14] = s6, block[15] = s11;
}

/* Substitute a column back, add its round key and unmix it, in place, with three doublings. With
 * all = a + b + c + d, h = 2 (a + c + 2 all) and p = all + 2 (a + b + h) the unmixed column is a + p, b + p + h,
 * c + p + 2 all, d + p + h + 2 all. */
#define UNMIX(a, b, c, d)                                                                                    \
    do {                                                                                                     \
        d = UNSUBSTITUTE(d), d ^= *--k;                                                                      \
        HOLD_KEY();                                                                                          \
        c = UNSUBSTITUTE(c), c ^= *--k;                                                                      \
        HOLD_KEY();                                                                                          \
        b = UNSUBSTITUTE(b), b ^= *--k;                                                                      \
        HOLD_KEY();                                                                                          \
        a = UNSUBSTITUTE(a), a ^= *--k;                                                                      \
        HOLD_KEY();                                                                                          \
        uint8_t h = a, p = a, all, q;                                                                        \
        h ^= c, p ^= b;                                                                                      \
        all = h, all ^= b, all ^= d;                                                                         \
        HOLD(all);                                                                                           \
        q = TIMES2(all);                                                                                     \
        HOLD(q);                                                                                             \
        h ^= q, h = TIMES2(h);                                                                               \
        HOLD(h);                                                                                             \
        p ^= h, p = TIMES2(p), p ^= all;                                                                     \
        HOLD(p);                                                                                             \
        a ^= p, c ^= p, c ^= q;                                                                              \
        HOLD(a);                                                                                             \
        HOLD(c);                                                                                             \
        h ^= p, b ^= h, d ^= h, d ^= q;                                                                      \
        HOLD(b);                                                                                             \
        HOLD(d);                                                                                             \
    } while (0)

#define UNROUND_1                                                                                            \
    UNMIX(s12, s9, s6, s3);                                                                                  \
    UNMIX(s8, s5, s2, s15);                                                                                  \
    UNMIX(s4, s1, s14, s11);                                                                                 \
    UNMIX(s0, s13, s10, s7);
#define UNROUND_2                                                                                            \
    UNMIX(s12, s5, s14, s7);                                                                                 \
    UNMIX(s8, s1, s10, s3);                                                                                  \
    UNMIX(s4, s13, s6, s15);                                                                                 \
    UNMIX(s0, s9, s2, s11);
#define UNROUND_3                                                                                            \
    UNMIX(s12, s1, s6, s11);                                                                                 \
    UNMIX(s8, s13, s2, s7);                                                                                  \
    UNMIX(s4, s9, s14, s3);                                                                                  \
    UNMIX(s0, s5, s10, s15);
#define UNROUND_4                                                                                            \
    UNMIX(s12, s13, s14, s15);                                                                               \
    UNMIX(s8, s9, s10, s11);                                                                                 \
    UNMIX(s4, s5, s6, s7);                                                                                   \
    UNMIX(s0, s1, s2, s3);

#define UNSHIFT                                                                                              \
    do {                                                                                                     \
        t = s1, s1 = s13, s13 = s9, s9 = s5, s5 = t;                                                         \
        t = s2, s2 = s10, s10 = t;                                                                           \
        t = s3, s3 = s7, s7 = s11, s11 = s15, s15 = t;                                                       \
        t = s6, s6 = s14, s14 = t;                                                                           \
    } while (0)

void block_decrypt(const struct block_key *key, uint8_t *block) {
    const uint8_t *k = key->round_keys + 16 * ROUNDS(key) + 16;
    uint8_t left = (uint8_t)(ROUNDS(key) - 1), t; /* t: for the moves */
    uint8_t s0 = block[0], s1 = block[1], s2 = block[2], s3 = block[3];
    uint8_t s4 = block[4], s5 = block[5], s6 = block[6], s7 = block[7];
    uint8_t s8 = block[8], s9 = block[9], s10 = block[10], s11 = block[11];
    uint8_t s12 = block[12], s13 = block[13], s14 = block[14], s15 = block[15];
    s15 ^= *--k, s14 ^= *--k, s13 ^= *--k, s12 ^= *--k;
    s11 ^= *--k, s10 ^= *--k, s9 ^= *--k, s8 ^= *--k;
    s7 ^= *--k, s6 ^= *--k, s5 ^= *--k, s4 ^= *--k;
    s3 ^= *--k, s2 ^= *--k, s1 ^= *--k, s0 ^= *--k;
#ifdef AES_UNROLLED
    /* 9, 11 or 13 rounds: the way out is after the first of the four, and with a key of 24 bytes after the
     * third, from where the variables are as many moves away from their places. */
    for (;;) {
        UNROUND_1;
        HOLD(left);
        if (left == 1)
            break;
        UNROUND_2;
        UNROUND_3;
        if (left == 3) {
            UNSHIFT;
            UNSHIFT;
            break;
        }
        UNROUND_4;
        left = (uint8_t)(left - 4);
    }
    UNSHIFT;
#else
    do {
        UNROUND_1;
        UNSHIFT;
    } while (--left);
#endif
    s3 = UNSUBSTITUTE(s3), s6 = UNSUBSTITUTE(s6), s9 = UNSUBSTITUTE(s9), s12 = UNSUBSTITUTE(s12);
    s3 ^= *--k, s6 ^= *--k, s9 ^= *--k, s12 ^= *--k;
    s15 = UNSUBSTITUTE(s15), s2 = UNSUBSTITUTE(s2), s5 = UNSUBSTITUTE(s5), s8 = UNSUBSTITUTE(s8);
    s15 ^= *--k, s2 ^= *--k, s5 ^= *--k, s8 ^= *--k;
    s11 = UNSUBSTITUTE(s11), s14 = UNSUBSTITUTE(s14), s1 = UNSUBSTITUTE(s1), s4 = UNSUBSTITUTE(s4);
    s11 ^= *--k, s14 ^= *--k, s1 ^= *--k, s4 ^= *--k;
    s7 = UNSUBSTITUTE(s7), s10 = UNSUBSTITUTE(s10), s13 = UNSUBSTITUTE(s13), s0 = UNSUBSTITUTE(s0);
    s7 ^= *--k, s10 ^= *--k, s13 ^= *--k, s0 ^= *--k;
    block[0] = s0, block[1] = s13, block[2] = s10, block[3] = s7;
    block[4] = s4, block[5] = s1, block[6] = s14, block[7] = s11;
    block[8] = s8, block[9] = s5, block[10] = s2, block[11] = s15;
    block[12] = s12, block[13] = s9, block[14] = s6, block[15] = s3;
}
