/* aes_avr.h: AES as a block cipher (block.h), in assembly for AVR. The context is the round keys: 176, 208 or
 * 240 bytes. aes_avr.S depends on the offset of `rounds`.
 */
#ifndef MOTECRYPT_AES_AVR_H
#define MOTECRYPT_AES_AVR_H

#include "cipher.h"

#define BLOCK_BYTES 16

struct block_key {
    uint8_t round_keys[4 * CIPHER_KEY_BYTES_MAX + 112];
#if CIPHER_KEY_BYTES_MAX > 16
    uint8_t rounds; /* 10, 12 or 14 */
#endif
};

#endif
