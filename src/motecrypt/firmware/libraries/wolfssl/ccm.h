/* wolfCrypt's AES-CCM. */
#ifndef WOLFSSL_ADAPTER_CCM_H
#define WOLFSSL_ADAPTER_CCM_H

#include <wolfssl/wolfcrypt/settings.h>

#include <wolfssl/wolfcrypt/aes.h>

struct cipher_context {
    Aes aes;
};

#endif
