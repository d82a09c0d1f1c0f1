/* SPDX-License-Identifier: MIT
 * riscv_ch32v003.h: the registers of CH32V003 that start-up code, USART1 and the cycle counter need.
 * Source of all addresses and bits: WCH, CH32V003 Reference Manual V1.7 (3 RCC, 8 DMA, 12 USART, 16 flash);
 * SysTick: WCH, QingKe V2 Microprocessor Manual V1.0.
 */
#ifndef MOTECRYPT_RISCV_CH32V003_H
#define MOTECRYPT_RISCV_CH32V003_H

#include "riscv_registers.h"

#define CH32V003_USART1 0x40013800u
#define CH32V003_RCC 0x40021000u
#define CH32V003_FLASH_ACTLR 0x40022000u
#define CH32V003_SYSTICK 0xE000F000u
#define CH32V003_HSI_HZ 24e6
#define CH32V003_HSE_HZ 24e6 /* the crystal of WCH's evaluation board */

enum {
    CH32V003_SYSTICK_ON = 1 << 0,
    CH32V003_SYSTICK_UNDIVIDED = 1 << 2 /* else HCLK / 8 */
};

/* By how much HPRE divides (3.4.2). */
static inline uint32_t ch32v003_divider(uint32_t field) {
    return field & 8u ? 2u << (field & 7u) : (field & 7u) + 1;
}

static inline double ch32v003_hz(struct riscv_chip *chip) {
    uint32_t settings = riscv_kept(chip, CH32V003_RCC + 4);
    double hz = CH32V003_HSI_HZ;
    if ((settings & 3u) == 1) {
        hz = CH32V003_HSE_HZ;
    } else if ((settings & 3u) == 2) {
        hz = 2 * (settings & 1u << 16 ? CH32V003_HSE_HZ : CH32V003_HSI_HZ);
    }
    return hz / ch32v003_divider(settings >> 4 & 15u);
}

static inline double ch32v003_baud(struct riscv_chip *chip) {
    uint32_t divisor = riscv_kept(chip, CH32V003_USART1 + 8) & 0xFFFFu;
    bool is_on = (riscv_kept(chip, CH32V003_USART1 + 12) & 0x200Cu) == 0x200Cu;
    return is_on && divisor != 0 ? ch32v003_hz(chip) / divisor : 0.0;
}

static inline void ch32v003_reset(struct riscv_chip *chip) {
    *riscv_register(chip, CH32V003_RCC) = 0x83u;     /* CTLR: the internal oscillator runs */
    *riscv_register(chip, CH32V003_RCC + 4) = 0x20u; /* CFGR0: / 3 */
}

/* Cycles of each count of SysTick. */
static inline uint32_t ch32v003_count_cycles(struct riscv_chip *chip) {
    return riscv_kept(chip, CH32V003_SYSTICK) & CH32V003_SYSTICK_UNDIVIDED ? 1 : 8;
}

static inline uint32_t ch32v003_count(struct riscv_chip *chip) {
    uint64_t cycles = chip->outside.cycles(chip->outside.context) - chip->counter_zero;
    return (uint32_t)(cycles / ch32v003_count_cycles(chip));
}

static inline uint32_t ch32v003_read(struct riscv_chip *chip, uint32_t address, uint32_t kept) {
    switch (address) {
    case CH32V003_RCC: /* each oscillator and the PLL is ready as soon as it is on */
        return (kept & ~0x02020002u) | (kept & 0x01010001u) << 1;
    case CH32V003_RCC + 4: /* the switch follows immediately */
        return (kept & ~0xCu) | (kept & 3u) << 2;
    case CH32V003_USART1: /* STATR: TXE, TC, RXNE */
        return (riscv_waiting(chip) <= 1 ? 0x80u : 0) | (riscv_waiting(chip) == 0 ? 0x40u : 0) |
               (riscv_has_input(chip) ? 0x20u : 0);
    case CH32V003_USART1 + 4:
        return chip->outside.uart_read(chip->outside.context);
    case CH32V003_SYSTICK + 8:
        return riscv_kept(chip, CH32V003_SYSTICK) & CH32V003_SYSTICK_ON ? ch32v003_count(chip) : kept;
    default:
        return kept;
    }
}

static inline void ch32v003_write(struct riscv_chip *chip, uint32_t address, uint32_t value) {
    uint64_t now = chip->outside.cycles(chip->outside.context);
    if (address == CH32V003_USART1 + 4) {
        chip->outside.uart_write(chip->outside.context, (uint8_t)value);
    } else if (address == CH32V003_SYSTICK || address == CH32V003_SYSTICK + 8) {
        uint64_t count = riscv_kept(chip, CH32V003_SYSTICK + 8); /* from which it continues */
        chip->counter_zero = now - count * ch32v003_count_cycles(chip);
    }
}

static inline const char *ch32v003_absent(uint32_t address) {
    return address - 0x08000000u < 0x01000000u   ? " (the flash is modelled at address 0 only)"
           : address - 0x1FFFF000u < 0x1000u     ? " (the boot loader and the option bytes are not modelled)"
           : address < 0x00100000u               ? " (beyond the flash)"
           : address - 0x20000000u < 0x01000000u ? " (beyond the RAM)"
                                                 : "";
}

static const struct chip_gap ch32v003_gaps[] = {
    {0x40000000u, 0x0400u, 0, "the timers: not modelled; they never count"},
    {0x40012C00u, 0x0400u, 0, "the timers: not modelled; they never count"},
    {0x40005400u, 0x0400u, 0, "I2C: not modelled; its registers only keep what is written"},
    {0x40013000u, 0x0400u, 0, "SPI: not modelled; its registers only keep what is written"},
    {0x40012400u, 0x0400u, 0, "ADC: not modelled; its registers only keep what is written"},
    {0xE000E100u, 0x0010u, 1, "interrupts: not modelled; they are never delivered"},
    {0xE000F010u, 0x0004u, 1, "SysTick's comparison: not modelled; it never goes off"},
};

static const struct riscv_chip_model ch32v003_model = {
    "CH32V003",
    {{0x40000000u, 0x24000u, CHIP_PERIPHERAL}, {0xE0000000u, 0x10000u, CHIP_CORE}},
    2,
    ch32v003_gaps,
    COUNT_OF(ch32v003_gaps),
    ch32v003_reset,
    ch32v003_read,
    ch32v003_write,
    ch32v003_hz,
    ch32v003_baud,
    ch32v003_absent};

#endif
