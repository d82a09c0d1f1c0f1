/* key.h: the expanded key of AVR-AES-Faster, as our modes keep it. */
#ifndef PUBLIC_AVR_AES_FASTER_KEY_H
#define PUBLIC_AVR_AES_FASTER_KEY_H

#include <stdint.h>

#define BLOCK_BYTES 16

struct block_key {
    uint8_t rounds[11][BLOCK_BYTES];
};

#endif
