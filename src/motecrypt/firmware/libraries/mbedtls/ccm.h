/* Mbed TLS's CCM, with the AES context that its cipher layer would take from a heap. */
#ifndef MBEDTLS_ADAPTER_CCM_H
#define MBEDTLS_ADAPTER_CCM_H

#include "mbedtls/aes.h"
#include "mbedtls/ccm.h"

struct cipher_context {
    mbedtls_ccm_context ccm;
    mbedtls_aes_context aes;
};

#endif
