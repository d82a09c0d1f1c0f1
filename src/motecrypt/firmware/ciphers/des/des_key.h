/* des_key.h: the bits of a DES round key, picked from the key as it was given.
 *
 * FIPS 46-3 rotates C and D before each round. Nothing is rotated here: the rotation becomes an offset into
 * PC-1, so that a key needs no other form than its eight bytes. All table indices are public.
 */
#ifndef MOTECRYPT_DES_KEY_H
#define MOTECRYPT_DES_KEY_H

#include <stdint.h>
#include "des_boxes.h"

/* DES or, with a key of 24 bytes, triple DES (encrypt, decrypt, encrypt: SP 800-67). */
#if CIPHER_KEY_BYTES_MAX >= 24
#define DES_PASSES 3
#else
#define DES_PASSES 1
#endif

#define DES_ROUNDS 16

/* By how many places C and D have been rotated in each round. */
TABLE uint8_t des_rotations[DES_ROUNDS] = {1, 2, 4, 6, 8, 10, 12, 14, 15, 17, 19, 21, 23, 25, 27, 28};

/* The bits of a byte, first one highest. A shift by a variable amount is a loop on AVR. */
TABLE uint8_t des_masks[8] = {0x80, 0x40, 0x20, 0x10, 0x08, 0x04, 0x02, 0x01};

/* The six bits of a round's key that enter S-box `box` (0 to 7), first bit highest. */
static inline uint8_t des_key_bits(const uint8_t key[8], uint8_t round, uint8_t box) {
    const uint8_t rotation = TABLE_READ8(&des_rotations[round]);
    const uint8_t end = box < 4 ? 28 : 56; /* boxes 1 to 4 take their bits from C, 5 to 8 from D */
    uint8_t bits = 0;
    for (uint8_t i = 0; i < 6; i++) {
        uint8_t place = (uint8_t)(TABLE_READ8(&des_pc2[6 * box + i]) + rotation);
        if (place >= end) {
            place = (uint8_t)(place - 28);
        }
        const uint8_t bit = TABLE_READ8(&des_pc1[place]);
        /* any bit under the mask carries into the ninth bit of the sum: no branch is needed to see it */
        const uint8_t chosen = key[bit >> 3] & TABLE_READ8(&des_masks[bit & 7]);
        bits = (uint8_t)((bits << 1) | (uint8_t)((uint16_t)(chosen + 0xff) >> 8));
    }
    return bits;
}

#endif
