/* BearSSL in cipher block chaining: one schedule for each direction. BEARSSL_CIPHER is aes_ct, aes_small,
 * aes_big, des_ct or des_tab. */
#ifndef BEARSSL_ADAPTER_CBC_H
#define BEARSSL_ADAPTER_CBC_H

#include "bearssl_block.h"

#define BEARSSL_JOIN_(a, b, c) a##b##c
#define BEARSSL_JOIN(a, b, c) BEARSSL_JOIN_(a, b, c)
#define BEARSSL(name) BEARSSL_JOIN(br_, BEARSSL_CIPHER, name)

struct cipher_context {
    BEARSSL(_cbcenc_keys) encrypt;
    BEARSSL(_cbcdec_keys) decrypt;
};

#endif
