/* Mbed TLS in counter mode: one schedule serves both directions. */
#ifndef MBEDTLS_ADAPTER_CTR_H
#define MBEDTLS_ADAPTER_CTR_H

#include "mbedtls/aes.h"

struct cipher_context {
    mbedtls_aes_context aes;
};

#endif
