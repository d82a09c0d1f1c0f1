/* aes_low_ram.h: AES as a block cipher (block.h) with the least RAM.
 *
 * The context is the key itself, 16 bytes for AES-128: round keys are made while they are used, forwards
 * to encrypt, and after a run to the end backwards to decrypt. One table of 256 bytes, the inverses in
 * GF(2^8), serves both directions; the affine part of the S-box is computed.
 */
#ifndef MOTECRYPT_AES_LOW_RAM_H
#define MOTECRYPT_AES_LOW_RAM_H

#include "cipher.h"

#define BLOCK_BYTES 16

struct block_key {
    uint8_t bytes[CIPHER_KEY_BYTES_MAX];
#if CIPHER_KEY_BYTES_MAX > 16
    uint8_t key_bytes; /* 16, 24 or 32 */
#endif
};

#endif
