/* ctr.h: the mode counter (SP 800-38A, 6.5). The nonce is the whole initial counter block, BLOCK_BYTES
 * bytes; it counts up as one big-endian number and wraps round to zero. Messages of any length. A
 * counter block must never come twice under one key. No authentication.
 */
#ifndef MOTECRYPT_MODE_CTR_H
#define MOTECRYPT_MODE_CTR_H

#include "block.h"

struct cipher_context {
    struct block_key key;
};

#endif
