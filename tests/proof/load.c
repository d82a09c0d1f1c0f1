/* load.c: what a start finds, for any content of the cells.
 *
 * Each slot holds a record with a right check value, or any content: see `right`. That a check value is right
 * by chance depends on the cipher and is not covered here.
 */
#include "cells.h"

static uint8_t right[SLOTS], head_right, asked;

void link_prf(const uint8_t *key, uint8_t *out, uint8_t bytes) {
    uint8_t at = asked == 0 ? AT_CHECK : (uint8_t)(slot_at(asked - 1) + CHECKED_BYTES);
    uint8_t good = asked == 0 ? head_right : right[asked - 1];

    for (uint8_t i = 0; i < CHECK_BYTES; i++) {
        out[i] = cells[at + i];
    }
    if (!good) {
        uint8_t wrong = nondet_byte();

        __CPROVER_assume(wrong != out[0]); /* which byte of it is wrong is all the same */
        out[0] = wrong;
    }
    asked++;
}

static uint64_t half(uint8_t slot, uint8_t from) { /* the record's fields, from the weightiest one down */
    uint64_t value = 0;

    for (uint8_t i = 8; i-- > 0;) {
        value = value << 8 | cells[slot_at(slot) + from + i];
    }
    return value;
}

static uint8_t sound(uint8_t slot) {
    return right[slot];
}

int main(void) {
    static struct link link;
    uint8_t any = 0, damaged = 0, one = nondet_byte() % SLOTS, status, copies = 0;
    uint64_t high, low;

    for (uint8_t i = 0; i < AT_SLOTS; i++) {
        cells[i] = nondet_byte();
    }
    for (uint8_t slot = 0; slot < SLOTS; slot++) {
        uint8_t *record = cells + slot_at(slot);

        record[2] = nondet_byte();  /* its salt, */
        record[8] = nondet_byte();  /* send counter */
        record[15] = nondet_byte(); /* and epoch; of an erased slot, 0xff */
    }
    head_right = nondet_byte() & 1;
    for (uint8_t slot = 0; slot < SLOTS; slot++) {
        right[slot] = nondet_byte() & 1;
        any = any || sound(slot);
        damaged = damaged || (!sound(slot) && cells[slot_at(slot) + CHECKED_BYTES - 1] != 0xff);
    }
    status = link_load_record(&link);
    if (status != LINK_NOTHING) {
        PROVE(status == LINK_NO_KEY ? !head_right || (cells[0] | 1) != 3 || cells[1] > 63 || cells[3] < 12
                                    : !any,
              "a start fails only for want of a key, or of any record");
        return 0;
    }
    PROVE(head_right && any, "nothing begins without a key and a record");
    PROVE(link.node <= LINK_BROADCAST && link.packet_bytes >= LINK_PACKET_MIN, "the key block is sound");
    PROVE(link.slot < SLOTS && sound(link.slot), "the record taken has the right check value");
    high = half(link.slot, 8);
    low = half(link.slot, 0);
    PROVE(!sound(one) || half(one, 8) < high || (half(one, 8) == high && half(one, 0) <= low),
          "no sound record is newer");
    PROVE(link.record.receive == (uint32_t)(low >> 32) && link.record.epoch == (uint32_t)(high >> 32),
          "its receive counter and its epoch are taken");
    PROVE(link.record.send ==
              (uint32_t)high +
                  (damaged && (uint32_t)high <= UINT32_MAX - LINK_SEND_BLOCK ? LINK_SEND_BLOCK : 0),
          "its send counter is taken, a block later where a slot is damaged");
    for (uint8_t slot = 0; slot < SLOTS; slot++) {
        copies += sound(slot) && half(slot, 8) == high && half(slot, 0) == low;
    }
    one = (uint8_t)((link.slot + 1) % SLOTS);
    PROVE(copies > 2 || !sound(one) || half(one, 8) != high || half(one, 0) != low,
          "the next record is not written over the second copy of this one");
    return 0;
}
