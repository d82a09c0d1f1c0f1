/* cts.h: CBC with ciphertext stealing, variant CS3 of the addendum to SP 800-38A (Kerberos, RFC 3962).
 *
 * The ciphertext is as long as the message: at least one block, then any length. The last two blocks
 * always change places, also when the message is a multiple of the block (CS3 differs in this from CS1 and
 * CS2); a message of exactly one block is plain CBC. The nonce is the IV, BLOCK_BYTES bytes that nobody
 * can predict. Less than one block: CIPHER_BAD_LENGTH. No authentication.
 */
#ifndef MOTECRYPT_MODE_CTS_H
#define MOTECRYPT_MODE_CTS_H

#include "block.h"

struct cipher_context {
    struct block_key key;
};

#endif
