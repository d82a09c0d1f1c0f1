/* xtea.h: XTEA (Needham, Wheeler, 1997): blocks of 8 bytes, keys of 16. */
#ifndef EXAMPLE_XTEA_H
#define EXAMPLE_XTEA_H

#include <stdint.h>

#define BLOCK_BYTES 8

struct block_key {
    uint32_t words[4];
};

#endif
