/* ccm_mode.c: our mode CCM, which calls this library's function for a block. CCM's blocks are at addresses that
 * are multiples of four, as the library wants them. */
#include "block.h"
#include "calls.h"

#define block_encrypt(key, block) AES_128_encrypt((const uint8_t *)(key)->encrypt, block, block)
#include "ccm.c"
