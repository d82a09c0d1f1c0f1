/* SPDX-License-Identifier: MIT
 * riscv_fe310.h: the registers of FE310-G002 that start-up code, UART0 and counters need.
 * Source of all addresses and bits: SiFive FE310-G002 Manual v19p05 (4 memory map, 6 clocks, 13.2 backup
 * registers, 18 UART).
 */
#ifndef MOTECRYPT_RISCV_FE310_H
#define MOTECRYPT_RISCV_FE310_H

#include "riscv_registers.h"

#define FE310_PRCI 0x10008000u
#define FE310_UART0 0x10013000u
#define FE310_CLINT_MTIME 0x0200BFF8u
#define FE310_HFROSC_HZ 13.8e6 /* about, at reset (6.3) */
#define FE310_HFXOSC_HZ 16e6   /* the crystal of HiFive1 Rev B */
#define FE310_MTIME_HZ 32768.0

static inline double fe310_pll_hz(struct riscv_chip *chip) {
    uint32_t settings = riscv_kept(chip, FE310_PRCI + 8);
    double source = settings & 1u << 17 ? FE310_HFXOSC_HZ : FE310_HFROSC_HZ;
    uint32_t divider = riscv_kept(chip, FE310_PRCI + 12);
    if (!(settings & 1u << 18)) { /* not bypassed: / R, x 2F, / 2^Q (6.5) */
        source = source / ((settings & 7u) + 1) * 2 * ((settings >> 4 & 0x3Fu) + 1) /
                 (1u << (settings >> 10 & 3u));
    }
    return divider & 0x100u ? source : source / (2 * ((divider & 0x3Fu) + 1));
}

static inline double fe310_hz(struct riscv_chip *chip) {
    return riscv_kept(chip, FE310_PRCI + 8) & 1u << 16 ? fe310_pll_hz(chip) : FE310_HFROSC_HZ;
}

static inline double fe310_baud(struct riscv_chip *chip) {
    bool is_on = (riscv_kept(chip, FE310_UART0 + 8) & 1u) && (riscv_kept(chip, FE310_UART0 + 12) & 1u);
    return is_on ? fe310_hz(chip) / ((riscv_kept(chip, FE310_UART0 + 24) & 0xFFFFu) + 1) : 0.0;
}

static inline void fe310_reset(struct riscv_chip *chip) {
    *riscv_register(chip, FE310_PRCI) = 0xC0000004u;      /* hfrosccfg: on, ready */
    *riscv_register(chip, FE310_PRCI + 8) = 0x00060DF1u;  /* pllcfg: bypassed, from the crystal */
    *riscv_register(chip, FE310_PRCI + 12) = 0x00000100u; /* plloutdiv: by 1 */
}

static inline uint32_t fe310_read(struct riscv_chip *chip, uint32_t address, uint32_t kept) {
    switch (address) {
    case FE310_PRCI:
    case FE310_PRCI + 4: /* an oscillator is ready as soon as it is on */
        return (kept & ~(1u << 31)) | (kept & 1u << 30) << 1;
    case FE310_PRCI + 8:
        return kept | 1u << 31; /* the PLL is locked */
    case FE310_UART0:
        return riscv_waiting(chip) > 8 ? 1u << 31 : 0;
    case FE310_UART0 + 4:
        return riscv_has_input(chip) ? chip->outside.uart_read(chip->outside.context) : 1u << 31;
    case FE310_UART0 + 20: /* ip: what waits is below txcnt, above rxcnt */
        return (riscv_waiting(chip) < (riscv_kept(chip, FE310_UART0 + 8) >> 16 & 7u) ? 1u : 0) |
               (riscv_has_input(chip) ? 2u : 0);
    case FE310_CLINT_MTIME:
        return (uint32_t)(uint64_t)(riscv_seconds(chip) * FE310_MTIME_HZ);
    case FE310_CLINT_MTIME + 4:
        return (uint32_t)((uint64_t)(riscv_seconds(chip) * FE310_MTIME_HZ) >> 32);
    default:
        return kept;
    }
}

static inline void fe310_write(struct riscv_chip *chip, uint32_t address, uint32_t value) {
    if (address == FE310_UART0) {
        chip->outside.uart_write(chip->outside.context, (uint8_t)value);
    }
}

static inline const char *fe310_absent(uint32_t address) {
    return address - 0x20000000u < 0x20000000u   ? " (beyond the flash)"
           : address - 0x80000000u < 0x80000000u ? " (beyond the RAM)"
           : address - 0x08000000u < 0x00002000u ? " (the ITIM is not modelled)"
           : address - 0x00001000u < 0x00001000u ? " (the boot ROM is not modelled)"
           : address - 0x00010000u < 0x00002000u ? " (the boot ROM is not modelled)"
           : address - 0x00020000u < 0x00002000u ? " (the OTP memory is not modelled)"
                                                 : "";
}

static const struct chip_gap fe310_gaps[] = {
    {0x10014000u, 0x1000u, 0, "SPI: not modelled; its registers only keep what is written"},
    {0x10015000u, 0x1000u, 0, "PWM: not modelled; its registers only keep what is written"},
    {0x10016000u, 0x1000u, 0, "I2C: not modelled; its registers only keep what is written"},
    {0x10023000u, 0x1000u, 0, "UART1: not modelled; nothing is sent or received"},
    {0x10024000u, 0x2000u, 0, "SPI and PWM: not modelled; their registers only keep what is written"},
    {0x10034000u, 0x2000u, 0, "SPI and PWM: not modelled; their registers only keep what is written"},
    {0x02004000u, 0x0008u, 1, "the timer's interrupt: not modelled; it never comes"},
    {0x0C002000u, 0x0100u, 1, "interrupts: not modelled; they are never delivered"},
};

static const struct riscv_chip_model fe310_model = {
    "FE310-G002",
    {{0x02000000u, 0x10000u, CHIP_CORE}, /* CLINT */
     {0x0C000000u, 0x4000u, CHIP_CORE},  /* PLIC: priorities and enables */
     {0x0C200000u, 0x1000u, CHIP_CORE},
     {0x10000000u, 0x37000u, CHIP_PERIPHERAL}},
    4,
    fe310_gaps,
    COUNT_OF(fe310_gaps),
    fe310_reset,
    fe310_read,
    fe310_write,
    fe310_hz,
    fe310_baud,
    fe310_absent};

#endif
