/* wolfCrypt's AES in cipher block chaining: one schedule for each direction. */
#ifndef WOLFSSL_ADAPTER_CBC_H
#define WOLFSSL_ADAPTER_CBC_H

#include <wolfssl/wolfcrypt/settings.h>

#include <wolfssl/wolfcrypt/aes.h>

struct cipher_context {
    Aes encrypt;
    Aes decrypt;
};

#endif
