/* pico2_resets.c: a program for the Pico 2 that leaves masks, modes and an IT block behind as the chip, or its second core, is
 * reset, and says on UART0 what is left of them.
 */
#include "pico2.h"

#define ENGAGED 0x80000000u

static volatile uint32_t seen[2], rounds;

VECTORS([1] = 0);

/* BASEPRI, FAULTMASK, PRIMASK and CONTROL in one word; then FPSCR, and whether the coprocessor is engaged. */
static void look(uint32_t *out) {
    uint32_t base, fault, prime, control, modes, flags;
    __asm volatile("mrs %0, basepri\n mrs %1, faultmask\n mrs %2, primask\n mrs %3, control"
                   : "=r"(base), "=r"(fault), "=r"(prime), "=r"(control));
    AT(0xE000ED88u) = 0x00F0030Fu;
    __asm volatile("dsb\n isb\n mrc2 p4, #0, %0, c0, c0, #1\n vmrs %1, fpscr" : "=r"(flags), "=r"(modes));
    out[0] = base << 24 | fault << 16 | prime << 8 | control;
    out[1] = modes | (flags & ENGAGED);
}

static void change(void) {
    /* flushes, rounds to zero */
    __asm volatile("vmsr fpscr, %0\n mcrr p4, #1, %0, %0, c0" ::"r"(0x01C00000u));
    __asm volatile("msr basepri, %0" ::"r"(0x40));
    __asm volatile("cpsid if");
}

static uint32_t asked(uint32_t value) {
    while (AT(SIO + 0x50u) & 1u) {
        (void)AT(SIO + 0x58u);
    }
    AT(SIO + 0x54u) = value;
    __asm volatile("sev");
    while (!(AT(SIO + 0x50u) & 1u)) {
    }
    return AT(SIO + 0x58u);
}

static void core1(void) {
    look((uint32_t *)seen);
    change();
    rounds++;
    for (;;) {
        __asm volatile("wfe");
    }
}

static void launch(void) {
    uint32_t words[] = {0, 0, 1, 0x10000000u, 0x20080800u, (uint32_t)(uintptr_t)core1}, before = rounds;
    for (int i = 0; i < 6; i++) {
        if (asked(words[i]) != words[i]) {
            i = -1;
        }
    }
    while (rounds == before) {
    }
}

void main(void) {
    uint32_t now[2];
    look(now);
    if (AT(WATCHDOG + 0x0Cu) == 0x1234u) {
        word("after");
        number(now[0]);
        number(now[1]);
        say('\n');
        return;
    }
    launch();
    SET(0x40018004u) = 1u << 24; /* PSM: the second core is off, and on again */
    wait_for(0x40018004u, 1u << 24);
    CLEAR(0x40018004u) = 1u << 24;
    (void)AT(SIO + 0x58u);
    launch();
    word("core1");
    number(seen[0]);
    number(seen[1]);
    change();
    look(now);
    word("before");
    number(now[0]);
    number(now[1]);
    say('\n');
    wait_for(UART0 + 0x18u, 0x80u);
    change();
    AT(WATCHDOG + 0x0Cu) = 0x1234u;
    /* by SYSRESETREQ, with an instruction left that is not to run */
    __asm volatile(
        "cmp %0, %0\n itte eq\n streq %1, [%0]\n mrceq p0, #0, r2, c0, c0\n movne r2, #3\n1: b 1b" ::"r"(
            0xE000ED0Cu),
        "r"(0x05FA0004u)
        : "cc", "r2");
}
