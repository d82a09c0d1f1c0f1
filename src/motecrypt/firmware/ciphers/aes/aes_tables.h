/* aes_tables.h: AES as a block cipher (block.h) for CPUs of 32 bits and more, with one table of 1 KB (on
 * computers 2 KB) for each direction. The context holds the round keys twice, the second time unmixed for
 * decryption: 352, 416 or 480 bytes.
 */
#ifndef MOTECRYPT_AES_TABLES_H
#define MOTECRYPT_AES_TABLES_H

#include "cipher.h"

#define BLOCK_BYTES 16

struct block_key {
    uint32_t encrypt_keys[CIPHER_KEY_BYTES_MAX + 28];
    uint32_t decrypt_keys[CIPHER_KEY_BYTES_MAX + 28];
#if CIPHER_KEY_BYTES_MAX > 16
    uint8_t rounds; /* 10, 12 or 14 */
#endif
};

#endif
