/* aes_armv7m_fixsliced.h: AES as a block cipher (block.h), in assembly for Cortex-M4, two blocks at a time and without
 * tables: neither time nor addresses depend on the key or the data. The context is the round keys, each for two
 * blocks: 352, 420 or 484 bytes. aes_armv7m_fixsliced.S knows where each is stored. With BLOCK_ENCRYPTS_ALONE it encrypts
 * alone; otherwise modes call it for one block or for two.
 */
#ifndef MOTECRYPT_AES_ARMV7M_FIXSLICED_H
#define MOTECRYPT_AES_ARMV7M_FIXSLICED_H

#include "cipher.h"

#define BLOCK_BYTES 16
#define BLOCK_PAIRS
#ifdef BLOCK_ENCRYPTS_ALONE
#define BLOCK_STREAMS
#endif

struct block_key {
#if CIPHER_KEY_BYTES_MAX > 16
    uint32_t before_last; /* bytes before the last round key: 320, 384 or 448 */
#endif
    uint32_t round_keys[2 * CIPHER_KEY_BYTES_MAX + 56];
};

#endif
