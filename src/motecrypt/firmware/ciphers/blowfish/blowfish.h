/* blowfish.h: Blowfish (Schneier, 1993): 64-bit blocks, keys of 32 to 448 bits, 4,168 bytes of key-dependent
 * tables in RAM. */
#ifndef MOTECRYPT_BLOWFISH_H
#define MOTECRYPT_BLOWFISH_H

#include <stdint.h>

#define BLOCK_BYTES 8

struct block_key {
    uint32_t p[18];
    uint32_t s[4][256];
};

#endif
