/* des_fast.h: DES and triple DES with expanded round keys (128 or 384 bytes) and 2 KB of tables. */
#ifndef MOTECRYPT_DES_FAST_H
#define MOTECRYPT_DES_FAST_H

#include <stdint.h>
#include "des_key.h"

#define BLOCK_BYTES 8

/* For each round the key bits of S-boxes 1, 3, 5, 7 and of 2, 4, 6, 8: six bits at the low end of each byte,
 * the lower-numbered box in the higher byte. */
struct block_key {
    uint32_t rounds[DES_PASSES][DES_ROUNDS][2];
};

#endif
