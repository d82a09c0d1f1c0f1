/* LibTomCrypt's CCM in one call, on a schedule made at set-up. */
#ifndef TOMCRYPT_ADAPTER_CCM_H
#define TOMCRYPT_ADAPTER_CCM_H

#undef TAB_SIZE /* older releases set it themselves */
#include "tomcrypt.h"

struct cipher_context {
    symmetric_key key;
    uint8_t key_bytes;
};

#endif
