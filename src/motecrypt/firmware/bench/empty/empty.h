/* The no-op cipher's context: what every figure is compared with (flash, RAM, cycles). */
#ifndef MOTECRYPT_EMPTY_H
#define MOTECRYPT_EMPTY_H

struct cipher_context {
    unsigned char nothing[0]; /* GNU C: an object without size */
};

#endif
