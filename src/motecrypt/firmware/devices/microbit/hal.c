/* hal.c: nRF51822 on a micro:bit, version 1. 16 MHz, which is its only clock; the UART on P0.24 (out) and P0.25 (in), which
 * the board's debugger connects. It does not depend on the cipher. Section numbers: Nordic, nRF51 series reference manual.
 */
#include "hal.h"
#include "hal_counter_arm.h"

#define CLOCK_HZ 16000000u
#define BAUD_115200 0x01D7E000u /* 29.9.13 */

#define AT(address) (*(volatile uint32_t *)(address))

#define CLOCK_START 0x40000000u
#define CLOCK_STARTED 0x40000100u
#define GPREGRET 0x4000051Cu
#define UART 0x40002000u
#define UART_RECEIVED (UART + 0x108u)
#define UART_SENT (UART + 0x11Cu)
#define GPIO 0x50000000u
#define UICR_CUSTOMER 0x10001080u

/* 13.1: the crystal, for the baud rate. */
static void start_clock(void) {
    AT(CLOCK_STARTED) = 0u;
    AT(CLOCK_START) = 1u;
    while (AT(CLOCK_STARTED) == 0u) {
        /* it starts within a millisecond, or it is broken, and a deadline could report that to nobody */
    }
}

/* 29: P0.24 is an output that is high, P0.25 an input. */
static void start_uart(void) {
    AT(GPIO + 0x508u) = 1u << 24;
    AT(GPIO + 0x518u) = 1u << 24;
    AT(UART + 0x50Cu) = 24u;
    AT(UART + 0x514u) = 25u;
    AT(UART + 0x524u) = BAUD_115200;
    AT(UART + 0x500u) = 4u;
    AT(UART + 0x000u) = 1u; /* start receiving */
    AT(UART + 0x008u) = 1u; /* and sending */
}

void hal_init(void) {
    start_clock();
    start_uart();
    start_counter();
}

/* The event comes again for each further byte that waits, once the one before was read. */
uint8_t hal_read(void) {
    while (AT(UART_RECEIVED) == 0u) {
    }
    AT(UART_RECEIVED) = 0u;
    return (uint8_t)AT(UART + 0x518u);
}

void hal_write(uint8_t byte) {
    AT(UART_SENT) = 0u;
    AT(UART + 0x51Cu) = byte;
    while (AT(UART_SENT) == 0u) {
    }
}

void hal_mark(uint8_t begins) {
    AT(GPREGRET) = begins;
}

/* A simulator writes SIMULATED there before the firmware starts; the chip reads ones, unless it was programmed. */
#define SIMULATED_AT AT(UICR_CUSTOMER)
#include "hal_stack_arm.h"

uint32_t hal_clock_hz(void) {
    return CLOCK_HZ;
}
