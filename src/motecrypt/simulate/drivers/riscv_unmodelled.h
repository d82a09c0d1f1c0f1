/* SPDX-License-Identifier: MIT
 * riscv_unmodelled.h: in a free run, each access to a register of the chip and to a CSR is looked at here: a word on what is
 * not modelled once a firmware touches it, and the list of all such registers and blocks (chip_known.h, chip_touched.h).
 */
#ifndef MOTECRYPT_RISCV_UNMODELLED_H
#define MOTECRYPT_RISCV_UNMODELLED_H

#include <stdbool.h>

#include "chip_known.h"
#include "chip_touched.h"
#include "riscv_machine.h"

enum { CSR_MIE = 0x304 };

static const char no_interrupts[] = "interrupts: not modelled; they are never delivered";

static struct {
    const struct known_chip *chip;
    uint32_t told; /* notes given: bits */
    bool told_of_interrupts;
    uint32_t known[2]; /* the last registers read and written that need no word */
    struct touched touched;
} unmodelled;

static void free_say(struct machine *m, const char *what) {
    fprintf(m->pipe.events, "{\"event\":\"note\",\"detail\":\"%s\",\"cycle\":%" PRIu64 "}\n", what, m->cycles);
}

static void touch_at_pc(struct machine *m, uint32_t address, uint32_t base, bool is_write) {
    if (touch(&unmodelled.touched, address, base, is_write)) {
        touched_at(&unmodelled.touched, m->pc);
    }
}

/* Whether a part that has its own note covers the register; the note is given once. */
static bool in_gap(struct machine *m, uint32_t address, bool is_write) {
    const struct riscv_chip_model *model = m->chip.model;
    bool found = false;
    for (unsigned i = 0; i < model->gap_count; i++) {
        const struct chip_gap *gap = &model->gaps[i];
        if (address - gap->base >= gap->bytes || (gap->writes_only && !is_write)) {
            continue;
        }
        found = true;
        if (!(unmodelled.told & 1u << i)) {
            unmodelled.told |= 1u << i;
            free_say(m, gap->what);
        }
    }
    return found;
}

static void note_access(struct machine *m, uint32_t address, bool is_write) {
    if (unmodelled.chip == NULL || unmodelled.known[is_write] == address || riscv_register(&m->chip, address) == NULL) {
        return;
    }
    if (in_gap(m, address, is_write) || !known_is(unmodelled.chip, address, is_write)) {
        touch_at_pc(m, address & ~3u, known_block(unmodelled.chip, address), is_write);
    } else {
        unmodelled.known[is_write] = address;
    }
}

/* CSRs that count, identify, or only keep what is written as long as there are no traps. Interrupts that are off stay off. */
static bool csr_is_known(uint32_t number, bool is_write, uint32_t value) {
    static const uint16_t known[][2] = {
        {0x300, 0x301}, {0x305, 0x305}, {0x340, 0x343}, {0x7E0, 0x7E2}, {0xB00, 0xB00}, {0xB02, 0xB02}, {0xB80, 0xB80},
        {0xB82, 0xB82}, {0xC00, 0xC00}, {0xC02, 0xC02}, {0xC80, 0xC80}, {0xC82, 0xC82}, {0xF14, 0xF14}};
    for (size_t i = 0; i < COUNT_OF(known); i++) {
        if (number >= known[i][0] && number <= known[i][1]) {
            return true;
        }
    }
    return number == CSR_MIE && (!is_write || value == 0);
}

static void note_csr(struct machine *m, uint32_t number, bool is_write, uint32_t value) {
    if (csr_is_known(number, is_write, value)) {
        return;
    }
    if (number == CSR_MIE && !unmodelled.told_of_interrupts) {
        unmodelled.told_of_interrupts = true;
        free_say(m, no_interrupts);
    }
    touch_at_pc(m, number, number, is_write);
}

static void unmodelled_open(struct machine *m) {
    unmodelled.chip = known_chip_of(m->chip.model->name);
    m->on_register = note_access;
    m->on_csr = note_csr;
}

static void name_unmodelled(void *context, uint32_t address, bool is_block, char *out, size_t size) {
    const struct machine *m = context;
    const struct riscv_chip_model *model = m->chip.model;
    out[0] = '\0';
    if (address < RISCV_CSRS) {
        snprintf(out, size, address == CSR_MIE ? "CSR mie" : "CSR");
        return;
    }
    for (unsigned i = 0; is_block && i < model->gap_count && out[0] == '\0'; i++) {
        uint32_t first = known_block(unmodelled.chip, model->gaps[i].base);
        if (first == address || address - model->gaps[i].base < model->gaps[i].bytes) {
            snprintf(out, size, "%.*s", (int)strcspn(model->gaps[i].what, ":"), model->gaps[i].what);
        }
    }
}

static void tell_unmodelled(struct machine *m) {
    if (unmodelled.chip != NULL) {
        touched_tell(&unmodelled.touched, name_unmodelled, m, m->pipe.events);
    }
}

#endif
