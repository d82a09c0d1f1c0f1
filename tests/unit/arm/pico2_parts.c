/* pico2_parts.c: a program for the Pico 2 that uses parts of RP2350 in the ways in which they differ from RP2040's, and says
 * on UART0 what it found. Each line is a word and numbers. Sections are the RP2350 datasheet's.
 */
#include "pico2.h"

VECTORS([1] = 0);

static void wait_us(uint32_t us) {
    for (uint32_t from = AT(TIMER0 + 0x28u); AT(TIMER0 + 0x28u) - from < us;) {
    }
}

/* ---- 8.5, 12.9: the watchdog counts ticks of its own generator ---- */

static uint32_t left(void) {
    return AT(WATCHDOG) & 0xFFFFFFu;
}

static void use_watchdog(void) {
    uint32_t before;
    word("watchdog");
    AT(0x40108030u) = 0;
    AT(0x40108034u) = 48u; /* a tick each 4 microseconds */
    AT(0x40108030u) = 1u;
    AT(WATCHDOG + 4u) = 10000u;
    SET(WATCHDOG) = 1u << 30;
    wait_us(4000u);
    before = left();
    number(before <= 9000u && before >= 8990u);
    AT(0x40108030u) = 0; /* it stops */
    before = left();
    wait_us(100u);
    number(before - left());
    AT(0x40108030u) = 1u;
    AT(0x40108018u) = 0; /* the timer stops, and the watchdog counts */
    before = left();
    for (volatile int i = 0; i < 1000; i++) {
    }
    number(before - left() > 5u);
    AT(0x40108018u) = 1u;
    CLEAR(WATCHDOG) = 1u << 30;
    AT(0x40108034u) = 12u;
}

/* ---- 5.4.8: the boot ROM's functions for the flash ---- */

enum { RUNTIME = 1, SECURE = 1 << 8, ERASE = 0, PROGRAM = 1 << 16, READ = 2 << 16 };

__attribute__((section(".data.code,\"awx\"@"))) static uint32_t page[64] = {0}; /* code may run there */

/* MOVS R0, #value; BX LR */
static void compile(uint32_t value) {
    page[0] = 0x47702000u | value;
}

static void use_flash(void) {
    int (*operate)(uint32_t, uint32_t, uint32_t, void *) = found('F', 'O', 4);
    uint32_t (*storage)(uint32_t) = found('F', 'A', 4);
    uint32_t (*cached)(void) = (uint32_t (*)(void))0x10100001u, (*uncached)(void) = (uint32_t (*)(void))0x14100001u;
    uint32_t (*in_ram)(void) = (uint32_t (*)(void))((uintptr_t)page + 1u);
    word("code"); /* it changes after it has run */
    compile(1);
    operate(SECURE | RUNTIME | ERASE, 0x10100000u, 4096, 0);
    operate(SECURE | RUNTIME | PROGRAM, 0x10100000u, 256, page);
    number(cached() << 8 | uncached());
    compile(2);
    operate(SECURE | ERASE, storage(0x10100000u), 4096, 0);
    operate(SECURE | PROGRAM, 0x10100000u, 256, page);
    number(cached() << 8 | uncached());
    compile(3);
    number(in_ram());
    operate(SECURE | RUNTIME | READ, 0x10100000u, 8, page);
    number(in_ram());
    word("refused");
    number(operate(SECURE | RUNTIME | ERASE, 0x10100100u, 4096, 0));
    number(operate(SECURE | RUNTIME | ERASE, 0x10100000u, 256, 0));
    number(operate(SECURE | RUNTIME | PROGRAM, 0x10100080u, 256, page));
    number(operate(SECURE | RUNTIME | PROGRAM, 0x10100000u, 8, page));
    number(operate(SECURE | RUNTIME | READ, 0x10100001u, 3, page));
    number(operate(RUNTIME | READ, 0x10100000u, 4, page));
    number(operate(SECURE | 3 << 16, 0x10100000u, 4096, page));
    number(operate(SECURE | READ | 2u, 0x10100000u, 4, page));
    number(operate(SECURE | READ, 0x00100000u, 4, page));
    number(operate(SECURE | RUNTIME | READ, 0x14100000u, 4, page));
    number(cached());
}

void main(void) {
    use_watchdog();
    use_flash();
    say('\n');
}
