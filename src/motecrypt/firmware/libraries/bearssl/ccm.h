/* BearSSL's CCM over its AES. BEARSSL_CIPHER is aes_ct or aes_small. */
#ifndef BEARSSL_ADAPTER_CCM_H
#define BEARSSL_ADAPTER_CCM_H

#include "bearssl_aead.h"

#define BEARSSL_JOIN_(a, b, c) a##b##c
#define BEARSSL_JOIN(a, b, c) BEARSSL_JOIN_(a, b, c)
#define BEARSSL(name) BEARSSL_JOIN(br_, BEARSSL_CIPHER, name)

struct cipher_context {
    BEARSSL(_ctrcbc_keys) keys;
    br_ccm_context ccm;
};

#endif
