/* Mbed TLS's ChaCha20-Poly1305 (RFC 8439). */
#ifndef MBEDTLS_ADAPTER_CHACHAPOLY_H
#define MBEDTLS_ADAPTER_CHACHAPOLY_H

#include "mbedtls/chachapoly.h"

struct cipher_context {
    mbedtls_chachapoly_context aead;
};

#endif
