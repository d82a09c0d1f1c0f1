/* SPDX-License-Identifier: MIT
 * riscv_registers.h: what the models of RISC-V chips' registers have in common: windows of plain registers
 * that keep what was written, time, and the UART's other end.
 */
#ifndef MOTECRYPT_RISCV_REGISTERS_H
#define MOTECRYPT_RISCV_REGISTERS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "arm_window.h"
#include "bounds.h"

enum { RISCV_WINDOWS = 8, RISCV_WINDOW_BYTES = 0x40000, RISCV_TWINS = 2 };

struct riscv_chip;

/* A memory that also has another address. */
struct riscv_twin {
    uint32_t base, of;
};

struct riscv_chip_model {
    const char *name; /* as the device's descriptor names it */
    struct chip_window windows[RISCV_WINDOWS];
    unsigned window_count;
    const struct chip_gap *gaps; /* at most 32 */
    unsigned gap_count;
    void (*reset)(struct riscv_chip *chip);
    uint32_t (*read)(struct riscv_chip *chip, uint32_t address, uint32_t kept);
    void (*write)(struct riscv_chip *chip, uint32_t address, uint32_t value);
    double (*hz)(struct riscv_chip *chip);
    double (*baud)(struct riscv_chip *chip); /* 0: the UART is off */
    const char *(*absent)(uint32_t address);
    struct riscv_twin twins[RISCV_TWINS]; /* as many as have an `of` that is not 0 */
};

struct riscv_chip {
    const struct riscv_chip_model *model;
    struct chip_outside outside;
    uint32_t *registers[RISCV_WINDOWS];
    uint64_t seconds_at_cycle; /* since reset there had passed `seconds` at this cycle */
    double seconds;
    uint64_t counter_zero; /* cycle at which a counter of the chip was at 0, or would have been */
};

static inline uint32_t *riscv_register(struct riscv_chip *chip, uint32_t address) {
    for (unsigned i = 0; i < chip->model->window_count; i++) {
        const struct chip_window *window = &chip->model->windows[i];
        if (address - window->base < window->bytes) {
            return &chip->registers[i][(address - window->base) / 4];
        }
    }
    return NULL;
}

/* A register that is known to be in a window. */
static inline uint32_t riscv_kept(struct riscv_chip *chip, uint32_t address) {
    const uint32_t *there = riscv_register(chip, address);
    return there != NULL ? *there : 0;
}

static inline double riscv_seconds(struct riscv_chip *chip) {
    uint64_t cycles = chip->outside.cycles(chip->outside.context) - chip->seconds_at_cycle;
    double hz = chip->model->hz(chip);
    return hz > 0.0 ? chip->seconds + (double)cycles / hz : chip->seconds;
}

/* Bytes that wait in the sender; 0 where every byte leaves immediately. */
static inline uint32_t riscv_waiting(struct riscv_chip *chip) {
    return chip->outside.uart_sender_flags ? chip->outside.uart_sender_flags(chip->outside.context) : 0;
}

static inline bool riscv_has_input(struct riscv_chip *chip) {
    return chip->outside.uart_has_input(chip->outside.context) != 0;
}

#endif
