/* undo.c: RC4 on the precomputed S-box itself, without a copy: what a step does to the S-box depends on the
 * key and on the number of the step alone, so its swaps are taken back, last first. After a step S[i] and
 * S[j] are exchanged; exchanging them again restores both, and what S[i] then holds is what the step
 * had added to j.
 */
#include "sbox.h"

uint8_t cipher_encrypt(struct cipher_context *context, const struct cipher_io *io) {
    uint8_t *sbox = context->sbox;
    size_t bytes = io->bytes;
    uint8_t *message = io->output;
    const uint8_t *input = io->input;
    if (bytes == 0) {
        return CIPHER_OK;
    }
    if (input != message) {
        memcpy(message, input, bytes);
    }
    const uint8_t *end = message + bytes;
    uint8_t i = 0;
    uint8_t j = 0;
    do {
        i++;
        uint8_t *p = sbox + i;
        IN_X(p);
        uint8_t a = *p;
        j = (uint8_t)(j + a);
        uint8_t *q = sbox + j;
        IN_Z(q);
        uint8_t b = *q;
        *q = a;
        *p = b;
        q = sbox + (uint8_t)(a + b);
        IN_Z(q);
        *message++ ^= *q;
    } while (message != end);
    do { /* i is the low byte of what is left */
        uint8_t *p = sbox + (uint8_t)bytes;
        IN_X(p);
        uint8_t *q = sbox + j;
        IN_Z(q);
        uint8_t a = *p;
        uint8_t b = *q;
        *q = a;
        *p = b;
        j = (uint8_t)(j - b);
        bytes--;
    } while (bytes != 0);
    return CIPHER_OK;
}

/* The same keystream undoes itself. */
uint8_t cipher_decrypt(struct cipher_context *context, const struct cipher_io *io)
    __attribute__((alias("cipher_encrypt")));
