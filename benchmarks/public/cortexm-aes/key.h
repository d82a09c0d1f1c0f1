/* key.h: the expanded keys of cortexm-AES, as our modes keep them. */
#ifndef PUBLIC_CORTEXM_AES_KEY_H
#define PUBLIC_CORTEXM_AES_KEY_H

#include <stdint.h>

#define BLOCK_BYTES 16

struct block_key {
    uint32_t encrypt[44];
#ifdef EXPAND_DECRYPT
    uint32_t decrypt[44]; /* other words where the tables of decryption hold InvMixColumns */
#endif
};

#endif
