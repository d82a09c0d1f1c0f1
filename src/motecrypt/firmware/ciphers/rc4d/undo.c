/* undo.c: RC4D without a copy of the S-box and without a second buffer. See rc4d.h for the letters.
 *
 * What a step does to the S-box depends on the key and on the number of the step, never on the message. So
 * a pass can run on the S-box itself and then take its swaps back, last first: after a step S[i] and S[j]
 * are exchanged, so exchanging them again restores both, and what S[i] then holds is what the step had
 * added to j. Nothing has to be remembered but j and the length.
 *
 * With RC4D_P (and not RC4D_E) that S-box is the one in the context. Otherwise it is made, or read from
 * EEPROM, once for a message instead of once for each pass.
 */
#include "sbox.h"

/* One pass, and the S-box as it was before. `decrypt` says on which side the ciphertext is. */
static __attribute__((noinline)) void transform(uint8_t *sbox, uint8_t *message, size_t bytes,
                                                uint8_t decrypt) {
    const uint8_t *end = message + bytes;
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
        fed = *message;
        a ^= fed;
        *message++ = a;
        if (!decrypt) {
            fed = a;
        }
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
}

static __attribute__((noinline)) uint8_t both_passes(struct cipher_context *context,
                                                     const struct cipher_io *io, uint8_t decrypt) {
    size_t bytes = io->bytes;
    if (bytes == 0) {
        return CIPHER_OK;
    }
    uint8_t *message = io->output;
    const uint8_t *input = io->input;
    if (input != message) {
        memcpy(message, input, bytes);
    }
#if defined(RC4D_P) && !defined(RC4D_E)
    uint8_t *first = context->sbox[decrypt ? SECOND : FIRST];
    uint8_t *second = context->sbox[decrypt ? FIRST : SECOND];
#else
    uint8_t sbox[256];
    take_sbox(sbox, context, FIRST);
    uint8_t *first = sbox;
    uint8_t *second = sbox;
#endif
    transform(first, message, bytes, decrypt);
    reverse(message, bytes);
    transform(second, message, bytes, decrypt);
    return CIPHER_OK;
}

uint8_t cipher_encrypt(struct cipher_context *context, const struct cipher_io *io) {
    return both_passes(context, io, ENCRYPTING);
}

uint8_t cipher_decrypt(struct cipher_context *context, const struct cipher_io *io) {
    return both_passes(context, io, DECRYPTING);
}
