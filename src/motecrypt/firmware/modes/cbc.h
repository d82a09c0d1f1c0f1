/* cbc.h: the mode cipher block chaining (SP 800-38A, 6.2). The nonce is the IV: BLOCK_BYTES bytes that
 * nobody can predict. Messages are whole blocks; padding is the caller's. No authentication.
 */
#ifndef MOTECRYPT_MODE_CBC_H
#define MOTECRYPT_MODE_CBC_H

#include "block.h"

struct cipher_context {
    struct block_key key;
};

#endif
