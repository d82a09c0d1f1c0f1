/* stub_cipher.h: a cipher that protects nothing, and whose tags are right unless they begin with 0xa5. */
#ifndef STUB_CIPHER_H
#define STUB_CIPHER_H

#include <stdint.h>

struct cipher_context {
    uint8_t tag_bytes;
};

#endif
