/* des_small.h: DES and triple DES in little flash and RAM: the key stays as it is (8 or 24 bytes). */
#ifndef MOTECRYPT_DES_SMALL_H
#define MOTECRYPT_DES_SMALL_H

#include <stdint.h>
#include "des_key.h"

#define BLOCK_BYTES 8

struct block_key {
    uint8_t bytes[DES_PASSES][8];
};

#endif
