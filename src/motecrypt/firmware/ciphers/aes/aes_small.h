/* aes_small.h: AES as a block cipher (block.h) with the least flash. The context is the round keys: 176, 208
 * or 240 bytes. One table of 256 bytes, the inverses in GF(2^8), serves both directions; the affine part of
 * the S-box is computed.
 */
#ifndef MOTECRYPT_AES_SMALL_H
#define MOTECRYPT_AES_SMALL_H

#include "cipher.h"

#define BLOCK_BYTES 16

struct block_key {
    uint8_t round_keys[4 * CIPHER_KEY_BYTES_MAX + 112];
#if CIPHER_KEY_BYTES_MAX > 16
    uint8_t rounds; /* 10, 12 or 14 */
#endif
};

#endif
