/* tiny-AES-c in cipher block chaining: its own context is ours. */
#ifndef TINY_AES_CBC_H
#define TINY_AES_CBC_H

#include "aes.h"

struct cipher_context {
    struct AES_ctx aes;
};

#endif
