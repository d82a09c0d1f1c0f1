/* SPDX-License-Identifier: MIT
 * arm_rp2350.h: the registers of RP2350 that start-up code, UART0 and the cycle counter need, as arm_plain.h takes them.
 * Source of all addresses and bits: RP2350 datasheet (Raspberry Pi Ltd, 2024): 2.1.3 atomic access, 2.2 address map,
 * 7 resets, 8 clocks, 12.1 UART.
 */
#ifndef MOTECRYPT_ARM_RP2350_H
#define MOTECRYPT_ARM_RP2350_H

#include "arm_plain_chips.h"
#include "arm_rp2040.h"

#define RP2350_CLOCKS 0x40010000u
#define RP2350_RESETS 0x40020000u
#define RP2350_XOSC 0x40048000u
#define RP2350_PLL_SYS 0x40050000u
#define RP2350_UART0 0x40070000u
#define RP2350_ALIAS 0x3000u /* bits of an address that say how a write changes a register */
#define RP2350_XOSC_HZ 12e6

static struct chip_window rp2350_windows[] = {
    {0x40000000u, 0x00110000u, CHIP_PERIPHERAL},
    {0xD0000000u, 0x00001000u, CHIP_IO_PORT},
    PLAIN_CORE,
};

static const struct chip_gap rp2350_gaps[] = {
    {0x40078000u, 0x4000u, 0, "UART1: not modelled; nothing is sent or received"},
    {0x40080000u, 0x10000u, 0, "SPI: not modelled; its registers only keep what is written"},
    {0x40090000u, 0x10000u, 0, "I2C: not modelled; its registers only keep what is written"},
    {0x400A0000u, 0x8000u, 0, "ADC: not modelled; its registers only keep what is written"},
    {0x400A8000u, 0x8000u, 0, "PWM: not modelled; its registers only keep what is written"},
    {0x400B0000u, 0x10000u, 0, "the timers: not modelled; they never count"},
    {0x400F0000u, 0x8000u, 0, "random numbers: not modelled; they are 0"},
    {0x400F8000u, 0x8000u, 0, "the SHA-256 block: not modelled; it never answers"},
    {0xD0000050u, 0x000Cu, 0, "the second core: not modelled; it never answers"},
    {0xD0000080u, 0x0080u, 0, "the interpolators: not modelled"},
    PLAIN_NO_INTERRUPTS,
};

static const struct plain_absent rp2350_absent[] = {
    {0x00000000u, 0x00008000u, " (the boot ROM is not modelled)"},
    {0x10000000u, 0x0C000000u, " (beyond the flash; its uncached addresses are not modelled)"},
    {0x20082000u, 0x00100000u, " (beyond the RAM)"},
    {0x50000000u, 0x00100000u, " (DMA is not modelled)"},
    {0x50100000u, 0x00100000u, " (USB is not modelled)"},
    {0x50200000u, 0x00400000u, " (PIO is not modelled)"},
    PLAIN_END,
};

static const struct plain_value rp2350_values[] = {
    {RP2350_RESETS, 0x1FFFFFFFu}, {RP2350_PLL_SYS, 1u}, {RP2350_PLL_SYS + 4, 0x2Du}, PLAIN_END};

static const struct plain_rule rp2350_rules[] = {
    {RP2350_RESETS + 8, 0, 0x1FFFFFFFu, 0, 0, 0},             /* RESET_DONE: immediately */
    {RP2350_XOSC + 4, 0, 0x80001000u, 0, 0, 0},               /* STATUS: stable, on */
    {RP2350_PLL_SYS, ~0u, 0x80000000u, 0, 0, 0},              /* CS: locked */
    {RP2350_CLOCKS + 0x38, 0, 0xFu, 0, 0, 0},                 /* CLK_REF_SELECTED, CLK_SYS_SELECTED: immediately */
    {RP2350_CLOCKS + 0x44, 0, 0x3u, 0, 0, 0},
    PLAIN_END,
};

/* 2.1.3: at 0x1000 a write toggles, at 0x2000 sets, at 0x3000 clears the bits that are 1. */
static uint32_t rp2350_before_write(struct plain *chip, uint32_t *at, uint32_t value) {
    uint32_t how = *at & RP2350_ALIAS, old;
    if (*at >= 0x50000000u || how == 0) {
        return value;
    }
    *at &= ~RP2350_ALIAS;
    old = *plain_register(chip, *at);
    return how == 0x1000u ? old ^ value : how == 0x2000u ? old | value : old & ~value;
}

/* 8.6.3: crystal / REFDIV x FBDIV / POSTDIV1 / POSTDIV2. */
static double rp2350_pll_hz(struct plain *chip) {
    uint32_t reference = *plain_register(chip, RP2350_PLL_SYS) & 0x3Fu;
    uint32_t factor = *plain_register(chip, RP2350_PLL_SYS + 8) & 0xFFFu;
    uint32_t dividers = *plain_register(chip, RP2350_PLL_SYS + 12);
    uint32_t first = dividers >> 16 & 7u, second = dividers >> 12 & 7u;
    return reference == 0 || first == 0 || second == 0 ? 0.0 : RP2350_XOSC_HZ / reference * factor / first / second;
}

/* 8.1: the core runs from clk_ref (ring oscillator or crystal) or from the PLL. */
static double rp2350_hz(struct plain *chip) {
    bool has_crystal = (*plain_register(chip, RP2350_CLOCKS + 0x30) & 3u) == 2;
    bool has_pll = (*plain_register(chip, RP2350_CLOCKS + 0x3C) & 1u) != 0;
    return has_pll ? rp2350_pll_hz(chip) : has_crystal ? RP2350_XOSC_HZ : RP2350_ROSC_HZ;
}

/* 12.1.7: 64ths of a divisor by 16 of clk_peri, which is the core's clock. */
static double rp2350_baud(struct plain *chip) {
    double divisor = (*plain_register(chip, RP2350_UART0 + 0x24) & 0xFFFFu) +
                     (*plain_register(chip, RP2350_UART0 + 0x28) & 63u) / 64.0;
    return (*plain_register(chip, RP2350_UART0 + 0x30) & 0x301u) == 0x301u && divisor > 0.0
               ? rp2350_hz(chip) / (16.0 * divisor)
               : 0.0;
}

/* UARTFR: RXFE and TXFE. TXFF is never set: firmware that waits for room alone never waits. */
static const struct plain_model rp2350_model = {
    .cpuid = 0x411FD210u, /* Cortex-M33 r1p0 */
    .values = rp2350_values,
    .rules = rp2350_rules,
    .uart = {.status = RP2350_UART0 + 0x18,
             .in = RP2350_UART0,
             .out = RP2350_UART0,
             .has_no_input = 0x10u,
             .all_sent = 0x80u},
    .clock_base = RP2350_CLOCKS,
    .clock_bytes = 0x4000,
    .hz = rp2350_hz,
    .baud = rp2350_baud,
    .before_write = rp2350_before_write,
};

#endif
