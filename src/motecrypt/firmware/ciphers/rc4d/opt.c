/* opt.c: RC4D as its source does it (a fresh S-box for every pass), by hand for avr-gcc -Os. See rc4d.h for
 * the letters. With RC4D_I a pass walks one pointer, so that S-box and message have a register each;
 * without, it reads from one buffer and writes to another. Neither needs a second buffer: the passes
 * meet in the output.
 */
#include "sbox.h"

/* One pass. Both directions feed the byte of the ciphertext forward: `decrypt` says on which side it is. */
#ifdef RC4D_I
#define READ_BYTE() (*output)
static __attribute__((noinline)) void transform(uint8_t *sbox, uint8_t *output, size_t bytes,
                                                uint8_t decrypt) {
#else
#define READ_BYTE() (*input++)
static __attribute__((noinline)) void transform(uint8_t *sbox, uint8_t *output, size_t bytes, uint8_t decrypt,
                                                const uint8_t *input) {
#endif
    const uint8_t *end = output + bytes;
    uint8_t i = 0;
    uint8_t j = 0;
    uint8_t fed = RC4D_IV;
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
        a = *q;
        q = sbox + fed;
        IN_Z(q);
        a ^= *q;
        fed = READ_BYTE();
        a ^= fed;
        *output++ = a;
        if (!decrypt) {
            fed = a;
        }
    } while (output != end);
}

static __attribute__((noinline)) uint8_t both_passes(const struct cipher_context *context,
                                                     const struct cipher_io *io, uint8_t decrypt) {
    uint8_t sbox[256];
    size_t bytes = io->bytes;
    if (bytes == 0) {
        return CIPHER_OK;
    }
    uint8_t *output = io->output;
    const uint8_t *input = io->input;
    take_sbox(sbox, context, decrypt ? SECOND : FIRST);
#ifdef RC4D_I
    if (input != output) {
        memcpy(output, input, bytes);
    }
    transform(sbox, output, bytes, decrypt);
#else
    transform(sbox, output, bytes, decrypt, input);
#endif
    reverse(output, bytes);
    take_sbox(sbox, context, decrypt ? FIRST : SECOND);
#ifdef RC4D_I
    transform(sbox, output, bytes, decrypt);
#else
    transform(sbox, output, bytes, decrypt, output);
#endif
    return CIPHER_OK;
}

uint8_t cipher_encrypt(struct cipher_context *context, const struct cipher_io *io) {
    return both_passes(context, io, ENCRYPTING);
}

uint8_t cipher_decrypt(struct cipher_context *context, const struct cipher_io *io) {
    return both_passes(context, io, DECRYPTING);
}
