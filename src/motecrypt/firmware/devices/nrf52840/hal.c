/* hal.c: nRF52840 on Nordic's DK. 64 MHz, which is its only clock; UART 0 on P0.06 (out) and P0.08 (in), which the
 * board's debugger connects. It does not depend on the cipher. Section numbers: Nordic, product specification 1.7.
 */
#include "hal.h"
#include "hal_counter_arm.h"

#define CLOCK_HZ 64000000u
#define BAUD_115200 0x01D7E000u /* 6.33.10.17 */

#define AT(address) (*(volatile uint32_t *)(address))

#define CLOCK_START 0x40000000u
#define CLOCK_STARTED 0x40000100u
#define GPREGRET2 0x40000520u
#define UART 0x40002000u
#define UART_RECEIVED (UART + 0x108u)
#define UART_SENT (UART + 0x11Cu)
#define NVMC_CACHE 0x4001E540u
#define GPIO 0x50000000u
#define UICR_CUSTOMER 0x10001080u

/* 5.4: the crystal, for the baud rate. 4.3.6: the cache for code is off after reset. */
static void start_clock(void) {
    AT(CLOCK_STARTED) = 0u;
    AT(CLOCK_START) = 1u;
    while (AT(CLOCK_STARTED) == 0u) {
        /* it starts within a millisecond, or it is broken, and a deadline could report that to nobody */
    }
    AT(NVMC_CACHE) = 1u;
}

/* 6.33: P0.06 is an output that is high, P0.08 an input. */
static void start_uart(void) {
    AT(GPIO + 0x508u) = 1u << 6;
    AT(GPIO + 0x518u) = 1u << 6;
    AT(UART + 0x50Cu) = 6u;
    AT(UART + 0x514u) = 8u;
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
    AT(GPREGRET2) = begins;
}

/* A simulator writes SIMULATED there before the firmware starts; the chip reads ones, unless it was programmed. */
#define SIMULATED_AT AT(UICR_CUSTOMER)
#include "hal_stack_arm.h"

uint32_t hal_clock_hz(void) {
    return CLOCK_HZ;
}
