/* SPDX-License-Identifier: GPL-2.0-only -- part of arm.c, which links Unicorn.
 * arm_unmodelled.h: in a free run, each access to a register of the chip is looked at here: a word on what is not modelled
 * once a firmware touches it, and the list of all such registers and blocks for the end (chip_known.h, chip_touched.h).
 */
#ifndef MOTECRYPT_ARM_UNMODELLED_H
#define MOTECRYPT_ARM_UNMODELLED_H

#include <stdbool.h>

#include "arm_machine.h"
#include "arm_names.h"
#include "arm_serving.h"
#include "chip_known.h"
#include "chip_touched.h"

/* A write that asks for an exception or a reset where there are none: these bits are all set. */
struct core_request {
    uint32_t address, bits;
    const char *what;
};

static const struct core_request core_requests[] = {
    {0xE000E010u, 3u, "SysTick's interrupt: not modelled; it never comes"},
    {0xE000ED04u, 1u << 26, "SysTick's interrupt: not modelled; it never comes"},
    {0xE000ED04u, 1u << 28, "PendSV: not modelled; it never comes"},
    {0xE000ED04u, 1u << 31, "NMI: not modelled; it never comes"},
    {0xE000ED0Cu, 0x05FA0004u, "a reset by the firmware: not modelled; it runs on"},
};

static struct {
    const struct known_chip *chip;
    const struct name_block *names; /* or NULL */
    size_t name_count;
    uint32_t told, told_of_requests; /* notes given: bits */
    bool told_of_waiting;
    uint32_t known[2]; /* the last registers read and written that need no word for any value */
    struct touched touched;
} unmodelled;

static void free_say(struct machine *m, const char *what) {
    fprintf(m->pipe.events, "{\"event\":\"note\",\"detail\":\"%s\",\"cycle\":%" PRIu64 "}\n", what, m->cycles);
}

static void unmodelled_open(const struct machine *m) {
    const char *name = m->chip.model->name;
    unmodelled.chip = known_chip_of(name);
    if (strcmp(name, "RP2040") == 0) {
        unmodelled.names = rp2040_names;
        unmodelled.name_count = COUNT_OF(rp2040_names);
    } else if (strcmp(name, "RP2350") == 0) {
        unmodelled.names = rp2350_names;
        unmodelled.name_count = COUNT_OF(rp2350_names);
    }
}

/* Without the atomic aliases of RP2040 and RP2350 (datasheets 2.1.2 and 2.1.3). */
static uint32_t without_alias(const struct machine *m, uint32_t address) {
    bool has_aliases = unmodelled.names != NULL && (address >> 28 == 4 || address >> 28 == 5);
    (void)m;
    return has_aliases ? address & ~(3u << 12) : address;
}

/* Whether a part that has its own note covers the register; the note is given once. */
static bool in_gap(struct machine *m, uint32_t address, bool is_write) {
    const struct chip_model *model = m->chip.model;
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

/* Whether a write asks for an exception that never comes, or for a reset. */
static bool is_request(struct machine *m, uint32_t address, bool is_write, uint32_t value) {
    bool found = false;
    for (unsigned i = 0; is_write && m->attend == NULL && i < COUNT_OF(core_requests); i++) {
        const struct core_request *request = &core_requests[i];
        if (address != request->address || (value & request->bits) != request->bits) {
            continue;
        }
        found = true;
        if (!(unmodelled.told_of_requests & 1u << i)) {
            unmodelled.told_of_requests |= 1u << i;
            free_say(m, request->what);
        }
    }
    return found;
}

/* A note of its own, as the flash's register is modelled: a device without a model of wait states does not wait. */
static void look_at_wait_states(struct machine *m, uint32_t address, uint32_t value) {
    if (m->chip.model->kind == CHIP_STM32F4 && !m->flash.on && !unmodelled.told_of_waiting &&
        address == STM32F4_FLASH_ACR && (value & 7u) != 0) {
        unmodelled.told_of_waiting = true;
        free_say(m, "the flash's wait states: not modelled; cycles are those of a flash that has none");
    }
}

static __attribute__((noinline)) void look_at_register(struct machine *m, uint32_t address, bool is_write, uint32_t value) {
    uint32_t plain = without_alias(m, address);
    bool is_asked = is_request(m, plain, is_write, value), is_gap = in_gap(m, plain, is_write);
    look_at_wait_states(m, plain, value);
    if (!is_asked && !is_gap && (unmodelled.chip == NULL || known_is(unmodelled.chip, plain, is_write))) {
        if (plain < PPB_BASE && plain != STM32F4_FLASH_ACR) {
            unmodelled.known[is_write] = address;
        }
        return;
    }
    if (unmodelled.chip != NULL && touch(&unmodelled.touched, plain & ~3u, known_block(unmodelled.chip, plain), is_write)) {
        touched_at(&unmodelled.touched, serving_pc(m));
    }
}

/* Before an access is served: loops ask the same known register again and again. */
static inline void note_access(struct machine *m, uint32_t address, bool is_write, uint32_t value) {
    if (unmodelled.known[is_write] != address || address == 0) {
        look_at_register(m, address, is_write, value);
    }
}

/* The name of the part whose note covers a block. */
static void name_by_note(const struct machine *m, uint32_t base, char *out, size_t size) {
    const struct chip_model *model = m->chip.model;
    for (unsigned i = 0; i < model->gap_count && out[0] == '\0'; i++) {
        uint32_t first = known_block(unmodelled.chip, model->gaps[i].base);
        if (first == base || base - model->gaps[i].base < model->gaps[i].bytes) {
            snprintf(out, size, "%.*s", (int)strcspn(model->gaps[i].what, ":"), model->gaps[i].what);
        }
    }
}

static void name_unmodelled(void *context, uint32_t address, bool is_block, char *out, size_t size) {
    const struct known_core_block *core = known_core_block(unmodelled.chip, address);
    out[0] = '\0';
    if (!is_block) {
        register_name(unmodelled.names, unmodelled.name_count, address, out, size);
        return;
    }
    for (size_t i = 0; i < unmodelled.name_count && core == NULL && out[0] == '\0'; i++) {
        if (known_block(unmodelled.chip, unmodelled.names[i].base) == address) {
            snprintf(out, size, "%s", unmodelled.names[i].block);
        }
    }
    if (core != NULL) {
        snprintf(out, size, "%s", core->name);
    } else {
        name_by_note(context, address, out, size);
    }
}

static void tell_unmodelled(struct machine *m) {
    if (unmodelled.chip != NULL) {
        touched_tell(&unmodelled.touched, name_unmodelled, m, m->pipe.events);
    }
}

#endif
