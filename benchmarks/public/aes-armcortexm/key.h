/* key.h: the expanded keys of aes-armcortexm, as our modes keep them. */
#ifndef PUBLIC_AES_ARMCORTEXM_KEY_H
#define PUBLIC_AES_ARMCORTEXM_KEY_H

#include <stdint.h>

#define BLOCK_BYTES 16

struct block_key {
    uint32_t encrypt[44];
#ifdef DECRYPTS
    uint32_t decrypt[44]; /* the last round key first, unmixed */
#endif
};

#endif
