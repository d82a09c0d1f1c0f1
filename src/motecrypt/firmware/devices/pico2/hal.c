/* hal.c: RP2350 (its Arm cores) on a Raspberry Pi Pico 2. 150 MHz from the crystal; UART0 on GPIO0 (out) and GPIO1 (in). It
 * does not depend on the cipher. Section numbers: RP2350 datasheet (Raspberry Pi Ltd, 2024).
 */
#include "hal.h"
#include "hal_counter_arm.h"

#define CLOCK_HZ 150000000u
#define BAUD 115200u

#define AT(address) (*(volatile uint32_t *)(address))
#define SET(address) AT((address) + 0x2000u)   /* atomic set of the bits written, 2.1.3 */
#define CLEAR(address) AT((address) + 0x3000u) /* atomic clear */

#define CLOCKS 0x40010000u
#define CLK_REF_CTRL (CLOCKS + 0x30u)
#define CLK_REF_SELECTED (CLOCKS + 0x38u)
#define CLK_SYS_CTRL (CLOCKS + 0x3Cu)
#define CLK_SYS_SELECTED (CLOCKS + 0x44u)
#define CLK_PERI_CTRL (CLOCKS + 0x48u)
#define RESETS 0x40020000u
#define RESETS_DONE (RESETS + 8u)
#define IO_BANK0 0x40028000u
#define PADS_BANK0 0x40038000u
#define XOSC 0x40048000u
#define PLL_SYS 0x40050000u
#define UART0 0x40070000u
#define UART_FLAGS (UART0 + 0x18u)
#define WATCHDOG_SCRATCH0 0x400D800Cu
#define WATCHDOG_SCRATCH1 0x400D8010u

#define RESET_IO_BANK0 (1u << 6)
#define RESET_PADS_BANK0 (1u << 9)
#define RESET_PLL_SYS (1u << 14)
#define RESET_UART0 (1u << 26)

/* Each wait is for hardware that answers within a millisecond or never (a broken crystal): no deadline could
 * do better than waiting, as there is no way to report it. */
static void wait_for(uint32_t address, uint32_t bits) {
    while ((AT(address) & bits) != bits) {
    }
}

static void release(uint32_t bits) {
    CLEAR(RESETS) = bits;
    wait_for(RESETS_DONE, bits);
}

/* 8.2, 8.6: 12 MHz crystal x 125 = 1500 MHz, divided by 5 and 2. */
static void start_clocks(void) {
    AT(XOSC) = 0xAA0u;      /* range 1 to 15 MHz */
    AT(XOSC + 0x0Cu) = 47u; /* start-up delay: 1 ms in units of 256 crystal periods */
    SET(XOSC) = 0xFAB000u;  /* enable */
    wait_for(XOSC + 4u, 1u << 31);
    CLEAR(CLK_SYS_CTRL) = 1u; /* the core runs from clk_ref while the PLL changes */
    wait_for(CLK_SYS_SELECTED, 1u);
    AT(CLK_REF_CTRL) = 2u; /* the crystal */
    wait_for(CLK_REF_SELECTED, 1u << 2);
    SET(RESETS) = RESET_PLL_SYS;
    release(RESET_PLL_SYS);
    AT(PLL_SYS) = 1u; /* reference divider */
    AT(PLL_SYS + 8u) = 125u;
    CLEAR(PLL_SYS + 4u) = 0x21u; /* power, oscillator on */
    wait_for(PLL_SYS, 1u << 31); /* locked */
    AT(PLL_SYS + 12u) = 5u << 16 | 2u << 12;
    CLEAR(PLL_SYS + 4u) = 0x08u; /* dividers on */
    AT(CLK_SYS_CTRL) = 0u;       /* auxiliary source: the PLL; then switch to it */
    SET(CLK_SYS_CTRL) = 1u;
    wait_for(CLK_SYS_SELECTED, 1u << 1);
    AT(CLK_PERI_CTRL) = 1u << 11; /* the UART's clock is the core's */
}

/* 9.11.3: a pad is isolated until bit 8 is cleared. 12.1.7: divisor in 64ths = 4 x clock / baud, rounded. */
static void start_uart(void) {
    uint32_t divisor = (8u * CLOCK_HZ / BAUD + 1u) / 2u;
    AT(IO_BANK0 + 0x04u) = 2u; /* GPIO0 and GPIO1 are the UART's */
    AT(IO_BANK0 + 0x0Cu) = 2u;
    AT(PADS_BANK0 + 0x04u) = 0x52u; /* output: Schmitt trigger, 4 mA, input on */
    AT(PADS_BANK0 + 0x08u) = 0x5Au; /* input, pulled up */
    AT(UART0 + 0x24u) = divisor >> 6;
    AT(UART0 + 0x28u) = divisor & 63u;
    AT(UART0 + 0x2Cu) = 3u << 5 | 1u << 4; /* 8 bits, no parity, FIFOs on; also latches the divisor */
    AT(UART0 + 0x30u) = 0x301u;            /* receiver, sender, UART */
}

void hal_init(void) {
    start_clocks();
    release(RESET_IO_BANK0 | RESET_PADS_BANK0 | RESET_UART0);
    start_uart();
    start_counter();
}

uint8_t hal_read(void) {
    while (AT(UART_FLAGS) & 0x10u) {
    }
    return (uint8_t)AT(UART0);
}

void hal_write(uint8_t byte) {
    while (!(AT(UART_FLAGS) & 0x80u)) {
    }
    AT(UART0) = byte;
}

void hal_mark(uint8_t begins) {
    AT(WATCHDOG_SCRATCH0) = begins;
}

/* A simulator writes SIMULATED to this register before the firmware starts; power-on clears it. */
#define SIMULATED_AT AT(WATCHDOG_SCRATCH1)
#include "hal_stack_arm.h"

uint32_t hal_clock_hz(void) {
    return CLOCK_HZ;
}
