/* SPDX-License-Identifier: MIT
 * bounds.h: the lesser and the greater of two numbers.
 */
#ifndef MOTECRYPT_BOUNDS_H
#define MOTECRYPT_BOUNDS_H

#include <stdint.h>

static inline uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static inline uint64_t most(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

#endif
