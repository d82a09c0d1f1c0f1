/* terminal.h: text on the UART for the demos, and the board's clock in microseconds. */
#ifndef MOTECRYPT_TERMINAL_H
#define MOTECRYPT_TERMINAL_H

#include <stdint.h>

#include "hal.h"

static inline void put_text(const char *text) {
    while (*text) {
        hal_write((uint8_t)*text++);
    }
}

static inline void put_line(const char *text) {
    put_text(text);
    put_text("\r\n");
}

static inline void put_number(uint32_t number) {
    char digits[10];
    int count = 0;
    do {
        digits[count++] = (char)('0' + number % 10u);
        number /= 10u;
    } while (number != 0);
    while (count) {
        hal_write((uint8_t)digits[--count]);
    }
}

/* Two digits for each byte. */
static inline void put_hex(const uint8_t *bytes, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        hal_write((uint8_t)"0123456789ABCDEF"[bytes[i] >> 4]);
        hal_write((uint8_t)"0123456789ABCDEF"[bytes[i] & 15u]);
    }
}

/* RP2040 datasheet 4.6: TIMERAWL counts microseconds from start-up. */
static inline uint32_t now_us(void) {
    return *(volatile uint32_t *)0x40054028u;
}

/* The last that is sent leaves the UART; then main may return to an endless loop, without interrupts, which a
 * simulator knows as the end. */
static inline void end_of_demo(void) {
    while (*(volatile uint32_t *)0x40034018u & 8u) { /* UARTFR.BUSY, 4.2.8 */
    }
    __asm__ volatile("cpsid i");
}

#endif
