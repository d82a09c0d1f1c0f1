/* SPDX-License-Identifier: MIT
 * shadow_stacks.h: the shadow call stack of a firmware with several stacks, as of tasks. Its caller reports every value that
 * the stack pointer gets otherwise than by pushes, pops, calls and returns. A stack continues where it was left: so it is found
 * by the stack pointer that it had then.
 */
#ifndef MOTECRYPT_SHADOW_STACKS_H
#define MOTECRYPT_SHADOW_STACKS_H

#include "shadow.h"

/* The stack pointer is `from`, and will be elsewhere: the frames wait at the end of the list. */
static inline void shadow_keep(struct shadow *s, uint32_t from, uint64_t now) {
    struct shadow_kept *kept;
    uint32_t before = s->kept_size;
    s->kept = shadow_grow(s->kept, &s->kept_size, s->kept_count + 1, sizeof *s->kept);
    memset(s->kept + before, 0, (s->kept_size - before) * sizeof *s->kept);
    kept = &s->kept[s->kept_count++];
    kept->frames = shadow_grow(kept->frames, &kept->size, s->depth + 1, sizeof *kept->frames);
    kept->sp = from;
    kept->high = (uint32_t)most(s->high, from);
    kept->depth = s->depth;
    kept->left = now;
    kept->interrupts = s->interrupts;
    for (uint32_t i = 0; i <= s->depth; i++) {
        kept->frames[i] = s->frames[i];
        s->functions[s->frames[i].function].active--;
    }
}

/* The kept stack that continues with the stack pointer at `to`: the one that was left there, or else one that it is inside of.
 * kept_count: none. */
static inline uint32_t shadow_kept_at(const struct shadow *s, uint32_t to) {
    uint32_t found = s->kept_count;
    for (uint32_t i = 0; i < s->kept_count; i++) {
        if (s->kept[i].sp == to) {
            return i;
        }
        if (to > s->kept[i].sp && to <= s->kept[i].high && (found == s->kept_count || s->kept[i].sp > s->kept[found].sp)) {
            found = i;
        }
    }
    return found;
}

/* The stack in use is another one from now on: it continues at `to`, or begins there. */
static inline void shadow_switch(struct shadow *s, uint32_t from, uint32_t to, uint64_t now) {
    uint32_t at;
    s->has_several = true;
    shadow_charge(s, now);
    at = shadow_kept_at(s, to);
    shadow_keep(s, from, now);
    if (at + 1 < s->kept_count) {
        struct shadow_kept taken = s->kept[at], *last = &s->kept[s->kept_count - 1];
        shadow_take(s, &taken, now);
        s->kept[at] = *last;
        *last = taken; /* with the room of its frames */
        s->kept_count--;
        return;
    }
    shadow_begin(s, 0, to, now);
}

/* The stack pointer was `from` and gets the value `to`; `is_computed`: from itself. Room for a frame, its end and longjmp()
 * stay on the stack; start-up code gives the stack pointer its first value. */
static inline void shadow_load(struct shadow *s, uint32_t from, uint32_t to, bool is_computed, uint64_t now) {
    uint32_t at = shadow_kept_at(s, to);
    bool goes_on = at < s->kept_count && s->kept[at].sp == to;
    if (to == from || (to < from && is_computed) || (to > from && to <= s->high && !goes_on)) {
        return;
    }
    if (from == s->high && s->depth == 0 && !s->has_several) {
        s->high = to;
        return;
    }
    shadow_switch(s, from, to, now);
}

#endif
