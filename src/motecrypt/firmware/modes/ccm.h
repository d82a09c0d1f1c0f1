/* ccm.h: the mode counter with CBC-MAC (NIST SP 800-38C; RFC 3610) over a block cipher of 16 bytes.
 *
 * Nonces of 7 to 13 bytes that must never come twice under one key; the longer the nonce, the shorter
 * the longest message: 13 bytes leave 2^16 - 1. Tags of CIPHER_TAG_BYTES: 4, 6, 8 ... 16.
 *
 * With CIPHER_TAG_VARIES, CIPHER_TAG_BYTES is 16 and each key has a tag length of its own, which the caller
 * writes into `tag_bytes` after cipher_setup. `tag` then has room for 16 bytes: encrypting writes all of
 * them, of which the first tag_bytes are the tag of SP 800-38C for that length; decrypting compares those
 * and, where they are right, writes all 16. With CIPHER_NO_AD there is no associated data.
 */
#ifndef MOTECRYPT_MODE_CCM_H
#define MOTECRYPT_MODE_CCM_H

#include "block.h"

struct cipher_context {
    struct block_key key;
#ifdef CIPHER_TAG_VARIES
    uint8_t tag_bytes; /* 4, 6, 8 ... 16 */
#endif
};

#endif
