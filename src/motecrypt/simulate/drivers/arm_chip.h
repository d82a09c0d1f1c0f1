/* SPDX-License-Identifier: MIT
 * arm_chip.h: which chips' registers the driver models, and what it asks each of them. A further chip is a row
 * here, its registers next to arm_rp2040.h, and a device folder.
 */
#ifndef MOTECRYPT_ARM_CHIP_H
#define MOTECRYPT_ARM_CHIP_H

#include <string.h>

#include "arm_plain_chips.h"
#include "arm_rp2040_events.h"
#include "arm_rp2350.h"
#include "arm_stm32f4.h"

enum chip_kind { CHIP_RP2040, CHIP_STM32F4, CHIP_PLAIN };

struct chip_model {
    const char *name; /* as the device's descriptor names it */
    enum chip_kind kind;
    struct chip_window *windows;
    unsigned window_count;
    const struct chip_gap *gaps; /* at most 32 */
    unsigned gap_count;
    const struct plain_model *plain; /* of CHIP_PLAIN */
    const struct plain_absent *absent;
};

/* RP2040 datasheet, 2.2. */
static const struct chip_gap rp2040_gaps[] = {
    {0x40008080u, 0x0020u, 0, "the frequency counter: not modelled; it never ends"},
    {0x4006001Cu, 0x0008u, 0, "the ring oscillator's random bit and counter: not modelled; they only keep what is written"},
    {0x40038000u, 0x4000u, 0, "UART1: not modelled; nothing is sent or received"},
    {0x4003C000u, 0x8000u, 0, "SPI: not modelled; its registers only keep what is written"},
    {0x40044000u, 0x8000u, 0, "I2C: not modelled; its registers only keep what is written"},
    {0x40050000u, 0x4000u, 0, "PWM: not modelled; its registers only keep what is written"},
    {0x4005C000u, 0x4000u, 0, "RTC: not modelled; its registers only keep what is written"},
    {0x50200000u, 0x200000u, 0, "PIO: not modelled; its registers only keep what is written"},
    {0xD0000080u, 0x0080u, 0, "the interpolators: not modelled; their registers only keep what is written"},
};

/* Firmware that runs freely has the boot ROM and these parts (arm_rom.h); a measured one does not. */
static const struct plain_absent rp2040_absent[] = {
    {0x00000000u, 0x00004000u, " (the boot ROM is not modelled)"},
    {0x10000000u, 0x01000000u, " (beyond the flash)"},
    {0x20042000u, 0x00100000u, " (beyond the RAM)"},
    {0x50000000u, 0x00100000u, " (DMA is not modelled)"},
    {0x50100000u, 0x00100000u, " (USB is not modelled)"},
    {0x50200000u, 0x00200000u, " (PIO is not modelled)"},
    PLAIN_END,
};

/* RM0090, 2.3. */
static const struct plain_absent stm32f4_absent[] = {
    {0x08000000u, 0x01000000u, " (beyond the flash)"},
    {0x10000000u, 0x00010000u, " (core-coupled memory is not modelled)"},
    {0x1FFF0000u, 0x00008000u, " (the boot loader in ROM is not modelled)"},
    {0x20000000u, 0x01000000u, " (beyond the RAM)"},
    {0x40030000u, 0x00050000u, " (USB and DMA2D are not modelled)"},
    {0x50000000u, 0x00070000u, " (USB, camera and random numbers are not modelled)"},
    PLAIN_END,
};

#define CHIP_ROW(name, kind, prefix, model, absent)                                                          \
    {name, kind, prefix##_windows, COUNT_OF(prefix##_windows), prefix##_gaps, COUNT_OF(prefix##_gaps), model, absent}
#define PLAIN_ROW(name, prefix) CHIP_ROW(name, CHIP_PLAIN, prefix, &prefix##_model, prefix##_absent)

static const struct chip_model chip_models[] = {
    CHIP_ROW("RP2040", CHIP_RP2040, rp2040, NULL, rp2040_absent),
    CHIP_ROW("STM32F407VG", CHIP_STM32F4, stm32f4, NULL, stm32f4_absent),
    PLAIN_ROW("STM32L100RC", stm32l1),
    PLAIN_ROW("STM32F103C8", stm32f1),
    PLAIN_ROW("AT91SAM3X8E", sam3x),
    PLAIN_ROW("nRF52840", nrf52),
    PLAIN_ROW("nRF51822", nrf51),
    PLAIN_ROW("SAMD21G18A", samd21),
    PLAIN_ROW("STM32F051R8", stm32f0),
    PLAIN_ROW("RP2350", rp2350),
};

/* RP2350 in a free run: with the boot ROM's tables, interrupts and all that RP2040's model gives it. */
static const struct chip_model rp2350_free_model = CHIP_ROW("RP2350", CHIP_RP2040, rp2350_free, NULL, rp2350_absent);

/* The registers of the one chip that runs. */
struct chip {
    const struct chip_model *model;
    struct rp2040 rp2040;
    struct stm32f4 stm32f4;
    struct plain plain;
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
    chip->rp2040.outside = chip->stm32f4.outside = chip->plain.outside = *outside;
    switch (chip->model->kind) {
    case CHIP_STM32F4:
        stm32f4_reset(&chip->stm32f4);
        stm32f4_set_simulated(&chip->stm32f4, simulated);
        break;
    case CHIP_PLAIN:
        plain_reset(&chip->plain, chip->model->plain, chip->model->windows, chip->model->window_count);
        plain_set_simulated(&chip->plain, simulated);
        break;
    default:
        chip->rp2040.is_rp2350 = chip->model == &rp2350_free_model;
        if (chip->rp2040.is_rp2350) {
            rp2350_reset(&chip->rp2040);
            simulated = rp2350_as_rp2040(simulated);
        } else {
            rp2040_reset(&chip->rp2040);
        }
        rp2040_set_simulated(&chip->rp2040, simulated);
    }
}

static inline uint32_t chip_read(struct chip *chip, const struct chip_window *window, uint32_t address) {
    switch (chip->model->kind) {
    case CHIP_STM32F4:
        return stm32f4_read(&chip->stm32f4, window, address);
    case CHIP_PLAIN:
        return plain_read(&chip->plain, window, address);
    default:
        return (chip->rp2040.is_rp2350 ? rp2350_read : rp2040_read)(&chip->rp2040, window, address);
    }
}

/* `lanes`: the value on all byte lanes of the word; `bytes`: how wide the access is. */
static inline void chip_write(struct chip *chip, const struct chip_window *window, uint32_t address, uint32_t lanes,
                              unsigned bytes) {
    switch (chip->model->kind) {
    case CHIP_STM32F4:
        stm32f4_write(&chip->stm32f4, window, address, lanes);
        break;
    case CHIP_PLAIN:
        plain_write(&chip->plain, window, address, lanes, bytes);
        break;
    default:
        if (chip->rp2040.is_rp2350 && window->kind == CHIP_CORE) {
            lanes = nvic_written(&chip->rp2040.nvic[chip->rp2040.core], address - window->base, lanes, bytes);
        }
        (chip->rp2040.is_rp2350 ? rp2350_write : rp2040_write)(&chip->rp2040, window, address, lanes);
    }
}

static inline double chip_hz(struct chip *chip) {
    switch (chip->model->kind) {
    case CHIP_STM32F4:
        return stm32f4_system_hz(&chip->stm32f4);
    case CHIP_PLAIN:
        return chip->model->plain->hz(&chip->plain);
    default:
        return rp2040_system_hz(&chip->rp2040);
    }
}

static inline double chip_baud(struct chip *chip) {
    switch (chip->model->kind) {
    case CHIP_STM32F4:
        return stm32f4_uart_baud(&chip->stm32f4);
    case CHIP_PLAIN:
        return chip->model->plain->baud(&chip->plain);
    default:
        return rp2040_uart_baud(&chip->rp2040);
    }
}

static inline double chip_seconds(struct chip *chip) {
    switch (chip->model->kind) {
    case CHIP_STM32F4:
        return stm32f4_seconds(&chip->stm32f4);
    case CHIP_PLAIN:
        return plain_seconds(&chip->plain);
    default:
        return rp2040_seconds(&chip->rp2040);
    }
}

/* What is at an address of which nothing is modelled, for a message; "" where really nothing is. */
static inline const char *chip_absent(const struct chip *chip, uint32_t address) {
    const struct plain_absent *each = chip->model->absent;
    while (each->what != NULL && address - each->base >= each->bytes) {
        each++;
    }
    return each->what != NULL ? each->what : "";
}

#endif
