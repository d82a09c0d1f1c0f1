/* hal.c: RP2040 on a Raspberry Pi Pico. Clocks from the crystal, UART0 on GPIO0 (out) and GPIO1 (in),
 * cycles from SysTick, microseconds from the timer. It does not depend on the cipher. Section numbers: RP2040
 * datasheet.
 */
#include "hal.h"

#ifndef CLOCK_MHZ
#define CLOCK_MHZ 125 /* the SDK's default; 133, the datasheet's limit, is the other choice */
#endif
#if CLOCK_MHZ < 63 || CLOCK_MHZ > 133
#error "CLOCK_MHZ must be 63 to 133: the PLL runs at 12 times this, 750 to 1600 MHz"
#endif

#define BAUD 115200u

#define AT(address) (*(volatile uint32_t *)(address))
#define SET(address) AT((address) + 0x2000u)   /* atomic set of the bits written, 2.1.2 */
#define CLEAR(address) AT((address) + 0x3000u) /* atomic clear */

#define CLOCKS 0x40008000u
#define CLK_REF_CTRL (CLOCKS + 0x30u)
#define CLK_REF_SELECTED (CLOCKS + 0x38u)
#define CLK_SYS_CTRL (CLOCKS + 0x3Cu)
#define CLK_SYS_SELECTED (CLOCKS + 0x44u)
#define CLK_PERI_CTRL (CLOCKS + 0x48u)
#define RESETS 0x4000C000u
#define RESETS_DONE (RESETS + 8u)
#define IO_BANK0 0x40014000u
#define XOSC 0x40024000u
#define PLL_SYS 0x40028000u
#define UART0 0x40034000u
#define UART_FLAGS (UART0 + 0x18u)
#define TIMER_RAW_LOW 0x40054028u
#define WATCHDOG_SCRATCH0 0x4005800Cu
#define WATCHDOG_SCRATCH1 0x40058010u
#define WATCHDOG_TICK 0x4005802Cu
#define SYSTICK_CONTROL 0xE000E010u
#define SYSTICK_RELOAD 0xE000E014u
#define SYSTICK_VALUE 0xE000E018u

#define RESET_IO_BANK0 (1u << 5)
#define RESET_PADS_BANK0 (1u << 8)
#define RESET_PLL_SYS (1u << 12)
#define RESET_TIMER (1u << 21)
#define RESET_UART0 (1u << 22)

/* Where hal_timer_start was: hal.h has no handle to keep it in, and there is one timer. */
static uint32_t timer_start_us;
static uint32_t timer_start_ticks;

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

/* 2.15, 2.16, 2.18: 12 MHz crystal x CLOCK_MHZ = 12 x CLOCK_MHZ MHz, divided by 6 and 2. */
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
    AT(PLL_SYS) = 1u;             /* reference divider */
    AT(PLL_SYS + 8u) = CLOCK_MHZ; /* 12 MHz times this */
    CLEAR(PLL_SYS + 4u) = 0x21u;  /* power, oscillator on */
    wait_for(PLL_SYS, 1u << 31);  /* locked */
    AT(PLL_SYS + 12u) = 6u << 16 | 2u << 12;
    CLEAR(PLL_SYS + 4u) = 0x08u; /* dividers on */
    AT(CLK_SYS_CTRL) = 0u;       /* auxiliary source: the PLL; then switch to it */
    SET(CLK_SYS_CTRL) = 1u;
    wait_for(CLK_SYS_SELECTED, 1u << 1);
    AT(CLK_PERI_CTRL) = 1u << 11;        /* the UART's clock is the core's */
    AT(WATCHDOG_TICK) = 12u | (1u << 9); /* the timer counts microseconds of the crystal */
}

/* 4.2.7: divisor in 64ths = 4 x clock / baud, rounded. */
static void start_uart(void) {
    uint32_t divisor = (8u * hal_clock_hz() / BAUD + 1u) / 2u;
    AT(IO_BANK0 + 0x04u) = 2u; /* GPIO0 and GPIO1 are the UART's */
    AT(IO_BANK0 + 0x0Cu) = 2u;
    AT(UART0 + 0x24u) = divisor >> 6;
    AT(UART0 + 0x28u) = divisor & 63u;
    AT(UART0 + 0x2Cu) = 3u << 5 | 1u << 4; /* 8 bits, no parity, FIFOs on; also latches the divisor */
    AT(UART0 + 0x30u) = 0x301u;            /* receiver, sender, UART */
}

void hal_init(void) {
    start_clocks();
    release(RESET_IO_BANK0 | RESET_PADS_BANK0 | RESET_TIMER | RESET_UART0);
    start_uart();
    AT(SYSTICK_RELOAD) = 0xFFFFFFu;
    AT(SYSTICK_VALUE) = 0u;
    AT(SYSTICK_CONTROL) = 5u; /* on, from the core's clock, no interrupt */
}

uint8_t hal_read(void) {
    while (AT(UART_FLAGS) & 0x10u) {
    }
    return (uint8_t)AT(UART0);
}

void hal_write(uint8_t byte) {
    while (AT(UART_FLAGS) & 0x20u) {
    }
    AT(UART0) = byte;
}

void hal_mark(uint8_t begins) {
    AT(WATCHDOG_SCRATCH0) = begins;
}

void hal_timer_start(void) {
    timer_start_us = AT(TIMER_RAW_LOW);
    timer_start_ticks = AT(SYSTICK_VALUE);
}

/* SysTick is exact but has 24 bits (134 ms); the timer counts on for 71 minutes but in microseconds. The
 * result is the number of cycles nearest to the timer's whose low 24 bits are SysTick's. */
uint32_t hal_timer_cycles(void) {
    uint32_t ticks = (timer_start_ticks - AT(SYSTICK_VALUE)) & 0xFFFFFFu; /* counts down */
    uint32_t us = AT(TIMER_RAW_LOW) - timer_start_us;
    uint32_t coarse;
    int32_t difference;
    if (us > UINT32_MAX / CLOCK_MHZ - 1u) {
        return UINT32_MAX;
    }
    coarse = us * CLOCK_MHZ;
    difference = (int32_t)((ticks - coarse) << 8) >> 8; /* -2^23 to 2^23 - 1 */
    return coarse < 0x800000u && difference < 0 && (uint32_t)-difference > coarse
               ? ticks
               : coarse + (uint32_t)difference;
}

/* A simulator writes SIMULATED to SCRATCH1 before the firmware starts; power-on clears it. */
#define SIMULATED_AT AT(WATCHDOG_SCRATCH1)
#include "hal_stack_arm.h"

uint32_t hal_clock_hz(void) {
    return CLOCK_MHZ * 1000000u;
}
