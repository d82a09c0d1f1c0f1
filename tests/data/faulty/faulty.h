#ifndef FAULTY_H
#define FAULTY_H
#include <stdint.h>

struct cipher_context {
    uint8_t key[16];
#ifdef FAULT_LARGE
    uint8_t ballast[2338];
#endif
};

#endif
