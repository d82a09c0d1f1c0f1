/* What the benchmark keeps for this library: the state as the key left it. */
#ifndef MYLIBRARY_RC4_H
#define MYLIBRARY_RC4_H

#include "arcfour.h"

struct cipher_context {
    arcfour_t rc4;
};

#endif
