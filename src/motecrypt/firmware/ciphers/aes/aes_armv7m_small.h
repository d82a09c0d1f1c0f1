/* aes_armv7m_small.h: AES as a block cipher (block.h), in assembly for Cortex-M4, with one table of 256 bytes for both
 * directions. The context holds the round keys once: 176, 212 or 244 bytes. aes_armv7m_small.S knows where each is stored.
 */
#ifndef MOTECRYPT_AES_ARMV7M_SMALL_H
#define MOTECRYPT_AES_ARMV7M_SMALL_H

#include "cipher.h"

#define BLOCK_BYTES 16

struct block_key {
#if CIPHER_KEY_BYTES_MAX > 16
    uint32_t rounds; /* 10, 12 or 14 */
#endif
    uint32_t round_keys[CIPHER_KEY_BYTES_MAX + 28];
};

#endif
