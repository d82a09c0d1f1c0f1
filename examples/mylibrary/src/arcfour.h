/* The library itself: RC4 in plain C. It does not depend on motecrypt. */
#ifndef ARCFOUR_H
#define ARCFOUR_H

#include <stddef.h>

typedef struct {
    unsigned char box[256];
    unsigned char i;
    unsigned char j;
} arcfour_t;

void arcfour_init(arcfour_t *rc4, const unsigned char *key, size_t length);
void arcfour_crypt(arcfour_t *rc4, unsigned char *data, size_t length);

#endif
