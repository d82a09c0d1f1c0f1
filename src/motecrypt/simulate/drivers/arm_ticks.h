/* SPDX-License-Identifier: MIT
 * arm_ticks.h: ticks of a divider, counted in cycles of another clock: whole numbers only, so that the tick that is read at
 * a cycle and the cycle of a tick agree always. It does not know whose clocks they are.
 */
#ifndef MOTECRYPT_ARM_TICKS_H
#define MOTECRYPT_ARM_TICKS_H

#include <stdint.h>

/* A frequency or a ratio of two. Both parts are below 2^32; 0 / 1 is 0. */
struct fraction {
    uint64_t top, bottom;
};

static inline uint64_t common_divisor(uint64_t a, uint64_t b) {
    while (b != 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* `f` times `a` / `b`, all below 2^32. Where the result has more digits than fit, it is rounded. 0 if b is 0. */
static inline struct fraction fraction_times(struct fraction f, uint64_t a, uint64_t b) {
    uint64_t both = common_divisor(a, b), first, second;
    if (f.top == 0 || a == 0 || b == 0) {
        return (struct fraction){0, 1};
    }
    a /= both;
    b /= both;
    first = common_divisor(f.top, b);
    second = common_divisor(a, f.bottom);
    f = (struct fraction){(f.top / first) * (a / second), (f.bottom / second) * (b / first)}; /* each below 2^64 */
    while ((f.top | f.bottom) >> 32 != 0) {
        f.top >>= 1;
        f.bottom >>= 1;
    }
    return f.bottom == 0 ? (struct fraction){UINT32_MAX, 1} : f;
}

static inline double fraction_value(struct fraction f) {
    return (double)f.top / (double)f.bottom;
}

/* A divider that has given `count` ticks, and `part` / `rate.bottom` of the next one, at a cycle; `rate`: ticks a cycle.
 * rate.bottom 0: the rate has changed, and part / part_of remains. */
struct ticks {
    uint64_t count, part, part_of, at_cycle;
    struct fraction rate;
};

/* The divider goes at this rate from `cycle` on, which is where it was held (ticks_hold), or 0. */
static inline void ticks_set_rate(struct ticks *ticks, struct fraction rate) {
    ticks->rate = rate;
    ticks->part = ticks->part_of == 0 ? 0 : ticks->part * rate.bottom / ticks->part_of; /* both below 2^32 */
    ticks->part_of = rate.bottom;
}

/* `cycle`: not before the one at which it was held. */
static inline uint64_t ticks_count(const struct ticks *ticks, uint64_t cycle) {
    uint64_t cycles = cycle > ticks->at_cycle ? cycle - ticks->at_cycle : 0, per = ticks->rate.bottom;
    return ticks->count + cycles / per * ticks->rate.top + (ticks->part + cycles % per * ticks->rate.top) / per;
}

/* The count stops being what the rate says at `cycle`; the next rate is to be set. */
static inline void ticks_hold(struct ticks *ticks, uint64_t cycle) {
    uint64_t cycles = cycle > ticks->at_cycle ? cycle - ticks->at_cycle : 0, per = ticks->rate.bottom;
    if (per != 0) {
        uint64_t count = ticks_count(ticks, cycle);
        ticks->part = (ticks->part + cycles % per * ticks->rate.top) % per;
        ticks->count = count;
    }
    ticks->at_cycle = cycle > ticks->at_cycle ? cycle : ticks->at_cycle;
    ticks->rate.bottom = 0;
}

/* The first cycle, from the one at which it was held, by which the count is at least `count`; UINT64_MAX: never at this rate. */
static inline uint64_t ticks_cycle_of(const struct ticks *ticks, uint64_t count) {
    uint64_t left = count > ticks->count ? count - ticks->count : 0, up = ticks->rate.top, per = ticks->rate.bottom;
    uint64_t whole, rest;
    if (left == 0) {
        return ticks->at_cycle;
    }
    if (up == 0 || left / up >= (UINT64_MAX >> 1) / per) {
        return UINT64_MAX;
    }
    whole = left / up * per; /* cycles that give whole rounds of `up` ticks */
    rest = left % up * per;  /* below 2^64 */
    if (rest >= ticks->part) {
        return ticks->at_cycle + whole + (rest - ticks->part + up - 1) / up;
    }
    return ticks->at_cycle + whole - (ticks->part - rest) / up;
}

#endif
