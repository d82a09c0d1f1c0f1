/* LibTomCrypt's ECB mode over the cipher that TOMCRYPT_DESCRIPTOR names. */
#ifndef TOMCRYPT_ADAPTER_ECB_H
#define TOMCRYPT_ADAPTER_ECB_H

#undef TAB_SIZE /* older releases set it themselves */
#include "tomcrypt.h"

struct cipher_context {
    symmetric_ECB mode;
};

#endif
