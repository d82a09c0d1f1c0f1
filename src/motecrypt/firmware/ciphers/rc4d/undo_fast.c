/* undo_fast.c: as undo.c, for the fewest cycles: a loop for each direction, S-box pointers that walk, and
 * a decryption whose second pass is done on the way back.
 *
 * That last is possible because decryption feeds forward a byte it already has: given the message in
 * between, its steps can be done in any order, so also from the last to the first, each just before its
 * swap is taken back. With two keys there are two S-boxes and no common way back.
 *
 * The steps of a message have the indices 1, 2, .. 255, 0, 1, ..; a pointer walks up to S[255] and begins
 * again at S[0]. The loops are in two levels, so that the inner one has one 8-bit counter to look at.
 */
#include "sbox.h"

/* Steps of the next inner loop, at most `room`; taken from `bytes`. As a byte, 0 means 256. */
static inline uint8_t part_of(size_t *bytes, uint16_t room) {
    size_t part = *bytes < room ? *bytes : room;
    *bytes -= part;
    return (uint8_t)part;
}

/* One pass forward. Returns j, from which undo() or backward() finds its way. */
static inline __attribute__((always_inline)) uint8_t forward(uint8_t *sbox, uint8_t *message, size_t bytes,
                                                             uint8_t decrypt) {
    uint8_t *p = sbox + 1;
    uint16_t room = 255;
    uint8_t j = 0;
    uint8_t fed = RC4D_IV;
    do {
        uint8_t left = part_of(&bytes, room);
        do {
            uint8_t a = *p;
            j = (uint8_t)(j + a);
            uint8_t *q = sbox + j;
            IN_Z(q);
            uint8_t b = *q;
            *q = a;
            *p++ = b;
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
            left--;
        } while (left != 0);
        p = sbox;
        room = 256;
    } while (bytes != 0);
    return j;
}

static __attribute__((noinline)) uint8_t encrypt_forward(uint8_t *sbox, uint8_t *message, size_t bytes) {
    return forward(sbox, message, bytes, ENCRYPTING);
}

static __attribute__((noinline)) uint8_t decrypt_forward(uint8_t *sbox, uint8_t *message, size_t bytes) {
    return forward(sbox, message, bytes, DECRYPTING);
}

/* Take the swaps of a pass back. */
static __attribute__((noinline)) void undo(uint8_t *sbox, size_t bytes, uint8_t j) {
    uint16_t room = (uint16_t)((uint8_t)bytes + 1);
    uint8_t *p = sbox + room;
    do {
        uint8_t left = part_of(&bytes, room);
        do {
            uint8_t a = *--p;
            uint8_t *q = sbox + j;
            uint8_t b = *q;
            *q = a;
            *p = b;
            j = (uint8_t)(j - b);
            left--;
        } while (left != 0);
        p = sbox + 256;
        room = 256;
    } while (bytes != 0);
}

#if RC4D_KEYS == 1
/* Decrypt from the last step to the first, and take each swap back. The message is the reverse of what the
 * steps are numbered by: the last step has the first byte. */
static __attribute__((noinline)) void decrypt_backward(uint8_t *sbox, uint8_t *message, size_t bytes,
                                                       uint8_t j) {
    const uint8_t *last = message + bytes - 1;
    uint8_t i = (uint8_t)bytes;
    uint8_t in = *message;
    for (;;) {
        uint8_t *p = sbox + i;
        IN_X(p);
        uint8_t a = *p;
        uint8_t *q = sbox + j;
        IN_Z(q);
        uint8_t b = *q;
        q = sbox + (uint8_t)(a + b);
        IN_Z(q);
        in ^= *q;
        uint8_t fed = message == last ? RC4D_IV : message[1];
        q = sbox + fed;
        IN_Z(q);
        in ^= *q;
        q = sbox + j;
        IN_Z(q);
        *q = a;
        *p = b;
        j = (uint8_t)(j - b);
        i--;
        *message = in;
        in = fed;
        if (message == last) {
            return;
        }
        message++;
    }
}
#endif

#ifdef RC4D_P
#define SBOX_OF(pass) context->sbox[pass]
#else
#define SBOX_OF(pass) sbox
#endif

uint8_t cipher_encrypt(struct cipher_context *context, const struct cipher_io *io) {
    size_t bytes = io->bytes;
    if (bytes == 0) {
        return CIPHER_OK;
    }
    uint8_t *message = io->output;
    const uint8_t *input = io->input;
    if (input != message) {
        memcpy(message, input, bytes);
    }
#ifndef RC4D_P
    uint8_t sbox[256];
    take_sbox(sbox, context, FIRST);
#endif
    uint8_t j = encrypt_forward(SBOX_OF(FIRST), message, bytes);
    undo(SBOX_OF(FIRST), bytes, j);
    reverse(message, bytes);
    j = encrypt_forward(SBOX_OF(SECOND), message, bytes);
#ifdef RC4D_P
    undo(SBOX_OF(SECOND), bytes, j);
#else
    (void)j; /* the S-box on the stack is done with */
#endif
    return CIPHER_OK;
}

uint8_t cipher_decrypt(struct cipher_context *context, const struct cipher_io *io) {
    size_t bytes = io->bytes;
    if (bytes == 0) {
        return CIPHER_OK;
    }
    uint8_t *message = io->output;
    const uint8_t *input = io->input;
    if (input != message) {
        memcpy(message, input, bytes);
    }
#ifndef RC4D_P
    uint8_t sbox[256];
    take_sbox(sbox, context, FIRST);
#endif
    uint8_t j = decrypt_forward(SBOX_OF(SECOND), message, bytes);
#if RC4D_KEYS == 1
    decrypt_backward(SBOX_OF(FIRST), message, bytes, j);
    reverse(message, bytes);
#else
    undo(SBOX_OF(SECOND), bytes, j);
    reverse(message, bytes);
    j = decrypt_forward(SBOX_OF(FIRST), message, bytes);
    undo(SBOX_OF(FIRST), bytes, j);
#endif
    return CIPHER_OK;
}
