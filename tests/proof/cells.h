/* cells.h: storage of which one cell may be stuck, and whose power may go at any write. */
#ifndef CELLS_H
#define CELLS_H

#include <stddef.h>
#include <stdint.h>

/* Byte by byte, which is less to solve than CBMC's own with their lengths that may be any. */
static void copy(void *to, const void *from, size_t bytes) {
    for (size_t i = 0; i < bytes; i++) {
        ((uint8_t *)to)[i] = ((const uint8_t *)from)[i];
    }
}

static int differ(const void *one, const void *other, size_t bytes) {
    int found = 0;

    for (size_t i = 0; i < bytes; i++) {
        found |= ((const uint8_t *)one)[i] != ((const uint8_t *)other)[i];
    }
    return found;
}

#include <string.h>
#define memcpy copy
#define memcmp differ
#include "../../src/motecrypt/firmware/link/store.c"

#define PROVE(claim, property) __CPROVER_assert(claim, property)

uint8_t nondet_byte(void);
uint32_t nondet_number(void);

static uint8_t cells[LINK_STORAGE_BYTES];
static uint8_t stuck = 0xff; /* the cell that keeps nothing, or none */
static uint8_t power = 1, writes_left;

void link_load(struct link *link, uint8_t at, uint8_t *to, uint8_t bytes) {
    PROVE(at + bytes <= LINK_STORAGE_BYTES, "nothing behind the end of storage is read");
    for (uint8_t i = 0; i < bytes; i++) {
        to[i] = cells[at + i];
    }
}

void link_store(struct link *link, uint8_t at, const uint8_t *from, uint8_t bytes) {
    PROVE(at + bytes <= LINK_STORAGE_BYTES, "nothing behind the end of storage is written");
    for (uint8_t i = 0; i < bytes; i++) {
        if (power && (uint8_t)(at + i) != stuck) {
            cells[at + i] = writes_left > 0 ? from[i] : nondet_byte();
        }
        power = power && writes_left > 0; /* it goes while a cell is written */
        writes_left = (uint8_t)(writes_left - power);
    }
}

void link_key(struct link *link, uint8_t id) {
}

static uint8_t slot_at(uint8_t slot) {
    return (uint8_t)(AT_SLOTS + SLOT_BYTES * (slot % SLOTS));
}

#endif
