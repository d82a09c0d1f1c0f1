/* poly1305.c: our Poly1305 in C. */
#include "poly1305_bytes.c"
