/* pico_harness.c: the Pico's hal.c with registers that the test controls. It prints every write, and how
 * often the code read a status before it continued. The source is a copy in which AT asks at() for a
 * register, and the stack pointer is the test's (test_pico_registers.py). at() cannot know whether its
 * register is to be read or written: it gives a value that nothing writes, and looks at the next call whether
 * that has changed. */
#include <stdint.h>

static volatile uint32_t *at(uint32_t address);
static uint32_t *test_stack_pointer(void);
#include "hal.c"

#include "harness.h"

enum { UNTOUCHED = 0x5A5A0F0F, READY_AT_LOOK = 3, WORDS = 5000 };

uint32_t __stack_bottom[WORDS];
static volatile uint32_t slot;
static uint32_t given, last, looks, told, timer_us, ticks, marked, flags;
static size_t stack_words;

static uint32_t *test_stack_pointer(void) {
    return __stack_bottom + stack_words;
}

static void settle(void) {
    if (last != 0 && slot != given) {
        fprintf(stderr, "%08x = %x\n", last, slot);
        told++;
        looks = 0;
    }
    last = 0;
}

/* A status: at the first looks all but the bits that are awaited, then those alone. */
static uint32_t status(uint32_t bits) {
    fprintf(stderr, "look %08x\n", last);
    return ++looks < READY_AT_LOOK ? ~bits : bits;
}

static volatile uint32_t *at(uint32_t address) {
    settle();
    last = address;
    switch (address) {
    case 0x40024004: /* the crystal is stable */
    case 0x40028000: /* the PLL has locked, or is set up: its divider is written */
        given = status(1u << 31);
        break;
    case 0x40008038: /* clk_ref and clk_sys: one bit for each source */
        given = status(1u << 2);
        break;
    case 0x40008044:
        given = status(told > 10 ? 1u << 1 : 1u);
        break;
    case 0x4000C008: /* what has left its reset */
        given = status(told > 10 ? 1u << 5 | 1u << 8 | 1u << 21 | 1u << 22 : 1u << 12);
        break;
    case 0x40034018: /* the UART: its FIFO is empty, or full, until the third look */
        given = status(flags) ^ 0xFFFFFFFF;
        break;
    case 0x40054028:
        given = timer_us;
        break;
    case 0xE000E018:
        given = ticks;
        break;
    case 0x40058010:
        given = marked;
        break;
    default:
        given = UNTOUCHED;
    }
    slot = given;
    return &slot;
}

static uint64_t init(const uint64_t *n) {
    ticks = UNTOUCHED;
    hal_init();
    settle();
    return hal_clock_hz() + n[0];
}

static uint64_t receive(const uint64_t *n) {
    flags = (uint32_t)n[0];
    looks = 0;
    return hal_read();
}

static uint64_t give(const uint64_t *n) {
    flags = (uint32_t)n[0];
    looks = 0;
    hal_write((uint8_t)n[1]);
    settle();
    return 0;
}

static uint64_t mark(const uint64_t *n) {
    hal_mark((uint8_t)n[0]);
    settle();
    return 0;
}

/* Cycles between two states of the timers: microseconds and SysTick, twice. */
static uint64_t timed(const uint64_t *n) {
    timer_us = (uint32_t)n[0];
    ticks = (uint32_t)n[1];
    hal_timer_start();
    timer_us = (uint32_t)n[2];
    ticks = (uint32_t)n[3];
    return hal_timer_cycles();
}

/* For a number of free words of stack: how many are painted, and from where. */
static uint64_t paint(const uint64_t *n) {
    size_t first = 0, end;
    stack_words = (size_t)n[0];
    marked = (uint32_t)n[1];
    memset(__stack_bottom, 0x11, sizeof __stack_bottom);
    hal_stack_paint();
    while (first < WORDS && __stack_bottom[first] != 0xA5A5A5A5u) {
        first++;
    }
    end = first;
    while (end < WORDS && __stack_bottom[end] == 0xA5A5A5A5u) {
        end++;
    }
    return first * 10000 + end;
}

/* How deep the stack has been, when the word at that place was written. */
static uint64_t depth(const uint64_t *n) {
    __stack_bottom[n[0]] = 7;
    return hal_stack_depth();
}

int main(int argc, char **argv) {
    static const struct operation operations[] = {
        {"init", init},   {"receive", receive}, {"give", give},   {"mark", mark},
        {"timed", timed}, {"paint", paint},     {"depth", depth},
    };
    (void)argc;
    return SERVE(operations, argv);
}
