/* The counters of chips against models that count one by one: arm_ticks.h, arm_systick.h, and the latter in arm_ppb.h.
 * Each test is called with a seed; it prints nothing and returns 0, or says where the two differ. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arm_ppb.h"
#include "arm_ticks.h"

static uint64_t state;

static uint32_t below(uint32_t limit) { /* Knuth's generator, its upper bits */
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((state >> 32) % limit);
}

/* ---- ticks ---- */

static int differ(const char *what, uint64_t at, uint64_t ours, uint64_t theirs) {
    printf("%s at %" PRIu64 ": %" PRIu64 ", expected %" PRIu64 "\n", what, at, ours, theirs);
    return 1;
}

/* Rates change where the count is held; a model adds `top` in each cycle. Rates of one test have one bottom, so no part is lost. */
static int ticks_test(void) {
    struct ticks ticks = {0};
    uint64_t bottom = 1 + below(200), whole = 0, part = 0, cycle = 0;
    for (unsigned hold = 0; hold < 6; hold++) {
        struct fraction rate = {below(below(2) ? 3 * (uint32_t)bottom : 3), bottom};
        ticks_set_rate(&ticks, rate);
        for (unsigned i = 0, cycles = below(600); i < cycles; i++) {
            uint64_t count = ticks_count(&ticks, cycle), next = ticks_cycle_of(&ticks, count + 1);
            if (count != whole) {
                return differ("count", cycle, count, whole);
            }
            if (next != UINT64_MAX &&
                (ticks_count(&ticks, next) <= count || ticks_count(&ticks, next - 1) > count)) {
                return differ("cycle of the next tick", cycle, next, 0);
            }
            if ((next == UINT64_MAX) != (rate.top == 0)) {
                return differ("never", cycle, next, rate.top);
            }
            part += rate.top;
            whole += part / bottom;
            part %= bottom;
            cycle++;
        }
        ticks_hold(&ticks, cycle);
    }
    return 0;
}

/* A tick is seen at the cycle that is said of it, however large the numbers are. */
static int far_ticks_test(void) {
    for (unsigned i = 0; i < 20000; i++) {
        struct ticks ticks = {.count = (uint64_t)below(UINT32_MAX) << below(20),
                              .at_cycle = (uint64_t)below(UINT32_MAX) << below(24)};
        struct fraction rate =
            fraction_times((struct fraction){1 + below(1u << 27), 1 + below(1u << below(31))},
                           1 + below(1u << 16), 1 + below(1u << 27));
        uint64_t wanted = ticks.count + 1 + ((uint64_t)below(UINT32_MAX) << below(16)), at;
        ticks_set_rate(&ticks, rate);
        ticks.part = below((uint32_t)rate.bottom);
        at = ticks_cycle_of(&ticks, wanted);
        if (at == UINT64_MAX ? (wanted - ticks.count) / rate.top < (UINT64_C(1) << 62) / rate.bottom
                             : ticks_count(&ticks, at) < wanted ||
                                   (at > ticks.at_cycle && ticks_count(&ticks, at - 1) >= wanted)) {
            return differ("the cycle of a tick", wanted, at, 0);
        }
    }
    return 0;
}

/* A fraction that does not fit is rounded: to 18 bits or more where it is between 1 / 10,000 and 10,000. */
static int fraction_test(void) {
    for (unsigned i = 0; i < 20000; i++) {
        uint32_t top = 1 + below(UINT32_MAX), bottom = 1 + below(1u << 20), a = 1 + below(1u << 20),
                 b = 1 + below(1u << 20);
        struct fraction f = fraction_times((struct fraction){top, bottom}, a, b);
        double exact = (double)top / bottom * a / b, error = fraction_value(f) / exact - 1.0;
        if (exact > 1e-4 && exact < 1e4 && (error > 8e-6 || error < -8e-6)) {
            printf("%" PRIu32 "/%" PRIu32 " * %" PRIu32 "/%" PRIu32 ": error %g\n", top, bottom, a, b, error);
            return 1;
        }
    }
    return 0;
}

/* ---- SysTick ---- */

/* As the manual's words say, one tick of its clock after the other. */
struct slow {
    uint32_t control, reload, count;
    bool has_come, pending;
};

static void step(struct slow *s) {
    if (!(s->control & SYSTICK_ENABLE)) {
        return;
    }
    if (s->count == 0) {
        s->count = s->reload;
    } else if (--s->count == 0) {
        s->has_come = true;
        s->pending = s->pending || (s->control & SYSTICK_INTERRUPTS);
    }
}

/* Two clocks; the reference clock ticks once in `divider` cycles, 0: there is none. */
static int systick_test(uint32_t divider) {
    struct slow slow = {0};
    struct systick fast = {0};
    bool pending = false;
    for (uint64_t cycle = 0; cycle < 3000; cycle++) {
        struct systick_clocks clocks = {cycle, divider != 0 ? cycle / divider : 0, divider != 0};
        bool by_core = (slow.control & SYSTICK_BY_CORE) || divider == 0;
        uint64_t now = systick_now(&fast, &clocks), next;
        if (cycle != 0 && (by_core || cycle % divider == 0)) {
            bool came = slow.count == 1 && (slow.control & SYSTICK_ENABLE);
            next = systick_next(&fast, now - 1);
            step(&slow);
            if ((next == now) != came) {
                return differ("next", now, next, came);
            }
        }
        if (below(3) == 0) {
            pending = systick_advance(&fast, now) || pending;
        }
        if (below(20) == 0) {
            uint32_t offset = SYSTICK_CONTROL + 4 * below(3), value = below(3) ? below(8) : below(60);
            pending = systick_advance(&fast, now) || pending;
            systick_write(&fast, offset, value, &clocks);
            if (offset == SYSTICK_CONTROL) {
                slow.control = value & 7u;
            } else if (offset == SYSTICK_RELOAD) {
                slow.reload = value;
            } else {
                slow.count = 0;
                slow.has_come = false;
            }
        } else if (below(5) == 0) {
            uint32_t control,
                expected = slow.control | (divider == 0 ? 4u : 0u) | (slow.has_come ? 1u << 16 : 0u);
            pending = systick_advance(&fast, now) || pending;
            control = systick_read(&fast, SYSTICK_CONTROL, &clocks);
            slow.has_come = false;
            if (control != expected) {
                return differ("control", cycle, control, expected);
            }
            if (pending != slow.pending) {
                return differ("pending", cycle, pending, slow.pending);
            }
        } else if (below(3) == 0 && systick_read(&fast, SYSTICK_COUNT, &clocks) != slow.count) {
            return differ("count", cycle, systick_read(&fast, SYSTICK_COUNT, &clocks), slow.count);
        }
    }
    return 0;
}

/* The same registers in the private peripherals of a chip, whose reference clock is an eighth. */
static int ppb_test(void) {
    static struct ppb ppb;
    uint32_t from;
    memset(&ppb, 0, sizeof ppb);
    ppb.reference = 8;
    ppb_write(&ppb, SYSTICK_RELOAD, 0xFFFFFFu, 5);
    ppb_write(&ppb, SYSTICK_CONTROL, 1, 10);
    from = ppb_read(&ppb, SYSTICK_COUNT, 24);
    if (from - ppb_read(&ppb, SYSTICK_COUNT, 824) != 100) {
        return differ("an eighth", 824, from - ppb_read(&ppb, SYSTICK_COUNT, 824), 100);
    }
    ppb.reference = 0;
    if (ppb_read(&ppb, SYSTICK_CONTROL, 900) != 5) {
        return differ("no reference", 900, ppb_read(&ppb, SYSTICK_CONTROL, 900), 5);
    }
    return 0;
}

int main(int count, char **arguments) {
    uint32_t seed = count == 3 ? (uint32_t)strtoul(arguments[2], NULL, 10) : 0;
    const char *name = count == 3 ? arguments[1] : "";
    int failed = 0;
    for (uint32_t i = 0; i < 200 && !failed; i++) {
        state = (uint64_t)seed << 32 | i;
        failed = strcmp(name, "ticks") == 0      ? ticks_test()
                 : strcmp(name, "systick") == 0  ? systick_test(below(2) ? 0 : 1 + below(9))
                 : strcmp(name, "far") == 0      ? i < 5 && far_ticks_test()
                 : strcmp(name, "fraction") == 0 ? i < 5 && fraction_test()
                 : strcmp(name, "ppb") == 0      ? ppb_test()
                                                 : 1;
    }
    return failed;
}
