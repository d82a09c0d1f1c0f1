/* mode.c: our ChaCha20-Poly1305 around the block function of chacha-avr. */
#include "chacha20_poly1305.c"
