/* SPDX-License-Identifier: MIT
 * chip_touched.h: what a firmware reached though it is not modelled: registers, and the blocks that they are in, with where
 * the firmware did so first. It does not decide what is modelled (chip_known.h).
 */
#ifndef MOTECRYPT_CHIP_TOUCHED_H
#define MOTECRYPT_CHIP_TOUCHED_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { TOUCHED = 256 };

struct touched_place {
    uint32_t address, pc; /* of the first access */
    uint64_t reads, writes;
};

/* In the order of their first access. */
struct touched {
    struct touched_place registers[TOUCHED], blocks[TOUCHED];
    unsigned register_count, block_count;
};

/* Its place in a list, which it enters if there is room. NULL: there was none. */
static inline struct touched_place *touched_place(struct touched_place *list, unsigned *count, uint32_t address) {
    for (unsigned i = *count; i > 0; i--) { /* the last ones are the likeliest */
        if (list[i - 1].address == address) {
            return &list[i - 1];
        }
    }
    if (*count == TOUCHED) {
        return NULL;
    }
    list[*count] = (struct touched_place){.address = address};
    return &list[(*count)++];
}

static inline void touched_count(struct touched_place *place, bool is_write) {
    place->reads += !is_write;
    place->writes += is_write;
}

/* An access to the register at `address` of the block at `base`. True: it is the block's first, whose `pc` the caller sets. */
static inline bool touch(struct touched *touched, uint32_t address, uint32_t base, bool is_write) {
    struct touched_place *place = touched_place(touched->registers, &touched->register_count, address);
    unsigned before = touched->block_count;
    struct touched_place *block = touched_place(touched->blocks, &touched->block_count, base);
    if (place != NULL) {
        touched_count(place, is_write);
    }
    if (block != NULL) {
        touched_count(block, is_write);
    }
    return touched->block_count != before;
}

static inline void touched_at(struct touched *touched, uint32_t pc) {
    touched->blocks[touched->block_count - 1].pc = pc;
}

/* Writes an address's name, or nothing. */
typedef void touched_name(void *context, uint32_t address, bool is_block, char *out, size_t size);

/* One line of JSON for each, as events. */
static inline void touched_tell(const struct touched *touched, touched_name *name, void *context, FILE *events) {
    char text[80];
    for (unsigned i = 0; i < touched->register_count; i++) {
        const struct touched_place *place = &touched->registers[i];
        name(context, place->address, false, text, sizeof text);
        fprintf(events,
                "{\"event\":\"touched\",\"address\":%" PRIu32 ",\"name\":\"%s\",\"reads\":%" PRIu64 ",\"writes\":%" PRIu64 "}\n",
                place->address, text, place->reads, place->writes);
    }
    for (unsigned i = 0; i < touched->block_count; i++) {
        const struct touched_place *place = &touched->blocks[i];
        name(context, place->address, true, text, sizeof text);
        fprintf(events,
                "{\"event\":\"unmodelled\",\"address\":%" PRIu32 ",\"name\":\"%s\",\"pc\":%" PRIu32 ",\"reads\":%" PRIu64
                ",\"writes\":%" PRIu64 "}\n",
                place->address, text, place->pc, place->reads, place->writes);
    }
}

#endif
