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

void main(void) {
    use_watchdog();
    say('\n');
}
