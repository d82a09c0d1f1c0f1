/* block.c: the ChaCha20 block function (RFC 8439, 2.3) over the permutation of chacha-avr. */
#include "bytes.h"

#include <string.h>

#define DOUBLE_ROUNDS 10

/* The library's. Its header has a block function of our name, which is left out. */
void chacha_perm(uint8_t state[64], uint8_t double_rounds);

static const uint32_t constants[4] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};

void chacha20_block(uint32_t *block, const uint8_t *key, const uint8_t *nonce, uint32_t counter) {
    uint32_t first[16];

    memcpy(first, constants, 16);
    memcpy(first + 4, key, 32);
    first[12] = counter;
    memcpy(first + 13, nonce, 12);
    memcpy(block, first, sizeof(first));
    chacha_perm((uint8_t *)block, DOUBLE_ROUNDS);
    for (uint8_t i = 0; i < 16; i++)
        block[i] += first[i];
}
