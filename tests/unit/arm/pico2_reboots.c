/* pico2_reboots.c: a program for the Pico 2 that restarts by the boot ROM's function reboot, and says on UART0 where it is.
 * With TYPE it asks for that kind of restart alone. Sections are the RP2350 datasheet's.
 */
#include "pico2.h"

#ifndef TYPE
#define TYPE 0
#endif

VECTORS([1] = 0);

enum { NORMAL = 0, TO_PC = 0xD, NO_RETURN = 0x100 };

static int reboot(uint32_t flags, uint32_t delay_ms, uint32_t first, uint32_t second) {
    return ((int (*)(uint32_t, uint32_t, uint32_t, uint32_t))found('R', 'B', 4))(flags, delay_ms, first,
                                                                                 second);
}

static void sent(void) {
    say('\n');
    wait_for(UART0 + 0x18u, 0x80u);
}

__attribute__((used)) static void inside(uint32_t sp) {
    begin();
    word("inside");
    number(sp);
    number(AT(WATCHDOG + 8u));
    number(AT(0xE000ED08u)); /* the table of vectors is the boot ROM's */
    sent();
    AT(WATCHDOG + 0x0Cu) = 2u;
    reboot(NORMAL | NO_RETURN, 2, 7, 8);
    word("returned");
    sent();
}

__attribute__((naked)) static void entry(void) {
    __asm volatile("mov r0, sp\n b inside");
}

void main(void) {
    uint32_t from;
    if (AT(WATCHDOG + 0x0Cu) == 2u) {
        word("again");
        number(AT(WATCHDOG + 0x14u) << 8 | AT(WATCHDOG + 0x18u));
        sent();
        return;
    }
    if (TYPE != 0) {
        reboot(TYPE, 1, 0x20000000u, 0x1000u);
        word("returned");
        sent();
        return;
    }
    AT(0x40108030u) = 0; /* the function starts the watchdog's ticks */
    from = AT(TIMER0 + 0x28u);
    word("reboot");
    number((uint32_t)reboot(TO_PC, 5, (uint32_t)(uintptr_t)entry, 0x20040000u));
    while (AT(TIMER0 + 0x28u) - from < 4900u) {
    }
    word("still");
    sent();
    for (;;) {
    }
}
