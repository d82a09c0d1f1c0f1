/* SPDX-License-Identifier: GPL-2.0-only -- part of arm.c, which links Unicorn.
 * arm_leak.h: records what the instructions of a function write and move on a Cortex-M (leak.h), run after run from
 * the same state. An instruction's results are read before the next one runs. Stores are noted, and undone before the
 * next run; registers of the chip are not.
 */
#ifndef MOTECRYPT_ARM_LEAK_H
#define MOTECRYPT_ARM_LEAK_H

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "arm_machine.h"
#include "arm_thumb2.h"
#include "leak.h"

enum { ARM_LEAK_SLOTS = 1 << 14, ARM_LEAK_LR = 14 };

/* An instruction as decoded; `place` is where it is. */
struct arm_leak_step {
    uint32_t place;
    struct thumb2_instruction instruction;
};

/* What a store wrote over. */
struct arm_leak_undo {
    uint8_t *at;
    uint32_t bytes;
    uint8_t before[4];
};

static struct {
    bool reached, running; /* the place where runs begin; a run */
    uint32_t registers[16];
    int32_t sources[16];
    uint32_t return_pc, return_sp, fetched; /* fetched: the address of the last word that the flash delivered as code */
    const struct arm_leak_step *open; /* has run; its results are not yet known */
    uint32_t open_address;
    uint32_t cells[16]; /* that it writes over */
    struct arm_leak_undo *undo;
    size_t undo_count, undo_room;
    struct arm_leak_step steps[ARM_LEAK_SLOTS];
    uint64_t first_cycle;
    bool lacks_memory;
} arm_leak;

static const struct arm_leak_step *arm_leak_decoded(const struct machine *m, uint32_t pc) {
    struct arm_leak_step *step = &arm_leak.steps[pc / 2 % ARM_LEAK_SLOTS];
    if (step->place != pc) {
        uint16_t code = code_at(m, pc);
        step->place = pc;
        step->instruction = thumb2_decode(code, code_at(m, pc + 2));
        if (step->instruction.common.class == THUMB_branch_link ||
            (step->instruction.common.class == THUMB_branch_exchange && (code & 0x80u))) {
            step->instruction.written |= 1u << ARM_LEAK_LR;
        }
        step->instruction.written &= 0x7FFFu; /* without the program counter */
    }
    return step;
}

static uint32_t arm_leak_value(const uint8_t *at, unsigned bytes) {
    uint32_t value = 0;
    memcpy(&value, at, bytes); /* all hosts of these drivers are little-endian, as the cores are */
    return value;
}

static uint32_t arm_leak_address(const struct thumb_access *access, uint32_t pc) {
    uint32_t base = access->base == THUMB_PC ? (pc + 4) & ~3u : arm_leak.registers[access->base];
    uint32_t index = access->index < 0 ? 0 : arm_leak.registers[access->index] << access->shift;
    return base + index + (uint32_t)access->offset;
}

static void arm_leak_note(uint8_t *at, unsigned bytes) {
    struct arm_leak_undo *undo;
    if (arm_leak.undo_count == arm_leak.undo_room) {
        size_t room = arm_leak.undo_room * 2 + 1024;
        struct arm_leak_undo *grown = realloc(arm_leak.undo, room * sizeof *grown);
        if (grown == NULL) {
            arm_leak.lacks_memory = true;
            return;
        }
        arm_leak.undo = grown;
        arm_leak.undo_room = room;
    }
    undo = &arm_leak.undo[arm_leak.undo_count++];
    undo->at = at;
    undo->bytes = bytes;
    memcpy(undo->before, at, bytes);
}

/* Before an instruction runs: where it will write is noted. */
static void arm_leak_before(struct machine *m, const struct arm_leak_step *step) {
    const struct thumb_access *access = &step->instruction.access;
    if (access->kind == THUMB_NO_ACCESS) {
        return;
    }
    arm_leak.open_address = arm_leak_address(access, step->place);
    for (unsigned unit = 0; access->kind == THUMB_WRITES && unit < access->units; unit++) {
        uint8_t *at = host_pointer(m, arm_leak.open_address + unit * access->bytes, access->bytes);
        if (at != NULL) {
            arm_leak.cells[unit & 15u] = arm_leak_value(at, access->bytes);
            arm_leak_note(at, access->bytes);
        }
    }
}

static void arm_leak_registers(struct machine *m, uint32_t written) {
    for (; written != 0; written &= written - 1) {
        unsigned number = (unsigned)__builtin_ctz(written);
        uint32_t before = arm_leak.registers[number], after = register_value(m, register_ids[number]);
        arm_leak.registers[number] = after;
        if (leak.recording) {
            leak_result(number, after);
            leak_meet(LEAK_REGISTER, number, before, after, arm_leak.sources[number]);
            arm_leak.sources[number] = (int32_t)leak.at;
        }
    }
}

static void arm_leak_moved(struct machine *m, const struct thumb_access *access) {
    for (unsigned unit = 0; unit < access->units; unit++) {
        uint32_t address = arm_leak.open_address + unit * access->bytes, value, word;
        const uint8_t *at = host_pointer(m, address, access->bytes), *whole = host_pointer(m, address & ~3u, 4);
        leak_replace(LEAK_ADDRESS, &leak.address, address, address);
        if (at == NULL || whole == NULL) {
            continue; /* a register of the chip */
        }
        value = arm_leak_value(at, access->bytes);
        word = arm_leak_value(whole, 4);
        leak_replace(LEAK_DATA, &leak.data, address, value);
        if (access->kind == THUMB_WRITES) {
            leak_result(address, value);
            leak_meet(LEAK_CELL, address, arm_leak.cells[unit & 15u], value, LEAK_NOBODY);
        } else if (m->memories[0].base <= address && address - m->memories[0].base < m->memories[0].bytes) {
            leak_replace(LEAK_FLASH, &leak.flash, address, word);
        } else {
            leak_replace(LEAK_LATCH, &leak.latch, address, word);
        }
    }
}

/* The flash delivers code in words; one of them has two narrow instructions. */
static void arm_leak_fetch(const struct machine *m, uint32_t pc, unsigned bytes) {
    for (uint32_t word = pc & ~3u; word < pc + bytes; word += 4) {
        const uint8_t *at = host_pointer(m, word, 4);
        if (word != arm_leak.fetched && at != NULL && word - m->memories[0].base < m->memories[0].bytes) {
            leak_replace(LEAK_FLASH, &leak.flash, word, arm_leak_value(at, 4));
            arm_leak.fetched = word;
        }
    }
}

/* The instruction before has ended: its results are there. Whether the run continues. */
static bool arm_leak_settle(struct machine *m) {
    const struct arm_leak_step *step = arm_leak.open;
    bool goes_on = true;
    if (step == NULL) {
        return true;
    }
    arm_leak.open = NULL;
    arm_leak_registers(m, step->instruction.written);
    if (leak.recording) {
        if (step->instruction.access.kind != THUMB_NO_ACCESS) {
            arm_leak_moved(m, &step->instruction.access);
        }
        goes_on = leak_keep();
    }
    return goes_on;
}

static void arm_leak_stop(struct machine *m) {
    arm_leak.running = false;
    uc_emu_stop(m->uc);
}

/* Before every instruction of a run. */
static void on_leak(uc_engine *uc, uint64_t address, uint32_t bytes, void *user) {
    struct machine *m = user;
    uint32_t pc = (uint32_t)address;
    const struct arm_leak_step *step = arm_leak_decoded(m, pc);
    (void)uc;
    if (!arm_leak.running) {
        return;
    }
    if (!arm_leak_settle(m)) {
        leak.head.flags |= LEAK_CUT;
        arm_leak_stop(m);
        return;
    }
    if (leak.recording && pc == arm_leak.return_pc && arm_leak.registers[THUMB_SP] == arm_leak.return_sp) {
        arm_leak_stop(m);
        return;
    }
    if (!leak.recording && leak.at == 0 && pc == leak.window) {
        leak.recording = true;
        arm_leak.return_pc = register_value(m, UC_ARM_REG_LR) & ~1u;
        arm_leak.return_sp = arm_leak.registers[THUMB_SP];
    } else if (m->cycles >= arm_leak.first_cycle + LEAK_CYCLES_MOST) {
        leak.head.flags |= leak.recording ? LEAK_CUT : LEAK_ABSENT;
        arm_leak_stop(m);
        return;
    }
    if (leak.recording) {
        leak_next(pc);
        arm_leak_fetch(m, pc, bytes);
    }
    arm_leak_before(m, step);
    arm_leak.open = step;
}

/* Where runs begin. */
static void on_leak_from(uc_engine *uc, uint64_t address, uint32_t bytes, void *user) {
    (void)address;
    (void)bytes;
    (void)user;
    if (!arm_leak.reached) {
        arm_leak.reached = true;
        uc_emu_stop(uc);
    }
}

/* Puts back what the runs have written. */
static void arm_leak_undo_all(void) {
    while (arm_leak.undo_count > 0) {
        const struct arm_leak_undo *undo = &arm_leak.undo[--arm_leak.undo_count];
        memcpy(undo->at, undo->before, undo->bytes);
    }
}

static const char *arm_leak_poke(struct machine *m) {
    for (unsigned i = 0; i < leak.poke_count; i++) {
        uint8_t *at = host_pointer(m, leak.pokes[i].address, leak.pokes[i].bytes);
        if (at == NULL) {
            return "an input is outside the device's memory";
        }
        if (fread(at, 1, leak.pokes[i].bytes, leak.input) != leak.pokes[i].bytes) {
            return "there are fewer inputs than runs";
        }
    }
    return NULL;
}

static void arm_leak_begin(struct machine *m) {
    leak_begin();
    arm_leak.open = NULL;
    arm_leak.fetched = UINT32_MAX;
    arm_leak.running = true;
    arm_leak.first_cycle = m->cycles;
    for (unsigned i = 0; i < 16; i++) {
        arm_leak.sources[i] = LEAK_NOBODY;
        arm_leak.registers[i] = register_value(m, register_ids[i]);
    }
}

/* All runs, from where the machine is now. NULL, or what is wrong. */
static const char *arm_leak_all(struct machine *m) {
    uc_context *state = NULL;
    uc_hook hook;
    if (uc_context_alloc(m->uc, &state) != UC_ERR_OK || uc_context_save(m->uc, state) != UC_ERR_OK ||
        uc_hook_add(m->uc, &hook, UC_HOOK_CODE, (void *)(uintptr_t)on_leak, m, 1, 0) != UC_ERR_OK ||
        uc_ctl_flush_tb(m->uc) != UC_ERR_OK) { /* code that was translated before has no such hook */
        return "there is no memory to keep the machine's state";
    }
    m->deadline = UINT64_MAX;
    for (uint32_t run = 0; run < leak.runs; run++) {
        const char *problem = arm_leak_poke(m);
        uc_err error;
        if (problem != NULL) {
            return problem;
        }
        arm_leak_begin(m);
        error = uc_emu_start(m->uc, leak.from | 1u, UINT32_MAX, 0, 0);
        if (m->ending != NULL) {
            return m->detail;
        }
        if (error != UC_ERR_OK || arm_leak.running || arm_leak.lacks_memory) {
            return arm_leak.lacks_memory ? "there is no memory to undo the window's stores"
                                         : "the firmware stopped in the window";
        }
        arm_leak_undo_all();
        uc_context_restore(m->uc, state);
        if (!leak_write()) {
            return "the traces cannot be written";
        }
    }
    return fflush(leak.output) == 0 ? NULL : "the traces cannot be written";
}

#endif
