/* opt.c: RC4 with a fresh S-box for every message, by hand for avr-gcc -Os. See rc4.h for the letters. With
 * RC4_I one pointer walks the message; without, it is read from one buffer and written to another.
 */
#include "sbox.h"

uint8_t cipher_encrypt(struct cipher_context *context, const struct cipher_io *io) {
    uint8_t sbox[256];
    take_sbox(sbox, context);
    uint8_t *output = io->output;
    const uint8_t *input = io->input;
    size_t bytes = io->bytes;
#ifdef RC4_I
    if (input != output) {
        memcpy(output, input, bytes);
    }
#endif
    uint8_t i = 0;
    uint8_t j = 0;
    while (bytes != 0) {
        i++;
        uint8_t *p = sbox + i;
        uint8_t a = *p;
        j = (uint8_t)(j + a);
        uint8_t *q = sbox + j;
        IN_Z(q);
        uint8_t b = *q;
        *q = a;
        *p = b;
        q = sbox + (uint8_t)(a + b);
        IN_Z(q);
#ifdef RC4_I
        *output++ ^= *q;
#else
        *output++ = *input++ ^ *q;
#endif
        bytes--;
    }
    return CIPHER_OK;
}

/* The same keystream undoes itself. */
uint8_t cipher_decrypt(struct cipher_context *context, const struct cipher_io *io)
    __attribute__((alias("cipher_encrypt")));
