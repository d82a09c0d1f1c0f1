/* aes_armv6m.h: AES as a block cipher (block.h), in assembly for Cortex-M0 and M0+, with one table of 1 KB
 * for each direction. The context holds the round keys, and unless BLOCK_ENCRYPTS_ALONE a second time,
 * unmixed for decryption: 176, 208 or 240 bytes, or twice that. aes_armv6m.S knows where each is stored.
 */
#ifndef MOTECRYPT_AES_ARMV6M_H
#define MOTECRYPT_AES_ARMV6M_H

#include "cipher.h"

#define BLOCK_BYTES 16
#define BLOCK_STREAMS

struct block_key {
#if CIPHER_KEY_BYTES_MAX > 16
    uint32_t last; /* bytes before the last round key: 160, 192 or 224 */
#endif
    uint32_t encrypt_keys[CIPHER_KEY_BYTES_MAX + 28];
#ifndef BLOCK_ENCRYPTS_ALONE
    uint32_t decrypt_keys[CIPHER_KEY_BYTES_MAX + 28];
#endif
};

#endif
