/* SPDX-License-Identifier: MIT
 * bounds.h: the lesser and the greater of two numbers, and how many elements an array has.
 */
#ifndef MOTECRYPT_BOUNDS_H
#define MOTECRYPT_BOUNDS_H

#include <stdint.h>

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static inline uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static inline uint64_t most(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

#endif
