/* SPDX-License-Identifier: MIT
 * arm_plain_chips.h: the registers of chips that arm_plain.h models, and what each does not have.
 * Sources: ST RM0038 (STM32L1), RM0008 (STM32F1), Atmel 11057 (SAM3X), Nordic's nRF52840 product
 * specification, Microchip DS40001882 (SAMD21), ST RM0091 (STM32F0); sections as given at each.
 */
#ifndef MOTECRYPT_ARM_PLAIN_CHIPS_H
#define MOTECRYPT_ARM_PLAIN_CHIPS_H

#include "arm_plain.h"

#define PLAIN_CORE {PPB_BASE, 0x00100000u, CHIP_CORE}
#define PLAIN_NO_INTERRUPTS {0xE000E100u, 0x0020u, 1, "interrupts: not modelled; they are never delivered"}
#define PLAIN_END {0}

/* ---- what STM32 parts have in common ---- */

/* By how much HPRE divides: bits 7 to 4 of RCC_CFGR. */
static inline uint32_t stm32_bus_divider(uint32_t settings) {
    static const uint16_t dividers[] = {2, 4, 8, 16, 64, 128, 256, 512};
    uint32_t field = settings >> 4 & 15u;
    return field & 8u ? dividers[field & 7u] : 1;
}

/* A baud rate from a divisor in sixteenths of the bus's clock, where the UART's three bits are on. */
static inline double stm32_baud(struct plain *chip, uint32_t divisor, uint32_t control, uint32_t on) {
    divisor &= 0xFFFFu;
    return (control & on) == on && divisor != 0 ? chip->model->hz(chip) / divisor : 0.0;
}

/* ---- STM32L100RC (RM0038) ---- */

#define STM32L1_RCC 0x40023800u
#define STM32L1_USART2 0x40004400u

static struct chip_window stm32l1_windows[] = {{0x40000000u, 0x30000u, CHIP_PERIPHERAL}, PLAIN_CORE};

/* 2.3. */
static const struct chip_gap stm32l1_gaps[] = {
    {0x40000000u, 0x1800u, 0, "the timers: not modelled; they never count"},
    {0x40003800u, 0x0800u, 0, "SPI: not modelled; its registers only keep what is written"},
    {0x40013000u, 0x0400u, 0, "SPI: not modelled; its registers only keep what is written"},
    {0x40004800u, 0x0400u, 0, "serial ports other than USART2: not modelled; nothing is sent or received"},
    {0x40013800u, 0x0400u, 0, "serial ports other than USART2: not modelled; nothing is sent or received"},
    {0x40005400u, 0x0800u, 0, "I2C: not modelled; its registers only keep what is written"},
    {0x40012400u, 0x0400u, 0, "ADC: not modelled; its registers only keep what is written"},
    {0x40026000u, 0x0800u, 0, "DMA: not modelled; nothing is moved"},
    PLAIN_NO_INTERRUPTS,
};

static const struct plain_absent stm32l1_absent[] = {
    {0x08000000u, 0x01000000u, " (beyond the flash)"},
    {0x20000000u, 0x01000000u, " (beyond the RAM)"},
    {0x1FF00000u, 0x00010000u, " (the boot loader in ROM is not modelled)"},
    PLAIN_END,
};

static const struct plain_value stm32l1_values[] = {{STM32L1_RCC, 0x300u}, {STM32L1_RCC + 4, 0xB000u}, PLAIN_END};

static const struct plain_rule stm32l1_rules[] = {
    {STM32L1_RCC, ~0u, 0, STM32L1_RCC, 0x01010101u, 1},     /* CR: what is on is ready */
    {STM32L1_RCC + 8, ~0xCu, 0, STM32L1_RCC + 8, 3u, 2},    /* CFGR: the switch follows immediately */
    {0x40023C00u + 0x18, ~0u, 0x0Eu, 0, 0, 0},              /* FLASH_SR: ready */
    {0x40007004u, ~0x10u, 0, 0, 0, 0},                      /* PWR_CSR: the voltage has settled */
    {0x40023C00u, ~0u, 0, 0, 0, 0},
    PLAIN_END,
};

/* 6.3: MSI, HSI of 16 MHz, HSE of 8 MHz, or the PLL. */
static double stm32l1_hz(struct plain *chip) {
    static const uint8_t factors[] = {3, 4, 6, 8, 12, 16, 24, 32, 48};
    uint32_t settings = *plain_register(chip, STM32L1_RCC + 8);
    uint32_t factor = settings >> 18 & 15u, range = *plain_register(chip, STM32L1_RCC + 4) >> 13 & 7u;
    double source = settings & 1u << 16 ? 8e6 : 16e6;
    double pll = source * factors[factor < sizeof factors ? factor : 0] / ((settings >> 22 & 3u) + 1);
    double hz = (settings & 3u) == 0   ? 65536.0 * (1u << range)
                : (settings & 3u) == 1 ? 16e6
                : (settings & 3u) == 2 ? 8e6
                                       : pll;
    return hz / stm32_bus_divider(settings);
}

static double stm32l1_uart_baud(struct plain *chip) {
    return stm32_baud(chip, *plain_register(chip, STM32L1_USART2 + 8), *plain_register(chip, STM32L1_USART2 + 12),
                      0x200Cu);
}

static const struct plain_model stm32l1_model = {
    .cpuid = 0x412FC230u, /* Cortex-M3 r2p0 */
    .systick_reference = 8, /* HCLK / 8 (RM0038, 6.2) */
    .values = stm32l1_values,
    .rules = stm32l1_rules,
    .uart = {STM32L1_USART2, STM32L1_USART2 + 4, STM32L1_USART2 + 4, 0x20u, 0x80u, 0x40u, 0, 1},
    .clock_base = STM32L1_RCC,
    .clock_bytes = 12,
    .hz = stm32l1_hz,
    .baud = stm32l1_uart_baud,
};

/* ---- STM32F103C8 (RM0008) ---- */

#define STM32F1_RCC 0x40021000u
#define STM32F1_USART1 0x40013800u
#define STM32F1_FLASH 0x40022000u

static struct chip_window stm32f1_windows[] = {{0x40000000u, 0x30000u, CHIP_PERIPHERAL}, PLAIN_CORE};

/* 3.3. */
static const struct chip_gap stm32f1_gaps[] = {
    {0x40000000u, 0x1000u, 0, "the timers: not modelled; they never count"},
    {0x40012C00u, 0x0400u, 0, "the timers: not modelled; they never count"},
    {0x40003800u, 0x0400u, 0, "SPI: not modelled; its registers only keep what is written"},
    {0x40013000u, 0x0400u, 0, "SPI: not modelled; its registers only keep what is written"},
    {0x40004400u, 0x0800u, 0, "serial ports other than USART1: not modelled; nothing is sent or received"},
    {0x40005400u, 0x0800u, 0, "I2C: not modelled; its registers only keep what is written"},
    {0x40005C00u, 0x0400u, 0, "USB: not modelled; it never answers"},
    {0x40012400u, 0x0800u, 0, "ADC: not modelled; its registers only keep what is written"},
    {0x40020000u, 0x0400u, 0, "DMA: not modelled; nothing is moved"},
    PLAIN_NO_INTERRUPTS,
};

static const struct plain_absent stm32f1_absent[] = {
    {0x08000000u, 0x01000000u, " (beyond the flash)"},
    {0x20000000u, 0x01000000u, " (beyond the RAM)"},
    {0x1FFFF000u, 0x00001000u, " (the boot loader in ROM is not modelled)"},
    PLAIN_END,
};

static const struct plain_value stm32f1_values[] = {{STM32F1_RCC, 0x83u}, {STM32F1_FLASH, 0x30u}, PLAIN_END};

static const struct plain_rule stm32f1_rules[] = {
    {STM32F1_RCC, ~0u, 0, STM32F1_RCC, 0x01010001u, 1},  /* CR: what is on is ready */
    {STM32F1_RCC + 4, ~0xCu, 0, STM32F1_RCC + 4, 3u, 2}, /* CFGR: the switch follows immediately */
    PLAIN_END,
};

/* 7.3.2: HSI, HSE (8 MHz both), or the PLL: from HSI / 2, or from HSE, whole or, with bit 17, halved. */
static double stm32f1_hz(struct plain *chip) {
    uint32_t settings = *plain_register(chip, STM32F1_RCC + 4);
    uint32_t factor = (settings >> 18 & 15u) + 2u;
    double source = settings & 1u << 16 ? (settings & 1u << 17 ? 4e6 : 8e6) : 4e6;
    double hz = (settings & 3u) == 2 ? source * (factor > 16 ? 16 : factor) : 8e6;
    return hz / stm32_bus_divider(settings);
}

static double stm32f1_uart_baud(struct plain *chip) {
    return stm32_baud(chip, *plain_register(chip, STM32F1_USART1 + 8), *plain_register(chip, STM32F1_USART1 + 12),
                      0x200Cu);
}

static const struct plain_model stm32f1_model = {
    .cpuid = 0x411FC231u, /* Cortex-M3 r1p1 */
    .systick_reference = 8, /* HCLK / 8 (RM0008, 7.2) */
    .values = stm32f1_values,
    .rules = stm32f1_rules,
    .uart = {STM32F1_USART1, STM32F1_USART1 + 4, STM32F1_USART1 + 4, 0x20u, 0x80u, 0x40u, 0, 1},
    .clock_base = STM32F1_RCC,
    .clock_bytes = 8,
    .hz = stm32f1_hz,
    .baud = stm32f1_uart_baud,
};

/* ---- AT91SAM3X8E (Atmel 11057) ---- */

#define SAM3X_UART 0x400E0800u
#define SAM3X_PMC 0x400E0600u

static struct chip_window sam3x_windows[] = {
    {0x40000000u, 0x00100000u, CHIP_PERIPHERAL}, /* peripherals and the system controller */
    PLAIN_CORE,
};

/* Memory mapping, figure 7-1. */
static const struct chip_gap sam3x_gaps[] = {
    {0x40004000u, 0x8000u, 0, "SSC and SPI: not modelled; its registers only keep what is written"},
    {0x40080000u, 0xC000u, 0, "the timers: not modelled; they never count"},
    {0x4008C000u, 0x8000u, 0, "TWI: not modelled; its registers only keep what is written"},
    {0x40098000u, 0x10000u, 0, "serial ports other than UART: not modelled; nothing is sent or received"},
    {0x400AC000u, 0x4000u, 0, "USB: not modelled; it never answers"},
    {0x400BC000u, 0x4000u, 0, "random numbers: not modelled; they are 0"},
    {0x400C0000u, 0x8000u, 0, "ADC and DAC: not modelled; their registers only keep what is written"},
    {0x400C4000u, 0x4000u, 0, "DMA: not modelled; nothing is moved"},
    PLAIN_NO_INTERRUPTS,
};

static const struct plain_absent sam3x_absent[] = {
    {0x00080000u, 0x01000000u, " (beyond the flash)"},
    {0x00000000u, 0x00080000u, " (the boot area and the ROM are not modelled)"},
    {0x20000000u, 0x00070000u, " (the RAM is modelled at 0x20070000 alone)"},
    {0x20088000u, 0x01000000u, " (beyond the RAM)"},
    {0x60000000u, 0x20000000u, " (external memories are not modelled)"},
    PLAIN_END,
};

static const struct plain_value sam3x_values[] = {{SAM3X_PMC + 0x20, 0x8u}, {SAM3X_PMC + 0x30, 0x1u}, PLAIN_END};

static const struct plain_rule sam3x_rules[] = {
    {SAM3X_PMC + 0x68, 0, 0x0001000Bu, 0, 0, 0}, /* SR: crystal, PLL and clock are ready, the crystal is selected */
    PLAIN_END,
};

/* 28.15: MCKR selects slow clock, main clock or PLL and divides; CKGR_MOR the main clock: RC of 4, 8 or 12 MHz, or the
 * crystal of 12 MHz; CKGR_PLLAR multiplies. */
static double sam3x_hz(struct plain *chip) {
    uint32_t main_clock = *plain_register(chip, SAM3X_PMC + 0x20), pll = *plain_register(chip, SAM3X_PMC + 0x28);
    uint32_t master = *plain_register(chip, SAM3X_PMC + 0x30), divider = master >> 4 & 7u;
    double main_hz = main_clock & 1u << 24 ? 12e6 : 4e6 * ((main_clock >> 4 & 3u) + 1);
    double pll_hz = (pll & 0xFFu) != 0 ? main_hz * ((pll >> 16 & 0x7FFu) + 1) / (pll & 0xFFu) : 0.0;
    double hz = (master & 3u) == 0 ? 32768.0 : (master & 3u) == 1 ? main_hz : pll_hz;
    return hz / (divider == 7 ? 3 : 1u << divider);
}

/* 34.6.9: CD divides by 16; the UART runs while no reset and no disabling was written last. */
static double sam3x_uart_baud(struct plain *chip) {
    uint32_t divisor = *plain_register(chip, SAM3X_UART + 0x20) & 0xFFFFu;
    uint32_t control = *plain_register(chip, SAM3X_UART);
    return (control & 0x50u) == 0x50u && divisor != 0 ? sam3x_hz(chip) / (16.0 * divisor) : 0.0;
}

static const struct plain_model sam3x_model = {
    .cpuid = 0x412FC230u, /* Cortex-M3 r2p0 */
    .systick_reference = 8, /* MCK / 8 (Atmel 11057, SysTick) */
    .values = sam3x_values,
    .rules = sam3x_rules,
    .uart = {SAM3X_UART + 0x14, SAM3X_UART + 0x18, SAM3X_UART + 0x1C, 1u, 2u, 0x200u, 0, 1},
    .clock_base = SAM3X_PMC + 0x20,
    .clock_bytes = 0x14,
    .hz = sam3x_hz,
    .baud = sam3x_uart_baud,
};

/* ---- nRF52840 (product specification 1.7) ---- */

#define NRF_CLOCK 0x40000000u
#define NRF_UART 0x40002000u
#define NRF_NVMC 0x4001E000u

static struct chip_window nrf52_windows[] = {
    {0x40000000u, 0x30000u, CHIP_PERIPHERAL},
    {0x50000000u, 0x1000u, CHIP_PERIPHERAL}, /* GPIO */
    {0x10000000u, 0x2000u, CHIP_PERIPHERAL}, /* FICR, UICR */
    PLAIN_CORE,
};

/* 4.2.4, the peripherals' instances. */
static const struct chip_gap nrf52_gaps[] = {
    {0x40001000u, 0x1000u, 0, "the radio: not modelled; nothing is sent or received"},
    {0x40003000u, 0x2000u, 0, "SPI and TWI: not modelled; their registers only keep what is written"},
    {0x40007000u, 0x1000u, 0, "ADC: not modelled; its registers only keep what is written"},
    {0x40008000u, 0x3000u, 0, "the timers: not modelled; they never count"},
    {0x4000B000u, 0x1000u, 0, "the real-time counters: not modelled; they never count"},
    {0x4000D000u, 0x1000u, 0, "random numbers: not modelled; they are 0"},
    {0x4000E000u, 0x2000u, 0, "the AES block: not modelled; it never answers"},
    {0x4001A000u, 0x2000u, 0, "the timers: not modelled; they never count"},
    {0x40027000u, 0x1000u, 0, "USB: not modelled; it never answers"},
    {0x40028000u, 0x1000u, 0, "the second UART: not modelled; nothing is sent or received"},
    PLAIN_NO_INTERRUPTS,
};

static const struct plain_absent nrf52_absent[] = {
    {0x00000000u, 0x10000000u, " (beyond the flash)"},
    {0x20000000u, 0x01000000u, " (beyond the RAM)"},
    {0x50000000u, 0x00100000u, " (CryptoCell is not modelled)"},
    PLAIN_END,
};

static const struct plain_value nrf52_values[] = {PLAIN_END};

static const struct plain_rule nrf_rules[] = {
    {NRF_CLOCK + 0x100, 0, 1u, 0, 0, 0},       /* the crystal has started */
    {NRF_CLOCK + 0x40C, 0, 0x00010001u, 0, 0, 0}, /* and is used */
    {NRF_NVMC + 0x400, 0, 1u, 0, 0, 0},        /* the flash is ready */
    PLAIN_END,
};

static double nrf52_hz(struct plain *chip) {
    (void)chip;
    return 64e6;
}

/* 6.33.10.17: the rate is a fraction of 16 MHz in units of 2^-32. */
static double nrf_uart_baud(struct plain *chip) {
    return (*plain_register(chip, NRF_UART + 0x500) & 15u) == 4
               ? *plain_register(chip, NRF_UART + 0x524) * 16e6 / 4294967296.0
               : 0.0;
}

static const struct plain_model nrf52_model = {
    .cpuid = 0x410FC241u, /* Cortex-M4 r0p1 */
    .values = nrf52_values,
    .rules = nrf_rules,
    .uart = {NRF_UART + 0x108, NRF_UART + 0x518, NRF_UART + 0x51C, 1u, 1u, 0, NRF_UART + 0x11C, 0},
    .hz = nrf52_hz,
    .baud = nrf_uart_baud,
};

/* ---- nRF51822 (reference manual of the nRF51 series 3.0): the nRF52's peripherals, as far as they are used ---- */

static struct chip_window nrf51_windows[] = {
    {0x40000000u, 0x20000u, CHIP_PERIPHERAL},
    {0x50000000u, 0x1000u, CHIP_PERIPHERAL}, /* GPIO */
    {0x10000000u, 0x2000u, CHIP_PERIPHERAL}, /* FICR, UICR */
    PLAIN_CORE,
};

/* 4.2. */
static const struct chip_gap nrf51_gaps[] = {
    {0x40001000u, 0x1000u, 0, "the radio: not modelled; nothing is sent or received"},
    {0x40003000u, 0x2000u, 0, "SPI and TWI: not modelled; their registers only keep what is written"},
    {0x40007000u, 0x1000u, 0, "ADC: not modelled; its registers only keep what is written"},
    {0x40008000u, 0x3000u, 0, "the timers: not modelled; they never count"},
    {0x4000B000u, 0x1000u, 0, "the real-time counters: not modelled; they never count"},
    {0x4000D000u, 0x1000u, 0, "random numbers: not modelled; they are 0"},
    {0x4000E000u, 0x2000u, 0, "the AES block: not modelled; it never answers"},
    PLAIN_NO_INTERRUPTS,
};

static const struct plain_absent nrf51_absent[] = {
    {0x00000000u, 0x10000000u, " (beyond the flash)"},
    {0x20000000u, 0x01000000u, " (beyond the RAM)"},
    PLAIN_END,
};

static double nrf51_hz(struct plain *chip) {
    (void)chip;
    return 16e6;
}

static const struct plain_model nrf51_model = {
    .cpuid = 0x410CC200u, /* Cortex-M0 r0p0 */
    .values = nrf52_values,
    .rules = nrf_rules,
    .uart = {NRF_UART + 0x108, NRF_UART + 0x518, NRF_UART + 0x51C, 1u, 1u, 0, NRF_UART + 0x11C, 0},
    .hz = nrf51_hz,
    .baud = nrf_uart_baud,
};

/* ---- SAMD21G18A (Microchip DS40001882) ---- */

#define SAMD21_SYSCTRL 0x40000800u
#define SAMD21_GCLK 0x40000C00u
#define SAMD21_SERCOM5 0x42001C00u
#define SAMD21_GENERATOR0 (SAMD21_GCLK + 0x40u) /* where generator 0's settings are kept: the chip has no register there */

static struct chip_window samd21_windows[] = {
    {0x40000000u, 0x4000u, CHIP_PERIPHERAL}, /* bridges A, B, C */
    {0x41000000u, 0x8000u, CHIP_PERIPHERAL},
    {0x42000000u, 0x8000u, CHIP_PERIPHERAL},
    {0x60000000u, 0x1000u, CHIP_PERIPHERAL}, /* the pins, on the core's own port */
    PLAIN_CORE,
};

/* 11, product mapping. */
static const struct chip_gap samd21_gaps[] = {
    {0x40001400u, 0x0400u, 0, "the real-time counter: not modelled; it never counts"},
    {0x41004800u, 0x0400u, 0, "DMA: not modelled; nothing is moved"},
    {0x41005000u, 0x0400u, 0, "USB: not modelled; it never answers"},
    {0x42000800u, 0x1400u, 0, "serial ports other than SERCOM5: not modelled; nothing is sent or received"},
    {0x42002000u, 0x2000u, 0, "the timers: not modelled; they never count"},
    {0x42004000u, 0x0400u, 0, "ADC: not modelled; its registers only keep what is written"},
    PLAIN_NO_INTERRUPTS,
};

static const struct plain_absent samd21_absent[] = {
    {0x00800000u, 0x00010000u, " (the user row and the calibration are not modelled)"},
    {0x00000000u, 0x01000000u, " (beyond the flash)"},
    {0x20000000u, 0x01000000u, " (beyond the RAM)"},
    PLAIN_END,
};

static const struct plain_value samd21_values[] = {
    {SAMD21_SYSCTRL + 0x20, 0x300u}, {SAMD21_GENERATOR0, 0x10600u}, PLAIN_END};

static const struct plain_rule samd21_rules[] = {
    {SAMD21_SYSCTRL + 0x0C, 0, 0xD0u, SAMD21_SYSCTRL + 0x14, 2u, 0}, /* PCLKSR: DFLL ready and locked, crystal if it is on */
    {SAMD21_GCLK, ~0xFF00u, 0, 0, 0, 0},           /* STATUS: not busy */
    {SAMD21_SERCOM5, ~3u, 0, SAMD21_SERCOM5, 2u, 0}, /* CTRLA: a reset takes no time */
    {SAMD21_SERCOM5 + 0x1C, 0, 0, 0, 0, 0},        /* SYNCBUSY */
    {0x41004014u, ~0u, 1u, 0, 0, 0},               /* NVMCTRL.INTFLAG: ready */
    PLAIN_END,
};

/* 15.8.4: the settings of the generator that a write names in its lowest bits. */
static uint32_t samd21_before_write(struct plain *chip, uint32_t *at, uint32_t value) {
    if (*at == SAMD21_GCLK + 4 && (value & 15u) == 0) {
        *plain_register(chip, SAMD21_GENERATOR0) = value;
    }
    return value;
}

/* Generator 0 runs the core: from the DFLL (48 MHz), or from the 8 MHz oscillator with its divider. */
static double samd21_hz(struct plain *chip) {
    uint32_t source = *plain_register(chip, SAMD21_GENERATOR0) >> 8 & 31u;
    uint32_t divider = *plain_register(chip, SAMD21_SYSCTRL + 0x20) >> 8 & 3u;
    return source == 7 ? 48e6 : source == 6 ? 8e6 / (1u << divider) : 32768.0;
}

/* 26.6.2.3, asynchronous, sixteenfold: 1 - BAUD / 65536 of a sixteenth. */
static double samd21_uart_baud(struct plain *chip) {
    uint32_t baud = *plain_register(chip, SAMD21_SERCOM5 + 0x0C) & 0xFFFFu;
    return *plain_register(chip, SAMD21_SERCOM5) & 2u ? samd21_hz(chip) / 16.0 * (1.0 - baud / 65536.0) : 0.0;
}

static const struct plain_model samd21_model = {
    .cpuid = 0x410CC601u, /* Cortex-M0+ r0p1 */
    .values = samd21_values,
    .rules = samd21_rules,
    .uart = {SAMD21_SERCOM5 + 0x18, SAMD21_SERCOM5 + 0x28, SAMD21_SERCOM5 + 0x28, 4u, 1u, 2u, 0, 1},
    .clock_base = SAMD21_GCLK,
    .clock_bytes = 8,
    .hz = samd21_hz,
    .baud = samd21_uart_baud,
    .before_write = samd21_before_write,
};

/* ---- STM32F051R8 (RM0091) ---- */

#define STM32F0_USART1 0x40013800u

static struct chip_window stm32f0_windows[] = {
    {0x40000000u, 0x30000u, CHIP_PERIPHERAL},
    {0x48000000u, 0x2000u, CHIP_PERIPHERAL}, /* the pins */
    PLAIN_CORE,
};

/* 2.2. */
static const struct chip_gap stm32f0_gaps[] = {
    {0x40000000u, 0x2400u, 0, "the timers: not modelled; they never count"},
    {0x40003800u, 0x0400u, 0, "SPI: not modelled; its registers only keep what is written"},
    {0x40013000u, 0x0400u, 0, "SPI: not modelled; its registers only keep what is written"},
    {0x40004400u, 0x0400u, 0, "serial ports other than USART1: not modelled; nothing is sent or received"},
    {0x40005400u, 0x0800u, 0, "I2C: not modelled; its registers only keep what is written"},
    {0x40012400u, 0x0400u, 0, "ADC: not modelled; its registers only keep what is written"},
    {0x40020000u, 0x0400u, 0, "DMA: not modelled; nothing is moved"},
    PLAIN_NO_INTERRUPTS,
};

static const struct plain_absent stm32f0_absent[] = {
    {0x08000000u, 0x01000000u, " (beyond the flash)"},
    {0x20000000u, 0x01000000u, " (beyond the RAM)"},
    {0x1FFFE000u, 0x00002000u, " (the boot loader in ROM is not modelled)"},
    PLAIN_END,
};

/* 22.8: sixteenths of a divisor by 16 of the bus's clock, which is the core's. */
static double stm32f0_uart_baud(struct plain *chip) {
    return stm32_baud(chip, *plain_register(chip, STM32F0_USART1 + 12), *plain_register(chip, STM32F0_USART1), 0xDu);
}

/* The clock's registers are the STM32F1's (6.4), as far as they are used: HSI, HSE or the PLL. */
static const struct plain_model stm32f0_model = {
    .cpuid = 0x410CC200u, /* Cortex-M0 r0p0 */
    .systick_reference = 8, /* HCLK / 8 (RM0091, 6.2) */
    .values = stm32f1_values,
    .rules = stm32f1_rules,
    .uart = {STM32F0_USART1 + 0x1C, STM32F0_USART1 + 0x24, STM32F0_USART1 + 0x28, 0x20u, 0x80u, 0x40u, 0, 1},
    .clock_base = STM32F1_RCC,
    .clock_bytes = 8,
    .hz = stm32f1_hz,
    .baud = stm32f0_uart_baud,
};

#endif
