/* wolfCrypt's ChaCha20-Poly1305 in one call: it has no set-up of a key. */
#ifndef WOLFSSL_ADAPTER_CHACHAPOLY_H
#define WOLFSSL_ADAPTER_CHACHAPOLY_H

#include <stdint.h>

struct cipher_context {
    uint8_t key[32];
};

#endif
