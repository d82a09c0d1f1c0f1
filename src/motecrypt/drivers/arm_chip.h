/* SPDX-License-Identifier: MIT
 * arm_chip.h: which chips' registers the driver models, and what it asks each of them. A further chip is a row
 * here, its registers next to arm_rp2040.h, and a device folder.
 */
#ifndef MOTECRYPT_ARM_CHIP_H
#define MOTECRYPT_ARM_CHIP_H

#include <string.h>

#include "arm_rp2040.h"
#include "arm_stm32f4.h"

enum chip_kind { CHIP_RP2040, CHIP_STM32F4 };

struct chip_model {
    const char *name; /* as the device's descriptor names it */
    enum chip_kind kind;
    struct chip_window *windows;
    unsigned window_count;
    const struct chip_gap *gaps; /* at most 32 */
    unsigned gap_count;
};

/* RP2040 datasheet, 2.2. */
static const struct chip_gap rp2040_gaps[] = {
    {0x40038000u, 0x4000u, 0, "UART1: not modelled; nothing is sent or received"},
    {0x4003C000u, 0x8000u, 0, "SPI: not modelled; its registers only keep what is written"},
    {0x40044000u, 0x8000u, 0, "I2C: not modelled; its registers only keep what is written"},
    {0x4004C000u, 0x4000u, 0, "ADC: not modelled; its registers only keep what is written"},
    {0x40050000u, 0x4000u, 0, "PWM: not modelled; its registers only keep what is written"},
    {0x4005C000u, 0x4000u, 0, "RTC: not modelled; its registers only keep what is written"},
    {0x40054010u, 0x0010u, 1, "the timer's alarms: not modelled; they never go off"},
    {0xE000E100u, 0x0004u, 1, "interrupts: not modelled; they are never delivered"},
    {0xD0000050u, 0x000Cu, 0, "the second core: not modelled; it never answers"},
    {0xD0000080u, 0x0080u, 0, "the interpolators: not modelled"},
};

static const struct chip_model chip_models[] = {
    {"RP2040", CHIP_RP2040, rp2040_windows, COUNT_OF(rp2040_windows), rp2040_gaps, COUNT_OF(rp2040_gaps)},
    {"STM32F407VG", CHIP_STM32F4, stm32f4_windows, COUNT_OF(stm32f4_windows), stm32f4_gaps,
     COUNT_OF(stm32f4_gaps)},
};

/* The registers of the one chip that runs. */
struct chip {
    const struct chip_model *model;
    struct rp2040 rp2040;
    struct stm32f4 stm32f4;
};

static inline const struct chip_model *chip_model_of(const char *name) {
    for (size_t i = 0; i < COUNT_OF(chip_models); i++) {
        if (strcmp(chip_models[i].name, name) == 0) {
            return &chip_models[i];
        }
    }
    return NULL;
}

static inline void chip_reset(struct chip *chip, const struct chip_outside *outside, uint32_t simulated) {
    chip->rp2040.outside = chip->stm32f4.outside = *outside;
    if (chip->model->kind == CHIP_STM32F4) {
        stm32f4_reset(&chip->stm32f4);
        stm32f4_set_simulated(&chip->stm32f4, simulated);
    } else {
        rp2040_reset(&chip->rp2040);
        rp2040_set_simulated(&chip->rp2040, simulated);
    }
}

static inline uint32_t chip_read(struct chip *chip, const struct chip_window *window, uint32_t address) {
    return chip->model->kind == CHIP_STM32F4 ? stm32f4_read(&chip->stm32f4, window, address)
                                             : rp2040_read(&chip->rp2040, window, address);
}

static inline void chip_write(struct chip *chip, const struct chip_window *window, uint32_t address,
                              uint32_t value) {
    if (chip->model->kind == CHIP_STM32F4) {
        stm32f4_write(&chip->stm32f4, window, address, value);
    } else {
        rp2040_write(&chip->rp2040, window, address, value);
    }
}

static inline double chip_hz(struct chip *chip) {
    return chip->model->kind == CHIP_STM32F4 ? stm32f4_system_hz(&chip->stm32f4)
                                             : rp2040_system_hz(&chip->rp2040);
}

static inline double chip_baud(struct chip *chip) {
    return chip->model->kind == CHIP_STM32F4 ? stm32f4_uart_baud(&chip->stm32f4)
                                             : rp2040_uart_baud(&chip->rp2040);
}

static inline double chip_seconds(struct chip *chip) {
    return chip->model->kind == CHIP_STM32F4 ? stm32f4_seconds(&chip->stm32f4) : rp2040_seconds(&chip->rp2040);
}

/* What is at an address of which nothing is modelled, for a message; "" where really nothing is. */
static inline const char *chip_absent(const struct chip *chip, uint32_t address) {
    if (chip->model->kind == CHIP_STM32F4) { /* RM0090, 2.3 */
        return address - 0x1FFF0000u < 0x8000u                       ? " (the boot loader in ROM is not modelled)"
               : address - 0x40030000u < 0x50000u                    ? " (USB and DMA2D are not modelled)"
               : address - 0x50000000u < 0x70000u                    ? " (USB, camera and random numbers are not modelled)"
               : address - 0x08000000u < 0x01000000u                 ? " (beyond the flash)"
               : address - 0x20000000u < 0x01000000u                 ? " (beyond the RAM)"
               : address - 0x10000000u < 0x00010000u                 ? " (core-coupled memory is not modelled)"
                                                                     : "";
    }
    return address < 0x4000u                                     ? " (the boot ROM is not modelled)"
           : address - 0x50000000u < 0x100000u                   ? " (DMA is not modelled)"
           : address - 0x50100000u < 0x100000u                   ? " (USB is not modelled)"
           : address - 0x50200000u < 0x200000u                   ? " (PIO is not modelled)"
           : address - 0x10000000u < 0x1000000u && address != 0u ? " (beyond the flash)"
                                                                 : "";
}

#endif
