/* calls.h: what our modes call for a block: the functions of AVR-AES-Faster themselves, with its S-boxes in flash. */
#ifndef PUBLIC_AVR_AES_FASTER_CALLS_H
#define PUBLIC_AVR_AES_FASTER_CALLS_H

#include "block.h"

#include <AVR-AES-Faster.h>

#define block_encrypt(key, block) AES_Encrypt_F(block, block, (key)->rounds, AES128_Nr)
#define block_decrypt(key, block) AES_Decrypt_F(block, block, (key)->rounds, AES128_Nr)

#endif
