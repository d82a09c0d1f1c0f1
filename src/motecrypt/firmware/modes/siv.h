/* siv.h: the mode SIV (RFC 5297) over a block cipher of 16 bytes: authenticated, and safe to misuse.
 *
 * The key is two keys of the block cipher, one behind the other. The nonce, of any length, may be left out
 * or come twice: then equal messages under equal associated data give equal ciphertexts, and nothing else
 * is lost. With a nonce the components are associated data, even if empty, nonce and message (RFC 5297,
 * section 6); without one, associated data if there is any, and message. The tag is the synthetic IV,
 * which RFC 5297 puts ahead of the ciphertext.
 */
#ifndef MOTECRYPT_MODE_SIV_H
#define MOTECRYPT_MODE_SIV_H

#include "block.h"

struct cipher_context {
    struct block_key mac_key;     /* K1 of RFC 5297, for CMAC */
    struct block_key counter_key; /* K2, for counter mode */
    uint8_t subkey[BLOCK_BYTES];  /* K1 of CMAC, SP 800-38B, 6.1 */
    uint8_t start[BLOCK_BYTES];   /* CMAC of a block of zeros, with which S2V begins */
};

#endif
