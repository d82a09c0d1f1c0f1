/* LibTomCrypt's RC4. cipher.h wants the same keystream for every message of a context: the state is kept
 * as the key left it, and each message runs on a copy. */
#ifndef TOMCRYPT_ADAPTER_RC4_H
#define TOMCRYPT_ADAPTER_RC4_H

#undef TAB_SIZE /* older releases set it themselves */
#include "tomcrypt.h"

struct cipher_context {
    rc4_state state;
};

#endif
