/* SPDX-License-Identifier: MIT
 * arm_systick.h: the SysTick of a Cortex-M core. Its state is what the last write left; everything later is computed from
 * the ticks of its clock that have passed. It does not depend on the CPU: the caller passes both clocks.
 * Sources: ARM DDI 0419 (ARMv6-M Architecture Reference Manual), B3.3; ARM DDI 0403 (ARMv7-M), B3.3: the count goes from 1
 * to 0, which sets COUNTFLAG and makes the exception pending, then to the reload value; a reload value of 0 stops it there.
 * A write to the count clears it and COUNTFLAG. A write to the control register or to the reload value leaves the count.
 */
#ifndef MOTECRYPT_ARM_SYSTICK_H
#define MOTECRYPT_ARM_SYSTICK_H

#include <stdbool.h>
#include <stdint.h>

enum { /* offsets of its registers: CSR, RVR, CVR; and bits of CSR */
    SYSTICK_CONTROL = 0xE010,
    SYSTICK_RELOAD = 0xE014,
    SYSTICK_COUNT = 0xE018,
    SYSTICK_ENABLE = 1,
    SYSTICK_INTERRUPTS = 2,
    SYSTICK_BY_CORE = 4 /* CLKSOURCE: the core's own clock counts it */
};

/* What its two clocks have counted. A chip without a reference clock has none: CLKSOURCE is always 1 there. */
struct systick_clocks {
    uint64_t core, reference;
    bool has_reference;
};

struct systick {
    uint32_t control, reload;
    uint32_t count;  /* at tick `from` of its clock */
    uint64_t from;   /* tick of the last write, or of the change of its clock */
    uint64_t looked; /* up to this tick, COUNTFLAG and the exception are set */
    bool has_come;   /* COUNTFLAG */
};

static inline uint64_t systick_now(const struct systick *s, const struct systick_clocks *clocks) {
    return (s->control & SYSTICK_BY_CORE) || !clocks->has_reference ? clocks->core : clocks->reference;
}

/* How often the count has come to 0 in the first `ticks` ticks. */
static inline uint64_t systick_ends(const struct systick *s, uint64_t ticks) {
    uint64_t first = s->count != 0 ? s->count : (uint64_t)s->reload + 1;
    if (!(s->control & SYSTICK_ENABLE) || ticks < first || (s->count == 0 && s->reload == 0)) {
        return 0;
    }
    return 1 + (s->reload != 0 ? (ticks - first) / ((uint64_t)s->reload + 1) : 0);
}

/* The first tick after `now` at which the count comes to 0; UINT64_MAX: never. */
static inline uint64_t systick_next(const struct systick *s, uint64_t now) {
    uint64_t first = s->count != 0 ? s->count : (uint64_t)s->reload + 1, period = (uint64_t)s->reload + 1;
    uint64_t passed = now > s->from ? now - s->from : 0;
    if (!(s->control & SYSTICK_ENABLE) || (s->count == 0 && s->reload == 0)) {
        return UINT64_MAX;
    }
    if (passed < first) {
        return s->from + first;
    }
    return s->reload == 0 ? UINT64_MAX : s->from + first + ((passed - first) / period + 1) * period;
}

static inline uint32_t systick_count(const struct systick *s, uint64_t now) {
    uint64_t passed = now > s->from ? now - s->from : 0, period = (uint64_t)s->reload + 1;
    if (!(s->control & SYSTICK_ENABLE)) {
        return s->count;
    }
    if (passed <= s->count) {
        return s->count - (uint32_t)passed;
    }
    passed = (passed - s->count) % period; /* ticks since it was 0 */
    return passed == 0 ? 0 : s->reload - (uint32_t)(passed - 1);
}

/* Sets COUNTFLAG for what has happened up to `now`. True: the exception becomes pending. */
static inline bool systick_advance(struct systick *s, uint64_t now) {
    bool came;
    if (now <= s->looked) { /* an access inside a block, behind a look at its end */
        return false;
    }
    came = now > s->from &&
           systick_ends(s, now - s->from) > systick_ends(s, s->looked > s->from ? s->looked - s->from : 0);
    s->looked = now;
    s->has_come = s->has_come || came;
    return came && (s->control & SYSTICK_INTERRUPTS);
}

/* The registers that the last write changed hold from `now` on. */
static inline void systick_hold(struct systick *s, uint64_t now) {
    s->count = systick_count(s, now);
    s->from = now;
}

/* A core's reset, at `cycle`; the core's clock counts. */
static inline void systick_reset(struct systick *s, uint64_t cycle) {
    *s = (struct systick){.from = cycle, .looked = cycle};
}

static inline uint32_t systick_read(struct systick *s, uint32_t offset, const struct systick_clocks *clocks) {
    uint32_t control;
    switch (offset) {
    case SYSTICK_CONTROL:
        control = s->control | (clocks->has_reference ? 0 : SYSTICK_BY_CORE) | (s->has_come ? 1u << 16 : 0u);
        s->has_come = false;
        return control;
    case SYSTICK_RELOAD:
        return s->reload;
    default:
        return systick_count(s, systick_now(s, clocks));
    }
}

/* The caller has advanced it to the present. */
static inline void systick_write(struct systick *s, uint32_t offset, uint32_t value, const struct systick_clocks *clocks) {
    bool changes; /* its clock */
    systick_hold(s, systick_now(s, clocks));
    switch (offset) {
    case SYSTICK_CONTROL:
        changes = clocks->has_reference && ((s->control ^ value) & SYSTICK_BY_CORE);
        s->control = value & 7u;
        if (changes) {
            s->from = s->looked = systick_now(s, clocks);
        }
        break;
    case SYSTICK_RELOAD:
        s->reload = value & 0xFFFFFFu;
        break;
    default:
        s->count = 0;
        s->has_come = false;
    }
}

#endif
