/* aes_rv32.h: AES as a block cipher (block.h) for RISC-V cores with 31 registers. Rounds are in assembly
 * (aes_rv32.S), round keys and chains of blocks in C (aes_rv32_blocks.c). The context holds the round keys,
 * and unless BLOCK_ENCRYPTS_ALONE a second time, unmixed for decryption: 176, 208 or 240 bytes, or twice
 * that.
 */
#ifndef MOTECRYPT_AES_RV32_H
#define MOTECRYPT_AES_RV32_H

#include "cipher.h"

#define BLOCK_BYTES 16
#define BLOCK_STREAMS

struct block_key {
#if CIPHER_KEY_BYTES_MAX > 16
    uint32_t last; /* words from the first round key to the last: 40, 48 or 56 */
#endif
    uint32_t encrypt_keys[CIPHER_KEY_BYTES_MAX + 28];
#ifndef BLOCK_ENCRYPTS_ALONE
    uint32_t decrypt_keys[CIPHER_KEY_BYTES_MAX + 28];
#endif
};

#endif
