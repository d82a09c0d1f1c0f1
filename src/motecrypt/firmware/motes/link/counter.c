/* counter.c: see counter.h.
 *
 * Numbers are claimed in blocks: a slot holds the first number that is not claimed yet, so power loss
 * skips at most a block, and the memory is written once a block (100,000 writes a cell, by the
 * datasheet, are then 51 million messages over the slots). Slots are written in turn: a write cut short
 * damages the oldest slot only, and the numbers it would have claimed were not used yet.
 */
#include "counter.h"

#include <stdbool.h>

#include "crc8.h"
#include "mote.h"

enum { SLOTS = 8, SLOT_BYTES = 5, BLOCK = 64 };

/* The number in a slot; *valid tells whether its CRC is right; *fresh stays true only for erased memory. */
static uint32_t slot_read(uint8_t slot, bool *valid, bool *fresh) {
    uint8_t bytes[SLOT_BYTES];
    uint32_t number = 0;

    for (uint8_t i = 0; i < SLOT_BYTES; i++) {
        bytes[i] = mote_load((uint16_t)(slot * SLOT_BYTES + i));
        if (bytes[i] != 0xff) {
            *fresh = false;
        }
        if (i < SLOT_BYTES - 1) {
            number = number << 8 | bytes[i];
        }
    }
    /* The complement of the CRC, so that neither erased nor zeroed memory passes for a number. */
    *valid = (uint8_t)(crc8(bytes, SLOT_BYTES - 1) ^ 0x55) == bytes[SLOT_BYTES - 1];
    return number;
}

static void slot_write(uint8_t slot, uint32_t number) {
    uint8_t bytes[SLOT_BYTES];

    for (uint8_t i = SLOT_BYTES - 1; i-- > 0; number >>= 8) {
        bytes[i] = (uint8_t)number;
    }
    bytes[SLOT_BYTES - 1] = crc8(bytes, SLOT_BYTES - 1) ^ 0x55;
    for (uint8_t i = 0; i < SLOT_BYTES; i++) {
        mote_store((uint16_t)(slot * SLOT_BYTES + i), bytes[i]);
    }
}

uint8_t counter_init(struct counter *counter) {
    bool fresh = true, found = false;
    uint8_t newest = SLOTS - 1;
    uint32_t highest = 0;

    for (uint8_t slot = 0; slot < SLOTS; slot++) {
        bool valid;
        uint32_t number = slot_read(slot, &valid, &fresh);

        if (valid && (!found || number > highest)) {
            found = true;
            highest = number;
            newest = slot;
        }
    }
    if (!found && !fresh) {
        return COUNTER_DAMAGED;
    }
    counter->next = counter->reserved = highest;
    counter->slot = (uint8_t)((newest + 1) % SLOTS);
    return COUNTER_OK;
}

uint8_t counter_take(struct counter *counter, uint32_t *number) {
    if (counter->next == counter->reserved) {
        if (counter->reserved > UINT32_MAX - BLOCK) {
            return COUNTER_USED_UP;
        }
        slot_write(counter->slot, counter->reserved + BLOCK);
        counter->reserved += BLOCK;
        counter->slot = (uint8_t)((counter->slot + 1) % SLOTS);
    }
    *number = counter->next++;
    return COUNTER_OK;
}
