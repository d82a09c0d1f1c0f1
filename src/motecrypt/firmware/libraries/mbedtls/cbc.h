/* Mbed TLS in cipher block chaining: it wants one context for each direction. */
#ifndef MBEDTLS_ADAPTER_CBC_H
#define MBEDTLS_ADAPTER_CBC_H

#include "mbedtls/aes.h"

struct cipher_context {
    mbedtls_aes_context encrypt;
    mbedtls_aes_context decrypt;
};

#endif
