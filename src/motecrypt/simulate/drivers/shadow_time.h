/* SPDX-License-Identifier: MIT
 * shadow_time.h: how deep the stack was over a whole run, in at most SHADOW_SLOTS equal slots of time. It
 * does not know how long the run will be: when a time is beyond the last slot, each two become one. A slot
 * keeps the least stack pointer that was in it, and the function that ran with it. Part of shadow.h.
 */
#ifndef MOTECRYPT_SHADOW_TIME_H
#define MOTECRYPT_SHADOW_TIME_H

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { SHADOW_SLOTS = 1 << 10 };

struct shadow_slot {
    uint32_t sp, function; /* sp is 0 where nothing is known */
};

struct shadow_time {
    uint32_t top;   /* the stack pointer at the beginning; 0: not known yet */
    uint32_t shift; /* a slot has 2 to this power of cycles */
    uint32_t used;
    struct shadow_slot slots[SHADOW_SLOTS];
};

static inline void shadow_slot_least(struct shadow_slot *slot, struct shadow_slot other) {
    if (other.sp != 0 && (slot->sp == 0 || other.sp < slot->sp)) {
        *slot = other;
    }
}

static inline void shadow_time_halve(struct shadow_time *t) {
    for (uint32_t i = 0; i < SHADOW_SLOTS / 2; i++) {
        struct shadow_slot both = t->slots[2 * i];
        shadow_slot_least(&both, t->slots[2 * i + 1]);
        t->slots[i] = both;
    }
    memset(t->slots + SHADOW_SLOTS / 2, 0, sizeof t->slots / 2);
    t->used = (t->used + 1) / 2;
    t->shift++;
}

/* `function` ran from one cycle up to, and without, another with the stack pointer at `sp`. */
static inline void shadow_time_span(struct shadow_time *t, uint64_t from, uint64_t to, uint32_t sp,
                                    uint32_t function) {
    if (sp == 0 || from >= to) {
        return;
    }
    if (t->top == 0) {
        t->top = sp;
    }
    while ((to - 1) >> t->shift >= SHADOW_SLOTS) {
        shadow_time_halve(t);
    }
    for (uint32_t i = (uint32_t)(from >> t->shift); i <= (uint32_t)((to - 1) >> t->shift); i++) {
        shadow_slot_least(&t->slots[i], (struct shadow_slot){sp, function});
        t->used = t->used > i ? t->used : i + 1;
    }
}

/* One JSON object in a line; nothing where no stack was seen. */
static inline void shadow_time_write(const struct shadow_time *t, FILE *out) {
    if (t->top == 0) {
        return;
    }
    fprintf(out, "{\"stack_top\":%" PRIu32 ",\"slot_cycles\":%" PRIu64 ",\"slots\":[", t->top,
            (uint64_t)1 << t->shift);
    for (uint32_t i = 0; i < t->used; i++) {
        fprintf(out, "%s[%" PRIu32 ",%" PRIu32 "]", i != 0 ? "," : "", t->slots[i].sp, t->slots[i].function);
    }
    fputs("]}\n", out);
}

#endif
