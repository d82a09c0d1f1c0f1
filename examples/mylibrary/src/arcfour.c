#include "arcfour.h"

static void swap(arcfour_t *rc4, unsigned char a, unsigned char b) {
    unsigned char kept = rc4->box[a];
    rc4->box[a] = rc4->box[b];
    rc4->box[b] = kept;
}

void arcfour_init(arcfour_t *rc4, const unsigned char *key, size_t length) {
    unsigned n;
    unsigned char j = 0;
    for (n = 0; n < 256; n++) {
        rc4->box[n] = (unsigned char)n;
    }
    for (n = 0; n < 256; n++) {
        j = (unsigned char)(j + rc4->box[n] + key[n % length]);
        swap(rc4, (unsigned char)n, j);
    }
    rc4->i = 0;
    rc4->j = 0;
}

void arcfour_crypt(arcfour_t *rc4, unsigned char *data, size_t length) {
    size_t n;
    for (n = 0; n < length; n++) {
        rc4->i++;
        rc4->j = (unsigned char)(rc4->j + rc4->box[rc4->i]);
        swap(rc4, rc4->i, rc4->j);
        data[n] ^= rc4->box[(unsigned char)(rc4->box[rc4->i] + rc4->box[rc4->j])];
    }
}
