/* aes_armv6m_small.h: AES as a block cipher (block.h), in assembly for Cortex-M0 and M0+, with one table of
 * 256 bytes for each direction. The context is the round keys: 176, 208 or 240 bytes. aes_armv6m_small.S and
 * aes_armv6m_blocks.S know where each is stored.
 */
#ifndef MOTECRYPT_AES_ARMV6M_SMALL_H
#define MOTECRYPT_AES_ARMV6M_SMALL_H

#include "cipher.h"

#define BLOCK_BYTES 16
#define BLOCK_STREAMS

struct block_key {
#if CIPHER_KEY_BYTES_MAX > 16
    uint32_t last; /* bytes before the last round key: 160, 192 or 224 */
#endif
    uint32_t round_keys[CIPHER_KEY_BYTES_MAX + 28];
};

#endif
