/* aes_sliced.h: AES as a block cipher (block.h) in C without tables, two blocks at a time: neither branches nor
 * addresses depend on the key or the data, also behind a cache. For CPUs of 32 bits and more. The context
 * is the round keys, each for two blocks: 352, 420 or 484 bytes.
 */
#ifndef MOTECRYPT_AES_SLICED_H
#define MOTECRYPT_AES_SLICED_H

#include "cipher.h"

#define BLOCK_BYTES 16
#define BLOCK_PAIRS

struct block_key {
#if CIPHER_KEY_BYTES_MAX > 16
    uint32_t rounds; /* 10, 12 or 14 */
#endif
    uint32_t round_keys[2 * CIPHER_KEY_BYTES_MAX + 56];
};

#endif
