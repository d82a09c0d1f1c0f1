/* SPDX-License-Identifier: MIT
 * riscv_leak.h: records what the instructions of a function write and move on a RISC-V core (leak.h), run after run
 * from the same state. An instruction's results are read before the next one runs. Stores are noted, and undone before
 * the next run; registers of the chip are not.
 */
#ifndef MOTECRYPT_RISCV_LEAK_H
#define MOTECRYPT_RISCV_LEAK_H

#include "leak.h"
#include "riscv_run.h"

static const char riscv_leak_reached[] = "reached"; /* the end of a run at the place where runs begin, or of a run */

/* What a store wrote over. */
struct riscv_leak_undo {
    struct riscv_memory *memory;
    uint32_t offset, bytes;
    uint8_t before[4];
};

static struct {
    uint32_t registers[RISCV_REGISTERS]; /* as the instruction before left them */
    int32_t sources[RISCV_REGISTERS];
    uint32_t return_pc, return_sp, fetched; /* fetched: the address of the last word that the flash delivered as code */
    struct riscv_step open;                 /* has run; its results are not yet known */
    bool is_open;
    uint32_t open_address, cell; /* cell: what it writes over */
    struct riscv_leak_undo *undo;
    size_t undo_count, undo_room;
    uint64_t first_cycle;
    bool lacks_memory;
} riscv_leak;

static bool riscv_leak_stores(uint8_t operation) {
    return riscv_is_store(operation) || (riscv_is_atomic(operation) && operation != RISCV_LR_W);
}

static void riscv_leak_note(struct riscv_memory *memory, uint32_t offset, uint32_t bytes) {
    struct riscv_leak_undo *undo;
    if (riscv_leak.undo_count == riscv_leak.undo_room) {
        size_t room = riscv_leak.undo_room * 2 + 1024;
        struct riscv_leak_undo *grown = realloc(riscv_leak.undo, room * sizeof *grown);
        if (grown == NULL) {
            riscv_leak.lacks_memory = true;
            return;
        }
        riscv_leak.undo = grown;
        riscv_leak.undo_room = room;
    }
    undo = &riscv_leak.undo[riscv_leak.undo_count++];
    *undo = (struct riscv_leak_undo){memory, offset, bytes, {0}};
    memcpy(undo->before, memory->data + offset, bytes);
}

/* Puts back what a run has written. */
static void riscv_leak_undo_all(void) {
    while (riscv_leak.undo_count > 0) {
        const struct riscv_leak_undo *undo = &riscv_leak.undo[--riscv_leak.undo_count];
        memcpy(undo->memory->data + undo->offset, undo->before, undo->bytes);
        if (undo->memory->has_code) {
            forget_code(undo->memory, undo->offset, undo->bytes);
        }
    }
}

/* Before an instruction runs: what it will write over is noted. */
static void riscv_leak_before(struct machine *m, const struct riscv_step *step) {
    uint32_t bytes = riscv_access_bytes(step->operation);
    riscv_leak.open = *step;
    riscv_leak.is_open = true;
    riscv_leak.open_address = m->x[step->rs1] + (uint32_t)step->immediate;
    if (riscv_leak_stores(step->operation)) {
        struct riscv_memory *memory = memory_at(m, riscv_leak.open_address, bytes);
        if (memory != NULL) {
            uint32_t offset = riscv_leak.open_address - memory->base;
            riscv_leak.cell = bytes_at(memory->data + offset, bytes);
            riscv_leak_note(memory, offset, bytes);
        }
    }
}

/* What a load or store moved. */
static void riscv_leak_moved(struct machine *m, uint8_t operation) {
    uint32_t address = riscv_leak.open_address, bytes = riscv_access_bytes(operation), value;
    const struct riscv_memory *memory = memory_at(m, address, bytes);
    leak_replace(LEAK_ADDRESS, &leak.address, address, address);
    if (memory == NULL) {
        return; /* a register of the chip */
    }
    value = bytes_at(memory->data + (address - memory->base), bytes);
    if (!riscv_is_store(operation)) {
        bool has_stored = riscv_leak_stores(operation); /* an atomic operation: words, and it has read before */
        uint32_t whole = bytes_at(memory->data + ((address - memory->base) & ~3u), 4);
        leak_replace(LEAK_DATA, &leak.data, address, has_stored ? riscv_leak.cell : value);
        leak_replace(memory->is_flash ? LEAK_FLASH : LEAK_LATCH, memory->is_flash ? &leak.flash : &leak.latch, address,
                     has_stored ? riscv_leak.cell : whole);
    }
    if (riscv_leak_stores(operation)) {
        leak_replace(LEAK_DATA, &leak.data, address, value);
        leak_result(address, value);
        leak_meet(LEAK_CELL, address, riscv_leak.cell, value, LEAK_NOBODY);
    }
}

/* The instruction before has ended: its results are there. Whether the run continues. */
static bool riscv_leak_settle(struct machine *m) {
    uint8_t rd = riscv_leak.open.rd, operation = riscv_leak.open.operation;
    if (!riscv_leak.is_open) {
        return true;
    }
    riscv_leak.is_open = false;
    if (!leak.recording) {
        return true;
    }
    if (rd != RISCV_SINK) {
        uint32_t after = m->x[rd];
        leak_result(rd, after);
        leak_meet(LEAK_REGISTER, rd, riscv_leak.registers[rd], after, riscv_leak.sources[rd]);
        riscv_leak.registers[rd] = after;
        riscv_leak.sources[rd] = (int32_t)leak.at;
    }
    if (riscv_is_load(operation) || riscv_is_store(operation) || riscv_is_atomic(operation)) {
        riscv_leak_moved(m, operation);
    }
    return leak_keep();
}

/* The flash delivers code in words; one of them has two compressed instructions. */
static void riscv_leak_fetch(struct machine *m, const struct riscv_step *step) {
    for (uint32_t word = m->pc & ~3u; word < m->pc + step->bytes; word += 4) {
        const struct riscv_memory *memory = memory_at(m, word, 4);
        if (word != riscv_leak.fetched && memory != NULL && memory->is_flash) {
            leak_replace(LEAK_FLASH, &leak.flash, word, bytes_at(memory->data + (word - memory->base), 4));
            riscv_leak.fetched = word;
        }
    }
}

static bool riscv_leak_stop(struct machine *m) {
    m->ending = riscv_leak_reached;
    return false;
}

/* Before every instruction of a run. Whether it is executed. */
static bool riscv_leak_step(struct machine *m, const struct riscv_step *step) {
    if (!riscv_leak_settle(m)) {
        leak.head.flags |= LEAK_CUT;
        return riscv_leak_stop(m);
    }
    if (leak.recording && m->pc == riscv_leak.return_pc && m->x[RISCV_SP] == riscv_leak.return_sp) {
        return riscv_leak_stop(m);
    }
    if (!leak.recording && m->pc == leak.window) {
        leak.recording = true;
        riscv_leak.return_pc = m->x[RISCV_RA];
        riscv_leak.return_sp = m->x[RISCV_SP];
        memcpy(riscv_leak.registers, m->x, sizeof m->x);
    } else if (m->cycles >= riscv_leak.first_cycle + LEAK_CYCLES_MOST) {
        leak.head.flags |= leak.recording ? LEAK_CUT : LEAK_ABSENT;
        return riscv_leak_stop(m);
    }
    if (leak.recording) {
        leak_next(m->pc);
        riscv_leak_fetch(m, step);
    }
    riscv_leak_before(m, step);
    return true;
}

/* Where runs begin. */
static bool riscv_leak_from(struct machine *m, const struct riscv_step *step) {
    (void)step;
    return m->pc != leak.from || riscv_leak_stop(m);
}

static const char *riscv_leak_poke(struct machine *m) {
    for (unsigned i = 0; i < leak.poke_count; i++) {
        uint32_t address = leak.pokes[i].address, bytes = leak.pokes[i].bytes;
        struct riscv_memory *memory = memory_at(m, address, bytes);
        if (memory == NULL) {
            return "an input is outside the device's memory";
        }
        if (fread(memory->data + (address - memory->base), 1, bytes, leak.input) != bytes) {
            return "there are fewer inputs than runs";
        }
    }
    return NULL;
}

static void riscv_leak_begin(struct machine *m) {
    leak_begin();
    riscv_leak.is_open = false;
    riscv_leak.fetched = UINT32_MAX;
    riscv_leak.first_cycle = m->cycles;
    for (unsigned i = 0; i < RISCV_REGISTERS; i++) {
        riscv_leak.sources[i] = LEAK_NOBODY;
    }
}

/* All runs, from where the machine is now. NULL, or what is wrong. */
static const char *riscv_leak_all(struct machine *m) {
    uint32_t x[RISCV_REGISTERS], pc = m->pc, reserved = m->reserved;
    uint32_t *csr = malloc(sizeof m->csr);
    if (csr == NULL) {
        return "there is no memory to keep the machine's state";
    }
    memcpy(x, m->x, sizeof x);
    memcpy(csr, m->csr, sizeof m->csr);
    m->before_step = riscv_leak_step;
    m->on_flow = NULL;
    m->in_region = m->trace = false;
    m->deadline = UINT64_MAX;
    for (uint32_t run = 0; run < leak.runs; run++) {
        const char *problem = riscv_leak_poke(m);
        if (problem != NULL) {
            return problem;
        }
        riscv_leak_begin(m);
        m->ending = NULL;
        run_looking(m);
        if (m->ending != riscv_leak_reached) {
            return m->detail;
        }
        if (riscv_leak.lacks_memory) {
            return "there is no memory to undo the window's stores";
        }
        riscv_leak_undo_all();
        memcpy(m->x, x, sizeof x);
        memcpy(m->csr, csr, sizeof m->csr);
        m->pc = pc;
        m->reserved = reserved;
        if (!leak_write()) {
            return "the traces cannot be written";
        }
    }
    return fflush(leak.output) == 0 ? NULL : "the traces cannot be written";
}

#endif
