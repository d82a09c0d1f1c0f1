/* early_exit.h: the context of the toy. */
#ifndef EARLY_EXIT_H
#define EARLY_EXIT_H

#include "cipher.h"

struct cipher_context {
    uint8_t key[16];
};

#endif
