/* save.c: what link_save does to the cells, for any content, any moment of power loss and any stuck cell.
 *
 * K is the slot that was written last. The next two take the record; a third where a cell of these is stuck.
 */
#include "cells.h"

#ifndef K
#define K 0
#endif

static uint8_t record[SLOT_BYTES]; /* with its check value */

void link_prf(const uint8_t *key, uint8_t *out, uint8_t bytes) {
    for (uint8_t i = 0; i < CHECK_BYTES; i++) {
        out[i] = record[CHECKED_BYTES + i];
    }
}

static uint8_t holds(uint8_t slot) {
    uint8_t same = 1;

    for (uint8_t i = 0; i < SLOT_BYTES; i++) {
        same = same && cells[slot_at(slot) + i] == record[i];
    }
    return same;
}

int main(void) {
    static struct link link;
    static uint8_t before[LINK_STORAGE_BYTES];
    uint8_t first, second, third, whole;

    for (uint8_t i = 0; i < SLOT_BYTES; i++) {
        record[i] = nondet_byte();
    }
    for (uint8_t i = 0; i < LINK_STORAGE_BYTES; i++) {
        cells[i] = before[i] = nondet_byte();
    }
    memcpy(&link.record, record, sizeof link.record);
    link.slot = K;
    stuck = nondet_byte();
    writes_left = nondet_byte();
    whole = link_save(&link) && power;
    first = holds(K + 1);
    second = holds(K + 2);
    third = holds(K + 3);
    PROVE(!whole || first + second + third >= 2, "what link_save tells is kept lies in two slots");
    PROVE(!whole || holds(link.slot), "the last of them is known as such");
    PROVE(whole || !power, "one stuck cell does not stop a node");
    for (uint8_t i = 0; i < LINK_STORAGE_BYTES; i++) {
        uint8_t behind = (uint8_t)((i - AT_SLOTS) / SLOT_BYTES + SLOTS - K) % SLOTS;

        PROVE((i >= AT_SLOTS && behind >= 1 && behind <= 3) || cells[i] == before[i],
              "no other slot is touched, and no key");
        PROVE(stuck < LINK_STORAGE_BYTES || behind != 3 || i < AT_SLOTS || cells[i] == before[i],
              "without a stuck cell two slots are enough");
        PROVE(behind != 2 || i < AT_SLOTS || first || cells[i] == before[i] ||
                  (stuck >= slot_at(K + 1) && stuck < slot_at(K + 1) + SLOT_BYTES),
              "the second copy is begun when the first is whole");
    }
    return 0;
}
