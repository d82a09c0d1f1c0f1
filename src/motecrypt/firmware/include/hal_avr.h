/* hal_avr.h: the hal of an AVR with a USART and a 16-bit timer 1. A device's hal.c includes it, after the names of
 * its registers where they are not those of USART 0 and of chips with GPIORs. Registers are named as in avr-libc.
 *
 *   HAL_USART    number of the USART, default 0; not defined by a chip whose only USART has no number
 *   HAL_MARK     a register without effect, for hal_mark
 *   HAL_SIMULATED a register without effect whose bit 0 is 0 after a reset
 *   HAL_LINE     of a chip without a USART: a register that a simulator takes for one, see below
 *   HAL_PAINTED  a register without effect that is 0 after a reset, for hal_stack_depth
 *   HAL_BLOCK    bytes of stack for one step of HAL_PAINTED, a multiple of 8; 255 steps cover the RAM
 */
#ifndef MOTECRYPT_HAL_AVR_H
#define MOTECRYPT_HAL_AVR_H

#include "hal.h"

#include <avr/interrupt.h>
#include <avr/io.h>

#ifndef HAL_MARK
#define HAL_MARK GPIOR0
#define HAL_SIMULATED GPIOR1
#define HAL_PAINTED GPIOR2
#endif
#ifndef HAL_BLOCK
#define HAL_BLOCK 8
#endif

#if defined HAL_LINE
#elif defined UCSRA /* one USART without a number, and one register for the flags of all timers */
#define HAL_UCSRA UCSRA
#define HAL_UCSRB UCSRB
#define HAL_UBRR UBRRL
#define HAL_UDR UDR
#define HAL_TIFR1 TIFR
#define HAL_TIMSK1 TIMSK
#elif defined HAL_USART && HAL_USART == 1
#define HAL_UCSRA UCSR1A
#define HAL_UCSRB UCSR1B
#define HAL_UCSRC UCSR1C
#define HAL_UBRR UBRR1
#define HAL_UDR UDR1
#else
#define HAL_UCSRA UCSR0A
#define HAL_UCSRB UCSR0B
#define HAL_UCSRC UCSR0C
#define HAL_UBRR UBRR0
#define HAL_UDR UDR0
#endif
#ifndef HAL_TIFR1
#define HAL_TIFR1 TIFR1
#define HAL_TIMSK1 TIMSK1
#endif

#ifdef HAL_LINE

/* The chip has no USART. Bytes go through a register that only a simulator reads and writes, and only a simulator counts
 * cycles: such a chip is not measured on a board. While bit 1 of HAL_SIMULATED is 1 a byte has come; writing
 * HAL_SIMULATED asks for the next. */
enum { HAL_CAME = 1 << 1 };

void hal_init(void) {
}

uint8_t hal_read(void) {
    while (!(HAL_SIMULATED & HAL_CAME)) {
    }
    uint8_t byte = HAL_LINE;
    HAL_SIMULATED = 1;
    return byte;
}

void hal_write(uint8_t byte) {
    HAL_LINE = byte;
}

void hal_timer_start(void) {
}

uint32_t hal_timer_cycles(void) {
    return UINT32_MAX;
}

#else

enum {
    /* of every AVR's USART, in UCSRnA and UCSRnB */
    HAL_RXC = 1 << 7,
    HAL_UDRE = 1 << 5,
    HAL_U2X = 1 << 1,
    HAL_RXEN = 1 << 4,
    HAL_TXEN = 1 << 3,
    HAL_8N1 = 3 << 1,
    /* Eight samples a bit, rounded down, as Arduino does it: at 16 MHz 117,647 baud, 2.1 % above 115,200. */
    HAL_BAUD_DIVISOR = (F_CPU / 4 / 115200 - 1) / 2,
};

/* A simulator sets this bit; a board's reset clears it. With it the serial line runs as fast as the chip
 * allows, so that little time is simulated for it, and timer 1's interrupt stays off. The binary is the same. */
static uint8_t simulated(void) {
    return HAL_SIMULATED & 1;
}

/* Timer 1 counts cycles modulo 2^16; its overflow interrupt counts the rest. The interrupt costs the
 * timed code about 25 cycles in 65,536 (0.04 %). A simulator counts cycles by itself and wants the code
 * undisturbed. */
static volatile uint16_t overflows;

ISR(TIMER1_OVF_vect) {
    overflows++;
}

void hal_init(void) {
    HAL_UCSRA = HAL_U2X;
#ifdef URSEL /* UBRRH has UCSRC's address, and a reset selects frames of 8 bits without parity */
    UBRRH = 0;
#endif
    HAL_UBRR = simulated() ? 0 : HAL_BAUD_DIVISOR;
#ifdef HAL_UCSRC
    HAL_UCSRC = HAL_8N1;
#endif
    HAL_UCSRB = HAL_RXEN | HAL_TXEN;
}

uint8_t hal_read(void) {
    while (!(HAL_UCSRA & HAL_RXC)) {
    }
    return HAL_UDR;
}

void hal_write(uint8_t byte) {
    while (!(HAL_UCSRA & HAL_UDRE)) {
    }
    HAL_UDR = byte;
}

#endif

void hal_mark(uint8_t begins) {
    HAL_MARK = begins;
}

#ifndef HAL_LINE

void hal_timer_start(void) {
    TCCR1A = 0;
    TCCR1B = 0;
    TCNT1 = 0;
    HAL_TIFR1 = (1 << TOV1);
    overflows = 0;
    HAL_TIMSK1 = (1 << TOIE1);
    TCCR1B = (1 << CS10); /* clk/1 */
    if (!simulated()) {
        sei();
    }
}

uint32_t hal_timer_cycles(void) {
    TCCR1B = 0;
    cli();
    uint32_t high = overflows;
    if (HAL_TIFR1 & (1 << TOV1)) {
        high++;
    }
    return (high << 16) | TCNT1;
}

#endif

/* --- stack --------------------------------------------------------------------------------------- */

extern uint8_t _end; /* first byte after .bss (avr-libc has no heap here) */

enum {
    PAINT = 0xa5,
    /* more than what the benchmark firmware uses of the stack between two runs */
    BLOCKS_BELOW = (64 + HAL_BLOCK - 1) / HAL_BLOCK,
};

/* What a run has not reached is still painted. HAL_PAINTED holds how many blocks from _end on that is: a
 * variable would take RAM from the cipher. */
void hal_stack_paint(void) {
    uint8_t *byte = &_end + (uint16_t)HAL_PAINTED * HAL_BLOCK;
    uint8_t *top = (uint8_t *)(SP - 8); /* below our own frame */
    while (byte < top) {
        *byte++ = PAINT;
    }
}

static uint8_t block_is_painted(const uint8_t *byte) {
    const uint8_t *end = byte + HAL_BLOCK;
    for (; byte < end; byte += 8) {
        if (byte[0] != PAINT || byte[1] != PAINT || byte[2] != PAINT || byte[3] != PAINT ||
            byte[4] != PAINT || byte[5] != PAINT || byte[6] != PAINT || byte[7] != PAINT) {
            return 0;
        }
    }
    return 1;
}

uint32_t hal_stack_depth(void) {
    const uint8_t *byte = &_end;
    const uint8_t *top = (const uint8_t *)SP;
    uint8_t blocks = 0;
    while (byte < top - HAL_BLOCK && block_is_painted(byte)) {
        byte += HAL_BLOCK;
        blocks++;
    }
    HAL_PAINTED = blocks > BLOCKS_BELOW ? (uint8_t)(blocks - BLOCKS_BELOW) : 0;
    while (byte < top && *byte == PAINT) {
        byte++;
    }
    return (uint32_t)(top - byte);
}

uint32_t hal_clock_hz(void) {
    return F_CPU;
}

#endif
