/* SPDX-License-Identifier: MIT
 * chip_known.h: which registers of each chip are modelled, as data, and how large its blocks of registers are. A register is
 * known if the model does what the chip does. It is also known if all it does on the chip is to keep a setting that changes
 * nothing in the model (a pin's function, a part's clock). What is put out at a pin is known, as nobody sees it; what is read of a pin is not.
 * Everything else that a firmware reaches is reported (chip_touched.h).
 * Sources: the memory maps and register tables of the manuals that are named at each chip's model.
 */
#ifndef MOTECRYPT_CHIP_KNOWN_H
#define MOTECRYPT_CHIP_KNOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "bounds.h"

/* `bytes` of known registers; with a count, so many times, every so many bytes. A list ends with 0 bytes. */
struct known_part {
    uint32_t base, bytes, every, count;
};

#define ONE(base, bytes) {base, bytes, 0, 0}

/* From an address on, each peripheral has so many bytes, a power of two. A list ends with 0 bytes. */
struct known_grid {
    uint32_t from, block_bytes;
};

struct known_core_block {
    uint32_t base, bytes;
    const char *name;
};

struct known_chip {
    const char *name; /* as the device's descriptor names it */
    const struct known_grid *grid;
    const struct known_part *core, *parts;
    const struct known_part *outputs; /* known where they are written, not where they are read */
};

#define KNOWN_END {0}

static const struct known_part known_none[] = {KNOWN_END};

/* ---- the private peripherals of Cortex-M cores (ARM DDI 0403, B3; DDI 0419, B3) ---- */

/* The smaller blocks come first. */
static const struct known_core_block known_core_blocks[] = {
    {0xE000E010u, 0x10u, "SysTick"},     {0xE000E100u, 0xC00u, "NVIC"},      {0xE000ED00u, 0x90u, "SCB"},
    {0xE000ED90u, 0x40u, "MPU"},         {0xE000EDD0u, 0x20u, "SAU"},        {0xE000EDF0u, 0x10u, "CoreDebug"},
    {0xE000EF00u, 0x04u, "NVIC"},        {0xE000EF30u, 0x18u, "FPU"},        {0xE000E000u, 0x1000u, "SCS"},
    {0xE0000000u, 0x1000u, "ITM"},       {0xE0001000u, 0x1000u, "DWT"},      {0xE0002000u, 0x1000u, "FPB"},
    {0xE0040000u, 0x1000u, "TPIU"},      {0xE0041000u, 0x1000u, "ETM"},      {0xE00FF000u, 0x1000u, "ROM table"},
};

/* Where exceptions are not delivered: SysTick counts; switching interrupts off, priorities and handlers' addresses change nothing. */
#define KNOWN_M_PROFILE                                                                                              \
    ONE(0xE000E010u, 12), ONE(0xE000E180u, 0x80), ONE(0xE000E280u, 0x80), ONE(0xE000E400u, 0xF0),        \
        ONE(0xE000ED00u, 4), ONE(0xE000ED08u, 8), ONE(0xE000ED14u, 0x14)

static const struct known_part known_armv6m[] = {KNOWN_M_PROFILE, KNOWN_END};

/* And the cycle counter, with what switches it on. */
static const struct known_part known_armv7m[] = {
    KNOWN_M_PROFILE, ONE(0xE0001000u, 8), ONE(0xE0001FB0u, 4), ONE(0xE000EDFCu, 4), KNOWN_END};

/* Of the two chips whose exceptions are modelled: arm_nvic.h. */
static const struct known_part known_rp2040_core[] = {
    ONE(0xE000E010u, 12), ONE(0xE000E100u, 0x400), ONE(0xE000ED00u, 0x24), KNOWN_END};
static const struct known_part known_rp2350_core[] = {
    ONE(0xE000E010u, 12), ONE(0xE000E100u, 0x4F0), ONE(0xE000ED00u, 0x28), ONE(0xE000ED88u, 4),
    ONE(0xE0001000u, 8),  ONE(0xE0001FB0u, 4),     ONE(0xE000EDFCu, 4),    KNOWN_END};

/* ---- STM32 ---- */

/* Of pins: their functions; ODR, BSRR and BRR. */
#define KNOWN_STM32_PINS(base, count) {base, 0x10, 0x400, count}, {(base) + 0x1Cu, 12, 0x400, count}
#define KNOWN_STM32_OUTPUTS(base, count) {(base) + 0x14u, 8, 0x400, count}, {(base) + 0x28u, 4, 0x400, count}, KNOWN_END

static const struct known_part known_stm32_outputs[] = {KNOWN_STM32_OUTPUTS(0x40020000u, 9)};
static const struct known_part known_stm32f0_outputs[] = {KNOWN_STM32_OUTPUTS(0x48000000u, 6)};
static const struct known_part known_stm32f1_outputs[] = {{0x4001080Cu, 12, 0x400, 7}, KNOWN_END};

static const struct known_grid known_stm32_grid[] = {{0x40000000u, 0x400u}, KNOWN_END};

static const struct known_part known_stm32f4[] = {
    ONE(0x40002850u, 0x50), /* RTC_BKPxR */
    ONE(0x40004400u, 0x1C), /* USART2 */
    KNOWN_STM32_PINS(0x40020000u, 9),
    ONE(0x40023004u, 4),    /* CRC_IDR */
    ONE(0x40023800u, 0x10), /* RCC: clocks */
    ONE(0x40023830u, 0x38), /* and which parts have one */
    ONE(0x40023C00u, 4),    /* FLASH_ACR */
    KNOWN_END,
};

static const struct known_part known_stm32l1[] = {
    ONE(0x40002850u, 0x50),
    ONE(0x40004400u, 0x1C),
    ONE(0x40007000u, 8), /* PWR */
    KNOWN_STM32_PINS(0x40020000u, 8),
    ONE(0x40023004u, 4),
    ONE(0x40023800u, 0x10),
    ONE(0x4002381Cu, 0x18),
    ONE(0x40023C00u, 4),
    ONE(0x40023C18u, 4), /* FLASH_SR */
    KNOWN_END,
};

static const struct known_part known_stm32f1[] = {
    ONE(0x40006C00u, 0xC0),     /* BKP */
    ONE(0x40010004u, 4),        /* AFIO_MAPR */
    {0x40010800u, 8, 0x400, 7},    /* pins */
    {0x40010818u, 4, 0x400, 7},
    ONE(0x40013800u, 0x1C),     /* USART1 */
    ONE(0x40021000u, 12),       /* RCC */
    ONE(0x40021014u, 12),
    ONE(0x40022000u, 4),
    ONE(0x40023004u, 4),
    KNOWN_END,
};

static const struct known_part known_stm32f0[] = {
    ONE(0x40002850u, 0x50), ONE(0x40013800u, 0x2C), ONE(0x40021000u, 12), ONE(0x40021014u, 12),
    ONE(0x40022000u, 4),    ONE(0x40023004u, 4),    KNOWN_STM32_PINS(0x48000000u, 6),
    KNOWN_END,
};

/* ---- AT91SAM3X8E ---- */

static const struct known_grid known_sam3x_grid[] = {{0x40000000u, 0x4000u}, {0x400E0000u, 0x200u}, KNOWN_END};

static const struct known_part known_sam3x[] = {
    ONE(0x400E0610u, 8),       /* PMC: which parts have a clock */
    ONE(0x400E0620u, 4),       /* CKGR_MOR, CKGR_PLLAR, MCKR, SR, WPMR */
    ONE(0x400E0628u, 4),
    ONE(0x400E0630u, 4),
    ONE(0x400E0668u, 4),
    ONE(0x400E06E4u, 4),
    ONE(0x400E0700u, 8),
    ONE(0x400E0800u, 0x24),    /* UART */
    {0x400E0A00u, 4, 0x200, 2},   /* EEFCx_FMR */
    {0x400E0E00u, 8, 0x200, 4},   /* pins: which part has them, pull-ups */
    {0x400E0E60u, 8, 0x200, 4},
    {0x400E0E70u, 4, 0x200, 4},
    ONE(0x400E1A54u, 4),       /* WDT_MR */
    ONE(0x400E1A90u, 0x20),    /* GPBR */
    KNOWN_END,
};

static const struct known_part known_sam3x_outputs[] = {{0x400E0E10u, 8, 0x200, 4}, {0x400E0E30u, 12, 0x200, 4}, KNOWN_END};

/* ---- nRF5 ---- */

static const struct known_grid known_nrf_grid[] = {{0x10000000u, 0x1000u}, KNOWN_END};

/* Clock of the crystal, storage, UART, the state of the flash, and the settings of `ports` of pins. */
#define KNOWN_NRF(ports)                                                                                             \
    ONE(0x40000000u, 8), ONE(0x40000100u, 4), ONE(0x40000408u, 8), ONE(0x4000051Cu, 8),                  \
        ONE(0x40002000u, 0x10), ONE(0x40002108u, 4), ONE(0x4000211Cu, 12), ONE(0x40002308u, 4),          \
        ONE(0x40002480u, 4), ONE(0x40002500u, 0x28), ONE(0x4000256Cu, 4), ONE(0x4001E400u, 4),           \
        ONE(0x10001080u, 0x80), {0x50000700u, 0x80, 0x300, ports}

static const struct known_part known_nrf51[] = {KNOWN_NRF(1), KNOWN_END};
static const struct known_part known_nrf52[] = {KNOWN_NRF(2), ONE(0x4001E540u, 4), KNOWN_END};
static const struct known_part known_nrf_outputs[] = {{0x50000504u, 12, 0x300, 2}, {0x50000514u, 12, 0x300, 2}, KNOWN_END};

/* ---- SAMD21G18A ---- */

static const struct known_grid known_samd21_grid[] = {{0x40000000u, 0x400u}, {0x41000000u, 0x1000u}, {0x41004000u, 0x400u}, KNOWN_END};

static const struct known_part known_samd21[] = {
    ONE(0x40000414u, 16),    /* PM: which parts have a clock */
    ONE(0x4000080Cu, 4),     /* SYSCTRL: PCLKSR, XOSC32K, OSC8M, DFLL */
    ONE(0x40000814u, 4),
    ONE(0x40000820u, 16),
    ONE(0x40000C00u, 12),    /* GCLK */
    ONE(0x41000000u, 8),     /* PAC1 */
    ONE(0x41002010u, 8),     /* DSU_DCC */
    ONE(0x41004004u, 4),     /* NVMCTRL: CTRLB, INTFLAG */
    ONE(0x41004014u, 4),
    {0x41004424u, 8, 0x80, 2},  /* pins: settings */
    {0x41004430u, 0x30, 0x80, 2},
    {0x60000024u, 8, 0x80, 2},
    {0x60000030u, 0x30, 0x80, 2},
    ONE(0x42001C00u, 0x30),  /* SERCOM5 */
    KNOWN_END,
};

static const struct known_part known_samd21_outputs[] = {{0x41004400u, 0x20, 0x80, 2}, {0x60000000u, 0x20, 0x80, 2}, KNOWN_END};

/* ---- RP2040, RP2350: addresses without the atomic aliases ---- */

static const struct known_grid known_rp2040_grid[] = {
    {0x14000000u, 0x4000u}, {0x50000000u, 0x1000u}, {0x50110000u, 0x10000u}, {0x50200000u, 0x100000u}, {0xD0000000u, 0x1000u}, KNOWN_END};

static const struct known_part known_rp2040[] = {
    ONE(0x14000000u, 12),         /* XIP: control, flush, state */
    ONE(0x18000000u, 0x4000u),    /* SSI */
    ONE(0x40008000u, 0x78),       /* CLOCKS; which parts have one */
    ONE(0x400080A0u, 0x10),
    ONE(0x4000C000u, 0x4000u),    /* RESETS */
    ONE(0x40010000u, 12),         /* PSM */
    ONE(0x40014000u, 0xF0),       /* IO_BANK0, IO_QSPI: functions */
    ONE(0x40018000u, 0x30),
    {0x4001C000u, 0x4000u, 0x4000u, 2}, /* PADS_BANK0, PADS_QSPI */
    ONE(0x40024000u, 8),          /* XOSC */
    ONE(0x4002400Cu, 4),
    {0x40028000u, 0x4000u, 0x4000u, 2}, /* PLL_SYS, PLL_USB */
    ONE(0x40034000u, 0x4000u),    /* UART0 */
    ONE(0x4004C000u, 0x4000u),    /* ADC */
    {0x40054000u, 0x4000u, 0x4000u, 2}, /* TIMER, WATCHDOG */
    ONE(0x40064000u, 4),          /* VREG */
    ONE(0x4006C000u, 4),          /* TBMAN_PLATFORM */
    ONE(0x50000000u, 0x480),      /* DMA */
    ONE(0x50110000u, 0x4000u),    /* USB */
    ONE(0xD0000000u, 0x80),       /* SIO */
    ONE(0xD0000100u, 0x80),
    KNOWN_END,
};

static const struct known_grid known_rp2350_grid[] = {
    {0x18000000u, 0x4000000u}, {0x40000000u, 0x8000u},   {0x40120000u, 0x20000u},  {0x40140000u, 0x8000u},
    {0x50000000u, 0x1000u},    {0x50110000u, 0x10000u},  {0x50200000u, 0x100000u}, {0xD0000000u, 0x1000u}, KNOWN_END};

static const struct known_part known_rp2350[] = {
    ONE(0x18000000u, 0x4000000u), /* maintenance of the flash's cache */
    ONE(0x40000000u, 4),          /* SYSINFO_CHIP_ID */
    ONE(0x40010000u, 0x84),       /* CLOCKS */
    ONE(0x400100ACu, 0x14),
    {0x40018000u, 0x8000u, 0x8000u, 2}, /* PSM, RESETS */
    ONE(0x40028000u, 0x180),      /* IO_BANK0, IO_QSPI */
    ONE(0x40030000u, 0x40),
    {0x40038000u, 0x8000u, 0x8000u, 2}, /* PADS_BANK0, PADS_QSPI */
    ONE(0x40048000u, 8),          /* XOSC */
    ONE(0x4004800Cu, 4),
    {0x40050000u, 0x10, 0x8000u, 2}, /* PLL_SYS, PLL_USB */
    ONE(0x40070000u, 0x8000u),    /* UART0 */
    ONE(0x400A0000u, 0x8000u),    /* ADC */
    ONE(0x400B0000u, 0x8000u),    /* TIMER0 */
    ONE(0x400C8000u, 12),         /* XIP */
    ONE(0x400D0000u, 0x54),       /* QMI */
    ONE(0x400D8000u, 0x8000u),    /* WATCHDOG */
    ONE(0x400E0000u, 0x8000u),    /* BOOTRAM */
    ONE(0x40108000u, 0x48),       /* TICKS */
    ONE(0x40160000u, 4),          /* TBMAN_PLATFORM */
    ONE(0x50000000u, 0x480),      /* DMA */
    ONE(0x50110000u, 0x4000u),    /* USB */
    ONE(0xD0000000u, 0x80),       /* SIO */
    ONE(0xD0000100u, 0x90),
    KNOWN_END,
};

/* ---- RISC-V ---- */

static const struct known_grid known_riscv_grid[] = {{0x02000000u, 0x1000u}, KNOWN_END};

static const struct known_part known_fe310[] = {
    ONE(0x0200BFF8u, 8),     /* mtime */
    ONE(0x10000080u, 0x80),  /* backup registers */
    ONE(0x10008000u, 0x10),  /* PRCI */
    ONE(0x10012004u, 0x14),  /* GPIO: settings, output */
    ONE(0x10012038u, 12),
    ONE(0x10013000u, 0x1C),  /* UART0 */
    KNOWN_END,
};

static const struct known_grid known_ch32v003_grid[] = {{0x40000000u, 0x400u}, {0xE0000000u, 0x1000u}, KNOWN_END};

static const struct known_part known_ch32v003[] = {
    ONE(0x40010004u, 4),    /* AFIO_PCFR1 */
    {0x40010800u, 8, 0x400, 4}, /* pins */
    {0x40010818u, 4, 0x400, 4},
    ONE(0x40013800u, 0x1C), /* USART1 */
    {0x40020010u, 8, 20, 7},   /* DMA: addresses of transfers */
    ONE(0x40021000u, 12),   /* RCC */
    ONE(0x40021014u, 12),
    ONE(0x40022000u, 4),    /* FLASH_ACTLR */
    ONE(0xE000F000u, 12),   /* SysTick */
    KNOWN_END,
};

static const struct known_part known_esp32c3[] = {
    ONE(0x60000000u, 0x84),  /* UART0 */
    ONE(0x60004074u, 0x68),  /* GPIO: settings */
    ONE(0x60004154u, 0x470),
    ONE(0x60008050u, 0x10),  /* RTC_CNTL: storage, watchdogs */
    ONE(0x60008090u, 0x24),
    ONE(0x600080BCu, 0x10),
    ONE(0x60009000u, 0x60),  /* IO_MUX */
    ONE(0x6001F048u, 0x20),  /* the watchdogs of timer groups */
    ONE(0x60020048u, 0x20),
    ONE(0x600C0008u, 0x10),  /* SYSTEM: clocks, which parts have one */
    ONE(0x600C0058u, 4),
    KNOWN_END,
};

static const struct known_part known_ch32v003_outputs[] = {{0x4001080Cu, 12, 0x400, 4}, KNOWN_END};
static const struct known_part known_esp32c3_outputs[] = {ONE(0x60004004u, 12), ONE(0x60004020u, 12), KNOWN_END};

static const struct known_chip known_chips[] = {
    {"STM32F407VG", known_stm32_grid, known_armv7m, known_stm32f4, known_stm32_outputs},
    {"STM32L100RC", known_stm32_grid, known_armv7m, known_stm32l1, known_stm32_outputs},
    {"STM32F103C8", known_stm32_grid, known_armv7m, known_stm32f1, known_stm32f1_outputs},
    {"STM32F051R8", known_stm32_grid, known_armv6m, known_stm32f0, known_stm32f0_outputs},
    {"AT91SAM3X8E", known_sam3x_grid, known_armv7m, known_sam3x, known_sam3x_outputs},
    {"nRF52840", known_nrf_grid, known_armv7m, known_nrf52, known_nrf_outputs},
    {"nRF51822", known_nrf_grid, known_armv6m, known_nrf51, known_nrf_outputs},
    {"SAMD21G18A", known_samd21_grid, known_armv6m, known_samd21, known_samd21_outputs},
    {"RP2040", known_rp2040_grid, known_rp2040_core, known_rp2040, known_none},
    {"RP2350", known_rp2350_grid, known_rp2350_core, known_rp2350, known_none},
    {"FE310-G002", known_riscv_grid, known_none, known_fe310, known_none},
    {"CH32V003", known_ch32v003_grid, known_none, known_ch32v003, known_ch32v003_outputs},
    {"ESP32-C3", known_riscv_grid, known_none, known_esp32c3, known_esp32c3_outputs},
};

/* NULL: of that chip nothing is known. */
static inline const struct known_chip *known_chip_of(const char *name) {
    for (size_t i = 0; i < COUNT_OF(known_chips); i++) {
        if (strcmp(known_chips[i].name, name) == 0) {
            return &known_chips[i];
        }
    }
    return NULL;
}

static inline bool known_in(const struct known_part *part, uint32_t address) {
    for (; part->bytes != 0; part++) {
        uint32_t offset = address - part->base, number = part->count > 1 ? offset / part->every : 0;
        if (offset < (part->count > 1 ? part->every * part->count : part->bytes) &&
            offset - number * part->every < part->bytes) {
            return true;
        }
    }
    return false;
}

static inline bool known_is(const struct known_chip *chip, uint32_t address, bool is_write) {
    return known_in(chip->parts, address) || known_in(chip->core, address) || (is_write && known_in(chip->outputs, address));
}

/* The block of the core's private peripherals, or NULL. */
static inline const struct known_core_block *known_core_block(const struct known_chip *chip, uint32_t address) {
    for (size_t i = 0; i < COUNT_OF(known_core_blocks) && chip->core != known_none; i++) {
        if (address - known_core_blocks[i].base < known_core_blocks[i].bytes) {
            return &known_core_blocks[i];
        }
    }
    return NULL;
}

/* Where the block of a register begins. */
static inline uint32_t known_block(const struct known_chip *chip, uint32_t address) {
    const struct known_core_block *core = known_core_block(chip, address);
    uint32_t bytes = 0x1000;
    for (const struct known_grid *grid = chip->grid; grid->block_bytes != 0 && grid->from <= address; grid++) {
        bytes = grid->block_bytes;
    }
    return core != NULL ? core->base : address & ~(bytes - 1);
}

#endif
