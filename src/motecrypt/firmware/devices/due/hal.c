/* hal.c: AT91SAM3X8E on an Arduino Due. 84 MHz from the 12 MHz crystal; the UART on PA8 (in) and PA9 (out), which the
 * board's programming port connects. It does not depend on the cipher. Section numbers: Atmel 11057.
 */
#include "hal.h"
#include "hal_counter_arm.h"

#define CLOCK_HZ 84000000u
#define BAUD 115200u

#define AT(address) (*(volatile uint32_t *)(address))

#define PMC 0x400E0600u
#define PMC_MOR (PMC + 0x20u)
#define PMC_PLLAR (PMC + 0x28u)
#define PMC_MCKR (PMC + 0x30u)
#define PMC_SR (PMC + 0x68u)
#define UART 0x400E0800u
#define EEFC0_FMR 0x400E0A00u
#define EEFC1_FMR 0x400E0C00u
#define PIOA 0x400E0E00u
#define GPBR0 0x400E1A90u
#define GPBR7 0x400E1AACu
#define WDT_MR 0x400E1A54u

#define MOR_KEY (0x37u << 16)

/* Each wait is for hardware that answers within milliseconds or never (a broken crystal): no deadline could do better
 * than waiting, as there is no way to report it. */
static void wait_for(uint32_t bits) {
    while ((AT(PMC_SR) & bits) != bits) {
    }
}

/* 28.12, 28.15: the crystal, then 12 MHz x 14 / 2 = 84 MHz. 18.5.1: four wait states for each bank. */
static void start_clock(void) {
    AT(EEFC0_FMR) = 4u << 8;
    AT(EEFC1_FMR) = 4u << 8;
    AT(PMC_MOR) = MOR_KEY | 8u << 8 | 1u << 3 | 1u; /* RC stays on while the crystal starts */
    wait_for(1u);
    AT(PMC_MOR) |= MOR_KEY | 1u << 24;
    wait_for(1u << 16);
    AT(PMC_MCKR) = 1u; /* the main clock, while the PLL starts */
    wait_for(1u << 3);
    AT(PMC_PLLAR) = 1u << 29 | 13u << 16 | 0x3Fu << 8 | 1u;
    wait_for(1u << 1);
    AT(PMC_MCKR) = 1u << 4 | 1u; /* first the divider, then the source (28.12) */
    wait_for(1u << 3);
    AT(PMC_MCKR) = 1u << 4 | 2u;
    wait_for(1u << 3);
}

/* 31.7, 34.6: both pins are peripheral A's; the UART has no parity. */
static void start_uart(void) {
    AT(PMC + 0x10u) = 1u << 8; /* the UART's clock */
    AT(PIOA + 0x04u) = 1u << 8 | 1u << 9;
    AT(PIOA + 0x64u) = 1u << 8; /* pull-up on the input, so that a loose pin sends nothing */
    AT(UART + 0x04u) = 4u << 9;
    AT(UART + 0x20u) = (CLOCK_HZ / 16u + BAUD / 2u) / BAUD;
    AT(UART) = 1u << 6 | 1u << 4; /* sender and receiver on */
}

void hal_init(void) {
    AT(WDT_MR) = 1u << 15; /* the watchdog is off */
    start_clock();
    start_uart();
    start_counter();
}

uint8_t hal_read(void) {
    while (!(AT(UART + 0x14u) & 1u)) {
    }
    return (uint8_t)AT(UART + 0x18u);
}

void hal_write(uint8_t byte) {
    while (!(AT(UART + 0x14u) & 2u)) {
    }
    AT(UART + 0x1Cu) = byte;
}

void hal_mark(uint8_t begins) {
    AT(GPBR0) = begins;
}

/* A simulator writes SIMULATED to the backup register before the firmware starts; power-on clears it. */
#define SIMULATED_AT AT(GPBR7)
#include "hal_stack_arm.h"

uint32_t hal_clock_hz(void) {
    return CLOCK_HZ;
}
