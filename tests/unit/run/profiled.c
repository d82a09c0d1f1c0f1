/* A firmware whose calls, cycles and stack are known by construction, for the tests of profiles. Each part is
 * one thing that confuses profilers. It prints a dot for each part and sleeps without end. */
#include <avr/interrupt.h>
#include <avr/io.h>
#include <avr/sleep.h>
#include <setjmp.h>
#include <stdint.h>

#define APART __attribute__((noinline, noclone, used))

volatile uint8_t sink;
volatile uint16_t ticks;
static jmp_buf place;

static void say(char c) {
    while (!(UCSR0A & (1 << UDRE0))) {
    }
    UDR0 = (uint8_t)c;
}

/* --- plain: 16 times the same work */
APART void leaf(void) {
    __builtin_avr_delay_cycles(1000);
}

APART void twice(void) {
    leaf();
    leaf();
}

/* --- recursion */
APART uint8_t down(uint8_t n) {
    uint8_t below = 0;
    __builtin_avr_delay_cycles(100);
    if (n != 0) {
        below = down((uint8_t)(n - 1));
    }
    sink = n;
    return (uint8_t)(below + 1);
}

/* --- tail calls: each jumps to the next, the last returns for all */
APART void third(void) {
    __builtin_avr_delay_cycles(300);
}

APART void second(void) {
    __builtin_avr_delay_cycles(200);
    third();
}

APART void first(void) {
    __builtin_avr_delay_cycles(100);
    second();
}

/* --- two that jump to each other, a hundred times */
APART void pong(uint8_t n);

APART void ping(uint8_t n) {
    sink = n;
    if (n != 0) {
        pong((uint8_t)(n - 1));
    }
}

APART void pong(uint8_t n) {
    sink = n;
    if (n != 0) {
        ping((uint8_t)(n - 1));
    }
}

/* --- interrupts, while this works */
ISR(TIMER0_OVF_vect) {
    ticks++;
    leaf();
}

APART void interrupted(void) {
    __builtin_avr_delay_cycles(100000);
}

/* --- inlined, always */
static inline __attribute__((always_inline)) void inside(void) {
    __builtin_avr_delay_cycles(500);
}

APART void around(void) {
    inside();
    sink = 1;
}

/* --- a large frame: the stack pointer is written in two halves, and passes 0x0800 */
APART void large(uint16_t n) {
    volatile uint8_t room[260];
    for (uint16_t i = 0; i < n; i++) {
        room[i % 260] = (uint8_t)i;
    }
    sink = room[3];
}

/* --- ten small frames, which together pass 0x0800 */
APART uint8_t dig(uint8_t n) {
    volatile uint8_t room[32];
    room[n & 31] = n;
    if (n != 0) {
        sink = dig((uint8_t)(n - 1));
    }
    return room[n & 31];
}

/* --- left by longjmp */
APART void leaves(void) {
    __builtin_avr_delay_cycles(50);
    longjmp(place, 1);
}

APART void caught(void) {
    if (setjmp(place) == 0) {
        leaves();
    }
    leaf();
}

int main(void) {
    UBRR0 = 16;
    UCSR0B = 1 << TXEN0;
    for (uint8_t i = 0; i < 8; i++) {
        twice();
    }
    say('1');
    down(9);
    say('2');
    first();
    first();
    say('3');
    ping(100);
    say('4');
    around();
    around();
    say('5');
    large(10);
    dig(9);
    caught();
    say('6');
    TCCR0B = 1 << CS01; /* every 2,048 cycles */
    TIMSK0 = 1 << TOIE0;
    sei();
    interrupted();
    cli();
    say('7');
    sleep_mode();
    for (;;) {
    }
}
