/* aes_armv7m.h: AES as a block cipher (block.h), in assembly for Cortex-M4, with one table of 1 KB for each
 * direction. The context holds the round keys, and unless BLOCK_ENCRYPTS_ALONE a second time, unmixed for
 * decryption: 176, 208 or 240 bytes, or twice that. aes_armv7m.S knows where each is stored.
 */
#ifndef MOTECRYPT_AES_ARMV7M_H
#define MOTECRYPT_AES_ARMV7M_H

#include "cipher.h"

#define BLOCK_BYTES 16
#define BLOCK_STREAMS

struct block_key {
#if CIPHER_KEY_BYTES_MAX > 16
    uint32_t between; /* bytes from the second round key to the last: 144, 176 or 208 */
#endif
    uint32_t encrypt_keys[CIPHER_KEY_BYTES_MAX + 28];
#ifndef BLOCK_ENCRYPTS_ALONE
    uint32_t decrypt_keys[CIPHER_KEY_BYTES_MAX + 28];
#endif
};

#endif
