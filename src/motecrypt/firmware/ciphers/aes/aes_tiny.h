/* aes_tiny.h: AES-128 as a block cipher (block.h) that only encrypts, for an AVR with the least flash. The
 * context is the key itself: round keys are made while they are used.
 */
#ifndef MOTECRYPT_AES_TINY_H
#define MOTECRYPT_AES_TINY_H

#include "cipher.h"

#define BLOCK_BYTES 16
#define BLOCK_KEY_IS_BYTES 1 /* block_setup copies the key, no more: a caller may point at one instead */

struct block_key {
    uint8_t bytes[16];
};

#endif
