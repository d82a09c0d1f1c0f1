/* hal.c for the Arduino UNO: ATmega328P at 16 MHz. Datasheet: Microchip DS40002061B. */
#include "hal.h"

#include <avr/interrupt.h>
#include <avr/io.h>

/* Timer 1 counts cycles modulo 2^16; its overflow interrupt counts the rest. The interrupt costs the
 * timed code about 25 cycles in 65,536 (0.04 %). A simulator counts cycles by itself and wants the code
 * undisturbed: it sets bit 0 of GPIOR1 before the firmware starts, which a board's reset clears, and
 * the interrupt stays off. The binary is the same. */
static volatile uint16_t overflows;

ISR(TIMER1_OVF_vect) {
    overflows++;
}

void hal_init(void) {
    UCSR0A = (1 << U2X0);
    UBRR0 = 16; /* 16 MHz / 8 / (16 + 1) = 117,647 baud, 2.1 % above 115,200: what Arduino uses */
    UCSR0C = (1 << UCSZ01) | (1 << UCSZ00);
    UCSR0B = (1 << RXEN0) | (1 << TXEN0);
}

uint8_t hal_read(void) {
    while (!(UCSR0A & (1 << RXC0))) {
    }
    return UDR0;
}

void hal_write(uint8_t byte) {
    while (!(UCSR0A & (1 << UDRE0))) {
    }
    UDR0 = byte;
}

void hal_mark(uint8_t begins) {
    GPIOR0 = begins; /* a general-purpose register with no effect on the chip (datasheet 8.5.1) */
}

void hal_timer_start(void) {
    TCCR1A = 0;
    TCCR1B = 0;
    TCNT1 = 0;
    TIFR1 = (1 << TOV1);
    overflows = 0;
    TIMSK1 = (1 << TOIE1);
    TCCR1B = (1 << CS10); /* clk/1 */
    if (!(GPIOR1 & 1)) {  /* a simulator sets this bit: it counts by itself and wants no interrupt */
        sei();
    }
}

uint32_t hal_timer_cycles(void) {
    TCCR1B = 0;
    cli();
    uint32_t high = overflows;
    if (TIFR1 & (1 << TOV1)) {
        high++;
    }
    return (high << 16) | TCNT1;
}

/* --- stack --------------------------------------------------------------------------------------- */

extern uint8_t _end; /* first byte after .bss (avr-libc has no heap here) */
enum { PAINT = 0xa5 };

void hal_stack_paint(void) {
    uint8_t *byte = &_end;
    uint8_t *top = (uint8_t *)(SP - 8); /* below our own frame */
    while (byte < top) {
        *byte++ = PAINT;
    }
}

uint32_t hal_stack_depth(void) {
    const uint8_t *byte = &_end;
    const uint8_t *top = (const uint8_t *)SP;
    while (byte < top && *byte == PAINT) {
        byte++;
    }
    return (uint32_t)(top - byte);
}

uint32_t hal_clock_hz(void) {
    return F_CPU;
}
