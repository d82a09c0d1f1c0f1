/* ecb.h: the mode electronic codebook (SP 800-38A, 6.1): each block by itself, no nonce.
 *
 * Equal blocks give equal ciphertext: this mode hides no patterns. It is here to be measured, and as
 * the bare block cipher (a message of one block).
 */
#ifndef MOTECRYPT_MODE_ECB_H
#define MOTECRYPT_MODE_ECB_H

#include "block.h"

struct cipher_context {
    struct block_key key;
};

#endif
