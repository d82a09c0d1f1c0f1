/* BearSSL's ChaCha20-Poly1305 (RFC 8439): it has no set-up of a key. BEARSSL_POLY1305 names its one-call
 * function, one for each way to multiply. */
#ifndef BEARSSL_ADAPTER_CHACHAPOLY_H
#define BEARSSL_ADAPTER_CHACHAPOLY_H

#include "bearssl_block.h"

struct cipher_context {
    uint8_t key[32];
};

#endif
