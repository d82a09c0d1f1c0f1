/* polyval.h: the multiplication of POLYVAL (RFC 8452, section 3), on which HCTR2 hashes. */
#ifndef MOTECRYPT_POLYVAL_H
#define MOTECRYPT_POLYVAL_H

#include <stdint.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "polyval reads blocks as words where they lie: little-endian cores only"
#endif

/* sum = sum * factor * x^-128 in GF(2^128), polynomials of 128 bits with the lowest term first. */
void polyval_multiply(uint32_t *sum, const uint32_t *factor);

/* The product of two polynomials of 32 bits over GF(2), 64 bits: from clmul_bytes.c or clmul_words.c. */
void clmul32(uint32_t *product, uint32_t a, uint32_t b);

#endif
