/* SPDX-License-Identifier: MIT
 * arm_stm32f4.h: the registers of STM32F407 that start-up code, USART2 and the cycle counter need. It does not
 * depend on the CPU: the caller passes the time in cycles. Everything else in the peripherals' address space is a
 * plain register that keeps what was written.
 * Source of all addresses and bits: ST RM0090 (2.3 memory map, 3.9 flash, 7.3 RCC, 30.6 USART); ARM DDI 0403,
 * C1.8 DWT.
 */
#ifndef MOTECRYPT_ARM_STM32F4_H
#define MOTECRYPT_ARM_STM32F4_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "arm_ppb.h"
#include "bounds.h"

#define STM32F4_PERIPHERALS 0x40000000u
#define STM32F4_USART2 0x40004400u
#define STM32F4_RCC 0x40023800u
#define STM32F4_FLASH_ACR 0x40023C00u

enum { STM32F4_PERIPHERAL_BYTES = 0x30000 };

#define STM32F4_HSE_HZ 8e6 /* the crystal on the Discovery board */
#define STM32F4_HSI_HZ 16e6

static struct chip_window stm32f4_windows[] = {
    {STM32F4_PERIPHERALS, STM32F4_PERIPHERAL_BYTES, CHIP_PERIPHERAL},
    {PPB_BASE, 0x00100000u, CHIP_CORE},
};

/* RM0090, 2.3. */
static const struct chip_gap stm32f4_gaps[] = {
    {0x40000000u, 0x2400u, 0, "the timers: not modelled; they never count"},
    {0x40003800u, 0x0800u, 0, "SPI: not modelled; its registers only keep what is written"},
    {0x40013000u, 0x0400u, 0, "SPI: not modelled; its registers only keep what is written"},
    {0x40004800u, 0x0C00u, 0, "serial ports other than USART2: not modelled; nothing is sent or received"},
    {0x40011000u, 0x0800u, 0, "serial ports other than USART2: not modelled; nothing is sent or received"},
    {0x40005400u, 0x0C00u, 0, "I2C: not modelled; its registers only keep what is written"},
    {0x40006400u, 0x0800u, 0, "CAN: not modelled; its registers only keep what is written"},
    {0x40010000u, 0x0800u, 0, "the timers: not modelled; they never count"},
    {0x40012000u, 0x0400u, 0, "ADC: not modelled; its registers only keep what is written"},
    {0x40026000u, 0x0800u, 0, "DMA: not modelled; nothing is moved"},
    {0xE000E100u, 0x0020u, 1, "interrupts: not modelled; they are never delivered"},
};

struct stm32f4 {
    struct chip_outside outside;
    uint32_t peripherals[STM32F4_PERIPHERAL_BYTES / 4];
    struct ppb ppb;
    uint64_t seconds_at_cycle; /* since reset there had passed `seconds` at this cycle */
    double seconds;
};

static inline uint32_t *stm32f4_register(struct stm32f4 *chip, uint32_t address) {
    return &chip->peripherals[(address - STM32F4_PERIPHERALS) / 4];
}

static inline void stm32f4_set_simulated(struct stm32f4 *chip, uint32_t address) {
    if (address - STM32F4_PERIPHERALS < STM32F4_PERIPHERAL_BYTES) {
        *stm32f4_register(chip, address) = CHIP_SIMULATED;
    }
}

static inline void stm32f4_reset(struct stm32f4 *chip) {
    struct chip_outside outside = chip->outside;
    memset(chip, 0, sizeof *chip);
    chip->outside = outside;
    *stm32f4_register(chip, STM32F4_RCC) = 0x83u;            /* CR: the internal oscillator runs */
    *stm32f4_register(chip, STM32F4_RCC + 4) = 0x24003010u;  /* PLLCFGR */
    chip->ppb.reference = 8; /* HCLK / 8 (RM0090, 7.2) */
    chip->ppb.registers[PPB_CPUID / 4] = 0x410FC241u;             /* Cortex-M4 r0p1 */
}

static inline double stm32f4_pll_hz(struct stm32f4 *chip) {
    uint32_t settings = *stm32f4_register(chip, STM32F4_RCC + 4);
    double source = settings & 1u << 22 ? STM32F4_HSE_HZ : STM32F4_HSI_HZ;
    uint32_t divisor = (settings & 0x3Fu) * ((settings >> 16 & 3u) + 1) * 2;
    return divisor == 0 ? 0.0 : source * (settings >> 6 & 0x1FFu) / divisor;
}

/* By how much HPRE divides (7.3.3). */
static inline uint32_t stm32f4_core_divider(uint32_t field) {
    static const uint16_t dividers[] = {2, 4, 8, 16, 64, 128, 256, 512};
    return field & 8u ? dividers[field & 7u] : 1;
}

/* The core's clock by the present clock registers, in hertz. */
static inline double stm32f4_system_hz(struct stm32f4 *chip) {
    uint32_t settings = *stm32f4_register(chip, STM32F4_RCC + 8);
    double hz = (settings & 3u) == 0   ? STM32F4_HSI_HZ
                : (settings & 3u) == 1 ? STM32F4_HSE_HZ
                                       : stm32f4_pll_hz(chip);
    return hz / stm32f4_core_divider(settings >> 4 & 15u);
}

/* Baud as USART2's divisor and its clock (PCLK1) stand now; 0 when it is off (30.3.4). */
static inline double stm32f4_uart_baud(struct stm32f4 *chip) {
    uint32_t prescaler = *stm32f4_register(chip, STM32F4_RCC + 8) >> 10 & 7u;
    uint32_t divisor = *stm32f4_register(chip, STM32F4_USART2 + 8) & 0xFFFFu;
    uint32_t control = *stm32f4_register(chip, STM32F4_USART2 + 12);
    uint32_t bus = prescaler & 4u ? 2u << (prescaler & 3u) : 1u;
    if (control & 1u << 15) { /* OVER8: the fraction has three bits */
        divisor = divisor >> 4 << 3 | (divisor & 7u);
    }
    return (control & 0x200Cu) == 0x200Cu && divisor != 0 ? stm32f4_system_hz(chip) / bus / divisor : 0.0;
}

static inline double stm32f4_seconds(struct stm32f4 *chip) {
    uint64_t cycles = chip->outside.cycles(chip->outside.context) - chip->seconds_at_cycle;
    double hz = stm32f4_system_hz(chip);
    return hz > 0.0 ? chip->seconds + (double)cycles / hz : chip->seconds;
}

static inline uint32_t stm32f4_uart_status(struct stm32f4 *chip) {
    int input = chip->outside.uart_has_input(chip->outside.context);
    uint32_t sender = chip->outside.uart_sender_flags ? chip->outside.uart_sender_flags(chip->outside.context)
                                                      : 0xC0u; /* TXE, TC */
    return sender | (input ? 0x20u : 0u);                      /* RXNE */
}

static inline uint32_t stm32f4_peripheral_read(struct stm32f4 *chip, uint32_t address) {
    uint32_t value = *stm32f4_register(chip, address);
    switch (address) {
    case STM32F4_RCC: /* CR: each oscillator and the PLL is ready as soon as it is on */
        return value | (value & 0x01010001u) << 1;
    case STM32F4_RCC + 8: /* CFGR: the switch follows immediately */
        return (value & ~0xCu) | (value & 3u) << 2;
    case STM32F4_USART2: /* SR */
        return stm32f4_uart_status(chip);
    case STM32F4_USART2 + 4: /* DR */
        return chip->outside.uart_read(chip->outside.context);
    default:
        return value;
    }
}

static inline void stm32f4_peripheral_write(struct stm32f4 *chip, uint32_t address, uint32_t value) {
    if (address - STM32F4_RCC < 12) { /* the clock may change */
        chip->seconds = stm32f4_seconds(chip);
        chip->seconds_at_cycle = chip->outside.cycles(chip->outside.context);
    }
    *stm32f4_register(chip, address) = value;
    if (address == STM32F4_USART2 + 4) {
        chip->outside.uart_write(chip->outside.context, (uint8_t)value);
    }
}

/* The aligned register of `address`, which is inside `window`. */
static inline uint32_t stm32f4_read(struct stm32f4 *chip, const struct chip_window *window, uint32_t address) {
    return window->kind == CHIP_CORE ? ppb_read(&chip->ppb, (address - PPB_BASE) & ~3u,
                                                 chip->outside.cycles(chip->outside.context))
                                     : stm32f4_peripheral_read(chip, address & ~3u);
}

static inline void stm32f4_write(struct stm32f4 *chip, const struct chip_window *window, uint32_t address,
                                 uint32_t value) {
    if (window->kind == CHIP_CORE) {
        ppb_write(&chip->ppb, (address - PPB_BASE) & ~3u, value, chip->outside.cycles(chip->outside.context));
    } else {
        stm32f4_peripheral_write(chip, address & ~3u, value);
    }
}

#endif
