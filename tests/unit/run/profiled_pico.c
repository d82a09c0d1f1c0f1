/* A Pico firmware whose calls, cycles and stack are known by construction, for the tests of profiles; see
 * profiled.c. Delays are loops of 3 cycles: SUBS 1, BNE taken 2, the last one not taken 1. */
#include "hal.h"

#include <setjmp.h>
#include <stdint.h>

#define APART __attribute__((noinline, noclone, used))

volatile uint32_t sink;
static jmp_buf place;

#define DELAY(n)                                                                                             \
    do {                                                                                                     \
        uint32_t left = (n);                                                                                 \
        __asm__ volatile(".syntax unified\n1: subs %0, #1\n bne 1b" : "+l"(left) : : "cc");                  \
    } while (0)

static void say(char c) {
    hal_write((uint8_t)c);
}

APART void leaf(void) {
    DELAY(100);
}

APART void twice(void) {
    leaf();
    leaf();
}

APART uint32_t down(uint32_t n) {
    uint32_t below = 0;
    DELAY(30);
    if (n != 0) {
        below = down(n - 1);
    }
    sink = n;
    return below + 1;
}

APART void third(void) {
    DELAY(50);
}

/* The compiler would return to here; a jump is what is to be tested. */
__attribute__((naked)) APART void second(void) {
    __asm__ volatile(".syntax unified\n movs r0, #20\n1: subs r0, #1\n bne 1b\n b third");
}

__attribute__((naked)) APART void first(void) {
    __asm__ volatile(".syntax unified\n movs r0, #10\n1: subs r0, #1\n bne 1b\n b second");
}

static inline __attribute__((always_inline)) void inside(void) {
    DELAY(80);
}

APART void around(void) {
    inside();
    sink = 1;
}

APART void large(uint32_t n) {
    volatile uint8_t room[512];
    for (uint32_t i = 0; i < n; i++) {
        room[i] = (uint8_t)i;
    }
    sink = room[3];
}

APART void leaves(void) {
    DELAY(10);
    longjmp(place, 1);
}

APART void caught(void) {
    if (setjmp(place) == 0) {
        leaves();
    }
    leaf();
}

int main(void) {
    hal_init();
    for (uint32_t i = 0; i < 8; i++) {
        twice();
    }
    say('1');
    down(9);
    first();
    first();
    say('2');
    around();
    around();
    large(10);
    caught();
    say('3');
    uint8_t got = hal_read();
    say((char)(got + 1));
    hal_timer_start();
    DELAY(1000000);
    uint32_t cycles = hal_timer_cycles();
    for (int shift = 28; shift >= 0; shift -= 4) {
        say("0123456789abcdef"[(cycles >> shift) & 15]);
    }
    say('\n');
    __asm__ volatile("cpsid i");
    for (;;) {
    }
}
