/* SPDX-License-Identifier: MIT
 * riscv_chip.h: which RISC-V chips' registers the driver models, and what it asks each of them. A further
 * chip is a row here, a file like riscv_fe310.h, and a device folder.
 */
#ifndef MOTECRYPT_RISCV_CHIP_H
#define MOTECRYPT_RISCV_CHIP_H

#include "riscv_ch32v003.h"
#include "riscv_esp32c3.h"
#include "riscv_fe310.h"

static const struct riscv_chip_model *const riscv_chip_models[] = {&fe310_model, &ch32v003_model,
                                                                &esp32c3_model};

static inline const struct riscv_chip_model *riscv_chip_model_of(const char *name) {
    for (size_t i = 0; i < COUNT_OF(riscv_chip_models); i++) {
        if (strcmp(riscv_chip_models[i]->name, name) == 0) {
            return riscv_chip_models[i];
        }
    }
    return NULL;
}

/* `simulated`: the address of a register whose value means to the benchmark firmware: simulated. */
static inline bool riscv_chip_reset(struct riscv_chip *chip, const struct chip_outside *outside,
                                    uint32_t simulated) {
    uint32_t *there;
    chip->outside = *outside;
    for (unsigned i = 0; i < chip->model->window_count; i++) {
        chip->registers[i] = calloc(chip->model->windows[i].bytes / 4, sizeof(uint32_t));
        if (chip->registers[i] == NULL) {
            return false;
        }
    }
    chip->model->reset(chip);
    there = riscv_register(chip, simulated);
    if (there != NULL) {
        *there = CHIP_SIMULATED;
    }
    return true;
}

/* Returns false where there is no register. */
static inline bool riscv_chip_read(struct riscv_chip *chip, uint32_t address, uint32_t *value) {
    const uint32_t *there = riscv_register(chip, address);
    if (there == NULL) {
        return false;
    }
    *value = chip->model->read(chip, address & ~3u, *there);
    return true;
}

static inline bool riscv_chip_write(struct riscv_chip *chip, uint32_t address, uint32_t value) {
    uint32_t *there = riscv_register(chip, address);
    double seconds;
    if (there == NULL) {
        return false;
    }
    seconds = riscv_seconds(chip); /* the write may change the clock */
    *there = value;
    chip->seconds = seconds;
    chip->seconds_at_cycle = chip->outside.cycles(chip->outside.context);
    chip->model->write(chip, address & ~3u, value);
    return true;
}

static inline const char *riscv_chip_absent(const struct riscv_chip *chip, uint32_t address) {
    return chip->model->absent(address);
}

#endif
