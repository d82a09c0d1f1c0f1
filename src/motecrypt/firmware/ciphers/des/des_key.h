/* des_key.h: which bits of a DES key enter which round.
 *
 * FIPS 46-3 rotates C and D before each round. Nothing is rotated here: the rotation becomes an offset. All
 * table indices are public.
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

/* One bit (0 or 1) of C and D as they are before any rotation; `place` from 0. Any bit under the mask carries
 * into the ninth bit of the sum: no branch is needed to see it. */
static inline __attribute__((always_inline)) uint8_t des_key_bit(const uint8_t *key, uint8_t place) {
    const uint8_t bit = TABLE_READ8(&des_pc1[place]);
    const uint8_t chosen = key[bit >> 3] & TABLE_READ8(&des_masks[bit & 7]);
    return (uint8_t)((uint16_t)(chosen + 0xff) >> 8);
}

/* Where a bit that PC-2 names (`chosen`: its table entry) was before C or D was rotated. Boxes 1 to 4 take
 * their
 * bits from C, which `end`s at 28, boxes 5 to 8 from D, which ends at 56. */
static inline __attribute__((always_inline)) uint8_t des_key_place(const uint8_t *chosen, uint8_t rotation,
                                                                   uint8_t end) {
    const uint8_t place = (uint8_t)(TABLE_READ8(chosen) + rotation);
    return place >= end ? (uint8_t)(place - 28) : place;
}

#endif
