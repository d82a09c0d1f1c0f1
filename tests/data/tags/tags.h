#ifndef TAGS_H
#define TAGS_H

#include <stdint.h>

struct cipher_context {
    uint8_t key[16];
};

#endif
