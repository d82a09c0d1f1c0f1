/* chacha_words.c: the ChaCha20 block function (RFC 8439, 2.3) in words of 32 bits. */
#include "parts.h"

static uint32_t load32(const uint8_t *bytes) {
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static void store32(uint8_t *bytes, uint32_t value) {
    bytes[0] = (uint8_t)value;
    bytes[1] = (uint8_t)(value >> 8);
    bytes[2] = (uint8_t)(value >> 16);
    bytes[3] = (uint8_t)(value >> 24);
}

#define ROTATE(value, bits) ((value) << (bits) | (value) >> (32 - (bits)))

#define QUARTER(a, b, c, d)                                                                                  \
    do {                                                                                                     \
        uint32_t wa = x[a], wb = x[b], wc = x[c], wd = x[d];                                                 \
                                                                                                             \
        wa += wb;                                                                                            \
        wd = ROTATE(wd ^ wa, 16);                                                                            \
        wc += wd;                                                                                            \
        wb = ROTATE(wb ^ wc, 12);                                                                            \
        wa += wb;                                                                                            \
        wd = ROTATE(wd ^ wa, 8);                                                                             \
        wc += wd;                                                                                            \
        wb = ROTATE(wb ^ wc, 7);                                                                             \
        x[a] = wa;                                                                                           \
        x[b] = wb;                                                                                           \
        x[c] = wc;                                                                                           \
        x[d] = wd;                                                                                           \
    } while (0)

void chacha20_block(uint32_t *block, const uint8_t *key, const uint8_t *nonce, uint32_t counter) {
    uint32_t start[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
    uint32_t x[16];

    for (unsigned i = 0; i < 8; i++) {
        start[4 + i] = load32(key + 4 * i);
    }
    start[12] = counter;
    for (unsigned i = 0; i < 3; i++) {
        start[13 + i] = load32(nonce + 4 * i);
    }
    for (unsigned i = 0; i < 16; i++) {
        x[i] = start[i];
    }
    for (unsigned round = 0; round < 10; round++) {
        QUARTER(0, 4, 8, 12);
        QUARTER(1, 5, 9, 13);
        QUARTER(2, 6, 10, 14);
        QUARTER(3, 7, 11, 15);
        QUARTER(0, 5, 10, 15);
        QUARTER(1, 6, 11, 12);
        QUARTER(2, 7, 8, 13);
        QUARTER(3, 4, 9, 14);
    }
    for (unsigned i = 0; i < 16; i++) {
        store32((uint8_t *)&block[i], x[i] + start[i]);
    }
}
