/* bench_cipher.h: the context of bench_harness.c's cipher. */
#ifndef BENCH_CIPHER_H
#define BENCH_CIPHER_H

#include <stdint.h>

struct cipher_context {
    uint8_t key, kept[260];
};

#endif
