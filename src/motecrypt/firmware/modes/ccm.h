/* ccm.h: the mode counter with CBC-MAC (NIST SP 800-38C; RFC 3610) over a block cipher of 16 bytes.
 *
 * Nonces of 7 to 13 bytes that must never come twice under one key; the longer the nonce, the shorter
 * the longest message: 13 bytes leave 2^16 - 1. Tags of CIPHER_TAG_BYTES: 4, 6, 8 ... 16.
 */
#ifndef MOTECRYPT_MODE_CCM_H
#define MOTECRYPT_MODE_CCM_H

#include "block.h"

struct cipher_context {
    struct block_key key;
};

#endif
