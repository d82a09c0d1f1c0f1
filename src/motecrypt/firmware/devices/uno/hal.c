/* hal.c for the Arduino UNO: ATmega328P at 16 MHz. Datasheet: Microchip DS40002061B. */
#include "hal.h"

#include <avr/interrupt.h>
#include <avr/io.h>

/* A simulator sets bit 0 of GPIOR1 before the firmware starts; a board's reset clears it. With it the serial
 * line runs as fast as the chip allows (2 Mbaud), so that little time is simulated for it, and timer 1's
 * interrupt stays off. The binary is the same. */
static uint8_t simulated(void) {
    return GPIOR1 & 1;
}

/* Timer 1 counts cycles modulo 2^16; its overflow interrupt counts the rest. The interrupt costs the
 * timed code about 25 cycles in 65,536 (0.04 %). A simulator counts cycles by itself and wants the code
 * undisturbed. */
static volatile uint16_t overflows;

ISR(TIMER1_OVF_vect) {
    overflows++;
}

void hal_init(void) {
    UCSR0A = (1 << U2X0);
    /* 16 MHz / 8 / (16 + 1) = 117,647 baud, 2.1 % above 115,200: what Arduino uses */
    UBRR0 = simulated() ? 0 : 16;
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
    if (!simulated()) {
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

enum {
    PAINT = 0xa5,
    BLOCK_BYTES = 8,  /* so that the whole RAM is at most 256 of them */
    BLOCKS_BELOW = 8, /* more than what the benchmark firmware itself uses of the stack between two runs */
};

/* What a run has not reached is still painted. GPIOR2 holds how many blocks from _end on that is: a reset clears
 * it, and a variable would take RAM from the cipher. */
void hal_stack_paint(void) {
    uint8_t *byte = &_end + (uint16_t)GPIOR2 * BLOCK_BYTES;
    uint8_t *top = (uint8_t *)(SP - 8); /* below our own frame */
    while (byte < top) {
        *byte++ = PAINT;
    }
}

static uint8_t block_is_painted(const uint8_t *byte) {
    return byte[0] == PAINT && byte[1] == PAINT && byte[2] == PAINT && byte[3] == PAINT && byte[4] == PAINT &&
           byte[5] == PAINT && byte[6] == PAINT && byte[7] == PAINT;
}

uint32_t hal_stack_depth(void) {
    const uint8_t *byte = &_end;
    const uint8_t *top = (const uint8_t *)SP;
    uint8_t blocks = 0;
    while (byte < top - BLOCK_BYTES && block_is_painted(byte)) {
        byte += BLOCK_BYTES;
        blocks++;
    }
    GPIOR2 = blocks > BLOCKS_BELOW ? (uint8_t)(blocks - BLOCKS_BELOW) : 0;
    while (byte < top && *byte == PAINT) {
        byte++;
    }
    return (uint32_t)(top - byte);
}

uint32_t hal_clock_hz(void) {
    return F_CPU;
}
