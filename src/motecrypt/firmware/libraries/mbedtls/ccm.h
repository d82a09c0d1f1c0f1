/* Mbed TLS's CCM. */
#ifndef MBEDTLS_ADAPTER_CCM_H
#define MBEDTLS_ADAPTER_CCM_H

#include "mbedtls/ccm.h"

struct cipher_context {
    mbedtls_ccm_context ccm;
};

#endif
