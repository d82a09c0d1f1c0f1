/* SPDX-License-Identifier: MIT
 * arm_plain.h: a chip whose registers are data: what start-up code, one UART and the core's counters need is a row of
 * arm_plain_chips.h; everything else in its windows keeps what was written. It does not depend on the CPU: the caller
 * passes the time in cycles.
 */
#ifndef MOTECRYPT_ARM_PLAIN_H
#define MOTECRYPT_ARM_PLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "arm_ppb.h"
#include "bounds.h"

enum { PLAIN_WINDOWS = 8 };

struct plain;

/* What a register reads as: (its value & keep) | set | (the masked bits of another one, moved left or right). */
struct plain_rule {
    uint32_t address, keep, set;
    uint32_t from, mask;
    int left;
};

struct plain_value {
    uint32_t address, value;
};

struct plain_uart {
    uint32_t status, in, out;               /* addresses; status and out may share their word with others */
    uint32_t has_input, has_room, all_sent; /* bits of the status; 0: there is none */
    uint32_t room;                          /* address of has_room, where it is not in the status; else 0 */
    uint32_t queued;                        /* bytes that wait before there is no room */
    uint32_t has_no_input;                  /* a bit of a status that says the contrary of has_input */
};

struct plain_model {
    uint32_t cpuid;
    uint32_t systick_reference;       /* core cycles in one of SysTick's reference clock; 0: there is none */
    const struct plain_value *values; /* after reset, where not 0; ends with an address of 0 */
    const struct plain_rule *rules;   /* ends with an address of 0 */
    struct plain_uart uart;
    uint32_t clock_base, clock_bytes; /* registers that change the core's clock */
    double (*hz)(struct plain *chip);
    double (*baud)(struct plain *chip);                                        /* 0: the UART is off */
    uint32_t (*before_write)(struct plain *chip, uint32_t *at, uint32_t value); /* what is stored, and where; or NULL */
};

/* A range of addresses at which nothing is modelled, and what to say of it. */
struct plain_absent {
    uint32_t base, bytes;
    const char *what;
};

struct plain {
    struct chip_outside outside;
    const struct plain_model *model;
    const struct chip_window *windows;
    unsigned window_count;
    uint32_t *registers[PLAIN_WINDOWS]; /* of each window */
    struct ppb ppb;
    uint64_t seconds_at_cycle; /* since reset there had passed `seconds` at this cycle */
    double seconds;
};

static uint32_t plain_nowhere; /* what an address outside all windows reads and writes */

/* The register at an aligned address. */
static inline uint32_t *plain_register(struct plain *chip, uint32_t address) {
    for (unsigned i = 0; i < chip->window_count; i++) {
        if (address - chip->windows[i].base < chip->windows[i].bytes && chip->registers[i] != NULL) {
            return &chip->registers[i][(address - chip->windows[i].base) / 4];
        }
    }
    return &plain_nowhere;
}

static inline void plain_reset(struct plain *chip, const struct plain_model *model, const struct chip_window *windows,
                               unsigned count) {
    struct chip_outside outside = chip->outside;
    memset(chip, 0, sizeof *chip);
    chip->outside = outside;
    chip->model = model;
    chip->windows = windows;
    chip->window_count = count < PLAIN_WINDOWS ? count : PLAIN_WINDOWS;
    for (unsigned i = 0; i < chip->window_count; i++) {
        if (windows[i].kind != CHIP_CORE) {
            chip->registers[i] = calloc(windows[i].bytes / 4, sizeof(uint32_t));
        }
    }
    for (const struct plain_value *each = model->values; each->address != 0; each++) {
        *plain_register(chip, each->address) = each->value;
    }
    chip->ppb.registers[PPB_CPUID / 4] = model->cpuid;
    chip->ppb.reference = model->systick_reference;
}

static inline void plain_set_simulated(struct plain *chip, uint32_t address) {
    *plain_register(chip, address & ~3u) = CHIP_SIMULATED;
}

static inline double plain_seconds(struct plain *chip) {
    uint64_t now = chip->outside.cycles(chip->outside.context), cycles = most(now, chip->seconds_at_cycle);
    double hz = chip->model->hz(chip);
    cycles -= chip->seconds_at_cycle;
    return hz > 0.0 ? chip->seconds + (double)cycles / hz : chip->seconds;
}

static inline uint32_t plain_sender(struct plain *chip) {
    const struct plain_uart *uart = &chip->model->uart;
    return chip->outside.uart_sender_flags ? chip->outside.uart_sender_flags(chip->outside.context)
                                           : uart->has_room | uart->all_sent;
}

static inline uint32_t plain_peripheral_read(struct plain *chip, uint32_t address) {
    const struct plain_uart *uart = &chip->model->uart;
    uint32_t value = *plain_register(chip, address), flags = 0;
    bool is_status = address == (uart->status & ~3u), is_room = uart->room != 0 && address == uart->room;
    for (const struct plain_rule *rule = chip->model->rules; rule->address != 0; rule++) {
        if (rule->address == address) {
            uint32_t other = rule->mask != 0 ? *plain_register(chip, rule->from) & rule->mask : 0;
            value = (value & rule->keep) | rule->set | (rule->left < 0 ? other >> -rule->left : other << rule->left);
        }
    }
    if (is_status) {
        flags = chip->outside.uart_has_input(chip->outside.context) ? uart->has_input : uart->has_no_input;
        flags |= uart->room != 0 ? 0 : plain_sender(chip);
        value = (value & ~(uart->has_input | uart->has_no_input | (uart->room != 0 ? 0 : uart->has_room | uart->all_sent))) | flags;
    } else if (is_room) {
        value = plain_sender(chip);
    } else if (address == (uart->in & ~3u)) {
        value = chip->outside.uart_read(chip->outside.context);
    }
    return value;
}

/* A write of `bytes` at any address: the others of its word stay. */
static inline void plain_peripheral_write(struct plain *chip, uint32_t address, uint32_t value, unsigned bytes) {
    const struct plain_model *model = chip->model;
    uint32_t word = address & ~3u, shift = 8 * (address & 3u);
    uint32_t mask = (bytes == 1 ? 0xFFu : bytes == 2 ? 0xFFFFu : 0xFFFFFFFFu) << shift;
    uint32_t whole = (*plain_register(chip, word) & ~mask) | (value << shift & mask);
    if (address - model->clock_base < model->clock_bytes) { /* the clock may change */
        chip->seconds = plain_seconds(chip);
        chip->seconds_at_cycle = chip->outside.cycles(chip->outside.context);
    }
    if (model->before_write != NULL) {
        whole = model->before_write(chip, &word, whole);
    }
    *plain_register(chip, word) = whole;
    if (address == model->uart.out) {
        chip->outside.uart_write(chip->outside.context, (uint8_t)value);
    }
}

static inline uint32_t plain_read(struct plain *chip, const struct chip_window *window, uint32_t address) {
    return window->kind == CHIP_CORE ? ppb_read(&chip->ppb, (address - PPB_BASE) & ~3u,
                                                chip->outside.cycles(chip->outside.context))
                                     : plain_peripheral_read(chip, address & ~3u);
}

static inline void plain_write(struct plain *chip, const struct chip_window *window, uint32_t address, uint32_t value,
                               unsigned bytes) {
    if (window->kind == CHIP_CORE) {
        ppb_write(&chip->ppb, (address - PPB_BASE) & ~3u, value, chip->outside.cycles(chip->outside.context));
    } else {
        plain_peripheral_write(chip, address, value, bytes);
    }
}

#endif
