/* rc6.h: RC6-32/RC6_ROUNDS (Rivest, Robshaw, Sidney, Yin, 1998): 128-bit blocks, 4 (2 rounds + 4) bytes of
 * round keys (176 for the usual 20 rounds). */
#ifndef MOTECRYPT_RC6_H
#define MOTECRYPT_RC6_H

#include <stdint.h>

#define BLOCK_BYTES 16

#ifndef RC6_ROUNDS
#define RC6_ROUNDS 20
#endif

struct block_key {
    uint32_t words[2 * RC6_ROUNDS + 4];
};

#endif
