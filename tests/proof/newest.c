/* newest.c: the step by which a start finds the newest record, for any two records.
 *
 * `take_newest` sees the sound records one after the other. What holds after each, whatever came before, holds
 * after the last.
 */
#include "cells.h"

uint8_t nondet_byte(void);

void link_prf(const uint8_t *key, uint8_t *out, uint8_t bytes) {
}

/* Whether one record is newer than another: each is a number, the weightiest byte last. */
static uint8_t newer(const uint8_t *one, const uint8_t *other) {
    for (uint8_t i = CHECKED_BYTES; i-- > 0;) {
        if (one[i] != other[i]) {
            return one[i] > other[i];
        }
    }
    return 0;
}

int main(void) {
    static struct link link;
    uint8_t before[CHECKED_BYTES], read[CHECKED_BYTES], seen[CHECKED_BYTES],
        *newest = (uint8_t *)&link.record;
    uint8_t slot = nondet_byte(), first = nondet_byte(), copy = nondet_byte(), found = nondet_byte() & 1;
    uint8_t two = nondet_byte() & 1, now, same;

    __CPROVER_assume(slot < SLOTS);
    __CPROVER_assume(!found || first < slot);
    __CPROVER_assume(!two || (found && copy < slot && copy != first && (first + 1) % SLOTS != copy));
    for (uint8_t i = 0; i < CHECKED_BYTES; i++) {
        before[i] = newest[i] = found ? nondet_byte() : 0;
        read[i] = nondet_byte();
        seen[i] = nondet_byte();
    }
    if (!found) { /* as a start begins: the key's generation, and no counters */
        before[2] = newest[2] = read[2];
        before[3] = newest[3] = read[3];
    }
    __CPROVER_assume(!found || !newer(seen, before)); /* `seen` is any record that came before */
    link.slot = found ? first : 0;

    now = take_newest(&link, read, slot, found);

    same = !differ(newest, before, CHECKED_BYTES);
    PROVE(now == 1, "a sound record is found");
    PROVE(!differ(newest, read, CHECKED_BYTES) || (found && same),
          "the newest is this one, or the one so far");
    PROVE(!newer(read, newest), "this one is not newer");
    PROVE(!found || !newer(seen, newest), "and none that came before");
    PROVE(link.slot == slot ? !differ(newest, read, CHECKED_BYTES) : found && same && link.slot == first,
          "the place is that of the newest");
    if (found && !differ(read, before, CHECKED_BYTES) && !two) {
        uint8_t other = link.slot == slot ? first : slot;

        PROVE((link.slot + 1) % SLOTS != other, "the next record is not written over the second copy");
    }
    PROVE(!two || newer(read, before) || !differ(read, before, CHECKED_BYTES) || link.slot == first,
          "an older record changes nothing");
    return 0;
}
