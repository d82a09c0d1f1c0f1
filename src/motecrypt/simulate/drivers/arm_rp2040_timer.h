/* SPDX-License-Identifier: MIT
 * arm_rp2040_timer.h: the four alarms of RP2040's timer, and its watchdog. The caller passes the time: microseconds of
 * the timer, cycles for the watchdog. Source: RP2040 datasheet, 4.6 (timer), 4.7 (watchdog; by RP2040-E1 it counts two
 * down at each tick; it is paused while it is not enabled).
 */
#ifndef MOTECRYPT_ARM_RP2040_TIMER_H
#define MOTECRYPT_ARM_RP2040_TIMER_H

#include <stdbool.h>
#include <stdint.h>

enum { ALARMS = 4 };

enum { /* offsets of the timer's registers */
    TIMER_HIGH_WRITE = 0x00,
    TIMER_LOW_WRITE = 0x04,
    TIMER_ALARM = 0x10,
    TIMER_ARMED = 0x20,
    TIMER_PAUSE = 0x30,
    TIMER_INTR = 0x34,
    TIMER_INTE = 0x38,
    TIMER_INTF = 0x3C,
    TIMER_INTS = 0x40
};

struct rp2040_timer {
    uint32_t alarm[ALARMS], armed, raw, enabled, forced;
    uint64_t due[ALARMS]; /* of an armed one: microseconds */
    uint64_t ahead;       /* what it shows, less the microseconds that the chip has counted */
    uint64_t paused_at;   /* what it shows while it is paused */
    uint32_t low;         /* TIMELW, up to a write to TIMEHW */
    uint32_t high;        /* TIMEHR, as the last read of TIMELR has left it */
    bool is_paused;
};

/* What the timer shows when the chip has counted `us`. */
static inline uint64_t timer_shows(const struct rp2040_timer *timer, uint64_t us) {
    return timer->is_paused ? timer->paused_at : us + timer->ahead;
}

/* A write that moves or stops the count itself; false: another register. Armed alarms keep their low word. */
static inline bool timer_set(struct rp2040_timer *timer, uint32_t offset, uint32_t value, uint64_t us) {
    uint64_t shows = timer_shows(timer, us);
    if (offset == TIMER_LOW_WRITE) {
        timer->low = value;
        return true;
    }
    if (offset == TIMER_PAUSE) {
        timer->is_paused = value & 1u;
    } else if (offset == TIMER_HIGH_WRITE) {
        shows = (uint64_t)value << 32 | timer->low;
    } else {
        return false;
    }
    timer->paused_at = shows;
    timer->ahead = shows - us;
    for (unsigned i = 0; i < ALARMS; i++) {
        timer->due[i] = shows + (uint32_t)(timer->alarm[i] - (uint32_t)shows);
    }
    return true;
}

static inline void timer_advance(struct rp2040_timer *timer, uint64_t us) {
    for (unsigned i = 0; timer->armed != 0 && i < ALARMS; i++) {
        if ((timer->armed >> i & 1u) && us >= timer->due[i]) {
            timer->armed &= ~(1u << i);
            timer->raw |= 1u << i;
        }
    }
}

/* When the next alarm goes off, in microseconds; UINT64_MAX: no alarm is armed. */
static inline uint64_t timer_next(const struct rp2040_timer *timer) {
    uint64_t next = UINT64_MAX;
    for (unsigned i = 0; timer->armed != 0 && i < ALARMS; i++) {
        if ((timer->armed >> i & 1u) && timer->due[i] < next) {
            next = timer->due[i];
        }
    }
    return next;
}

static inline uint32_t timer_interrupts(const struct rp2040_timer *timer) {
    return (timer->raw & timer->enabled) | timer->forced;
}

static inline uint32_t *timer_register(struct rp2040_timer *timer, uint32_t offset) {
    return offset == TIMER_INTE ? &timer->enabled : offset == TIMER_INTF ? &timer->forced : NULL;
}

/* False: another register. */
static inline bool timer_read(struct rp2040_timer *timer, uint32_t offset, uint32_t *value) {
    if (offset >= TIMER_ALARM && offset < TIMER_ARMED) {
        *value = timer->alarm[(offset - TIMER_ALARM) / 4];
    } else if (offset == TIMER_ARMED || offset == TIMER_INTR) {
        *value = offset == TIMER_ARMED ? timer->armed : timer->raw;
    } else if (offset == TIMER_INTS) {
        *value = timer_interrupts(timer);
    } else if (timer_register(timer, offset) != NULL) {
        *value = *timer_register(timer, offset);
    } else {
        return false;
    }
    return true;
}

static inline bool timer_write(struct rp2040_timer *timer, uint32_t offset, uint32_t value, uint64_t us) {
    if (offset >= TIMER_ALARM && offset < TIMER_ARMED) { /* it goes off when the timer's low word is equal */
        unsigned i = (offset - TIMER_ALARM) / 4;
        timer->alarm[i] = value;
        timer->due[i] = us + (uint32_t)(value - (uint32_t)us);
        timer->armed |= 1u << i;
    } else if (offset == TIMER_ARMED) { /* writing a one takes an alarm back */
        timer->armed &= ~value;
    } else if (offset == TIMER_INTR) {
        timer->raw &= ~value;
    } else if (timer_register(timer, offset) != NULL) {
        *timer_register(timer, offset) = value & 15u;
    } else {
        return offset == TIMER_INTS;
    }
    return true;
}

/* ---- watchdog ---- */

enum { WATCHDOG_CTRL = 0x00, WATCHDOG_LOAD = 0x04, WATCHDOG_REASON = 0x08, WATCHDOG_SCRATCH = 0x0C, WATCHDOG_TICK = 0x2C };

/* In SCRATCH4: the boot ROM starts at SCRATCH7 with the stack pointer in SCRATCH6, if SCRATCH5 agrees (2.8.1.1). */
#define WATCHDOG_BOOTS 0xB007C0D3u
#define WATCHDOG_ENABLE (1u << 30)
#define WATCHDOG_TRIGGER (1u << 31)

struct rp2040_watchdog {
    uint32_t control, reason;
    uint64_t ends_at; /* in ticks: RP2040's are the timer's microseconds */
    uint64_t left;    /* ticks, while it is not enabled */
    bool wants_reset; /* of the whole chip */
};

static inline void watchdog_advance(struct rp2040_watchdog *dog, uint64_t us) {
    if ((dog->control & WATCHDOG_ENABLE) && us >= dog->ends_at) {
        dog->reason = 1;
        dog->wants_reset = true;
    }
}

static inline uint64_t watchdog_next(const struct rp2040_watchdog *dog) {
    return dog->control & WATCHDOG_ENABLE ? dog->ends_at : UINT64_MAX;
}

static inline uint64_t watchdog_left(const struct rp2040_watchdog *dog, uint64_t us) {
    return !(dog->control & WATCHDOG_ENABLE) ? dog->left : dog->ends_at > us ? dog->ends_at - us : 0;
}

static inline uint32_t watchdog_control(const struct rp2040_watchdog *dog, uint64_t us) {
    return dog->control | (uint32_t)(2 * watchdog_left(dog, us) & 0xFFFFFFu);
}

static inline void watchdog_load(struct rp2040_watchdog *dog, uint64_t ticks, uint64_t us) {
    dog->left = ticks;
    dog->ends_at = us + ticks;
}

static inline void watchdog_write(struct rp2040_watchdog *dog, uint32_t offset, uint32_t value, uint64_t us) {
    if (offset == WATCHDOG_LOAD) {
        watchdog_load(dog, (value & 0xFFFFFFu) / 2, us);
    } else {
        watchdog_load(dog, watchdog_left(dog, us), us);
        dog->control = value & 0x47000000u;
        if (value & WATCHDOG_TRIGGER) {
            dog->reason = 2;
            dog->wants_reset = true;
        }
    }
}

#endif
