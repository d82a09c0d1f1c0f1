/* LibTomCrypt's ECB mode over the cipher that TOMCRYPT_DESCRIPTOR names. */
#ifndef TOMCRYPT_ADAPTER_ECB_H
#define TOMCRYPT_ADAPTER_ECB_H

#include "tomcrypt.h"

struct cipher_context {
    symmetric_ECB mode;
};

#endif
