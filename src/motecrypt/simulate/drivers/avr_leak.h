/* SPDX-License-Identifier: GPL-3.0-or-later -- part of avr_run.c, which links libsimavr.
 * avr_leak.h: records what the instructions of a function write and move on an AVR (leak.h), run after run from the
 * same state. In the window nothing but the core acts: no timer counts and no interrupt begins.
 * Encodings: AVR Instruction Set Manual DS40002198.
 */
#ifndef MOTECRYPT_AVR_LEAK_H
#define MOTECRYPT_AVR_LEAK_H

#include <simavr/sim_avr.h>
#include <simavr/sim_core.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "avr_guard.h"
#include "leak.h"

enum avr_leak_access { AVR_NO_ACCESS, AVR_LOADS, AVR_STORES, AVR_LOADS_FLASH };

/* An instruction: the registers that it writes, first and how many, and what it touches. */
struct avr_leak_step {
    uint8_t access; /* enum avr_leak_access */
    uint8_t target, count;
    uint8_t pointer; /* the first of two registers that it also counts up or down; 0: none */
    uint32_t address;
};

static struct {
    uint8_t *data; /* the state that each run begins in */
    uint8_t sreg[8];
    uint32_t pc;
    uint64_t cycle;
    int32_t sources[32]; /* who wrote each register */
    uint32_t return_pc;
    uint16_t return_sp;
} avr_leak;

static uint16_t avr_leak_pair(const avr_t *avr, unsigned low) {
    return (uint16_t)(avr->data[low] | avr->data[low + 1] << 8);
}

static void avr_leak_memory(const avr_t *avr, uint16_t op, uint16_t next, struct avr_leak_step *step) {
    static const uint8_t pointers[16] = {0, 30, 30, 0, 30, 30, 30, 30, 0, 28, 28, 0, 26, 26, 26, 0};
    unsigned mode = op & 15u;
    uint8_t pointer = pointers[mode];
    bool is_store = (op & 0x0200u) != 0;
    step->access = is_store ? AVR_STORES : AVR_LOADS;
    step->target = op >> 4 & 31u;
    step->count = is_store ? 0 : 1;
    step->address = pointer != 0 ? avr_leak_pair(avr, pointer) : next;
    if (mode == 15) { /* PUSH, POP */
        step->address = (uint32_t)(avr_leak_pair(avr, R_SPL) + (is_store ? 0 : 1));
    } else if (mode >= 4 && mode <= 7) { /* LPM, ELPM */
        step->access = is_store ? AVR_NO_ACCESS : AVR_LOADS_FLASH;
        step->address |= mode >= 6 && avr->rampz ? (uint32_t)avr->data[avr->rampz] << 16 : 0;
        step->pointer = mode & 1u ? pointer : 0;
    } else if (mode == 3 || mode == 8 || mode == 11) { /* reserved */
        *step = (struct avr_leak_step){0};
    } else {
        step->address -= mode == 2 || mode == 10 || mode == 14; /* counted down before */
        step->address &= 0xFFFFu;
        step->pointer = mode == 0 || mode == 12 ? 0 : pointer;
    }
}

/* Before the instruction runs. */
static struct avr_leak_step avr_leak_decode(const avr_t *avr, uint16_t op, uint16_t next) {
    struct avr_leak_step step = {.target = op >> 4 & 31u};
    switch (op >> 12) {
    case 0x0:
        if (op >> 8 == 1) { /* MOVW */
            step.target = (uint8_t)((op >> 4 & 15u) * 2);
            step.count = 2;
        } else if (op >> 8 == 2 || op >> 8 == 3) { /* MULS, MULSU, FMUL */
            step.target = 0;
            step.count = 2;
        } else {
            step.count = op >= 0x0800u; /* not CPC, NOP */
        }
        break;
    case 0x1:
        step.count = op >= 0x1800u; /* not CPSE, CP */
        break;
    case 0x2:
        step.count = 1;
        break;
    case 0x4:
    case 0x5:
    case 0x6:
    case 0x7:
    case 0xE:
        step.target = (uint8_t)(16 + (op >> 4 & 15u));
        step.count = 1;
        break;
    case 0x8:
    case 0xA: /* with displacement from Y or Z */
        step.access = op & 0x0200u ? AVR_STORES : AVR_LOADS;
        step.count = !(op & 0x0200u);
        step.address = avr_leak_pair(avr, op & 8u ? 28 : 30) + ((op >> 8 & 0x20u) | (op >> 7 & 0x18u) | (op & 7u));
        break;
    case 0x9:
        if (op < 0x9400u) {
            avr_leak_memory(avr, op, next, &step);
        } else if (op >= 0x9C00u) { /* MUL */
            step.target = 0;
            step.count = 2;
        } else if (op == 0x95C8u || op == 0x95D8u) { /* LPM, ELPM to r0 */
            avr_leak_memory(avr, op == 0x95C8u ? 0x9004u : 0x9006u, 0, &step);
        } else if (op >= 0x9600u && op < 0x9800u) { /* ADIW, SBIW */
            step.target = (uint8_t)(24 + 2 * (op >> 4 & 3u));
            step.count = 2;
        } else if (op < 0x9600u) {
            step.count = (op & 15u) <= 7 || (op & 15u) == 10; /* of one operand */
        }
        break;
    case 0xB:
        step.count = op < 0xB800u; /* IN */
        break;
    case 0xF:
        step.count = op >= 0xF800u && op < 0xFA00u; /* BLD */
        break;
    default:
        break;
    }
    return step;
}

static void avr_leak_registers(const avr_t *avr, unsigned first, unsigned count, const uint8_t *before) {
    for (unsigned i = first; i < first + count; i++) {
        leak_result(i, avr->data[i]);
        leak_meet(LEAK_REGISTER, i, before[i], avr->data[i], avr_leak.sources[i]);
        avr_leak.sources[i] = (int32_t)leak.at;
    }
}

/* One instruction of the window. Whether the run continues. */
static bool avr_leak_step(avr_t *avr) {
    uint32_t pc = avr->pc;
    uint16_t op = opcode_at(avr, pc), next = opcode_at(avr, pc + 2);
    struct avr_leak_step step = avr_leak_decode(avr, op, next);
    uint8_t before[32], cell = 0;
    memcpy(before, avr->data, sizeof before);
    step.address &= step.access == AVR_LOADS_FLASH ? UINT32_MAX : 0xFFFFu;
    cell = step.access == AVR_STORES ? avr->data[step.address] : 0;
    leak_next(pc);
    leak_replace(LEAK_FLASH, &leak.flash, pc, op);
    if (code_has_two_words(op)) {
        leak_replace(LEAK_FLASH, &leak.flash, pc + 2, next);
    }
    avr->pc = step_one(avr);
    avr_leak_registers(avr, step.target, step.count, before);
    avr_leak_registers(avr, step.pointer, step.pointer ? 2 : 0, before);
    if (step.access == AVR_LOADS_FLASH) {
        leak_replace(LEAK_FLASH, &leak.flash, step.address, opcode_at(avr, step.address & ~1u));
    } else if (step.access != AVR_NO_ACCESS) {
        uint8_t value = step.access == AVR_STORES ? before[step.target] : avr->data[step.target];
        leak_replace(LEAK_ADDRESS, &leak.address, step.address, step.address);
        leak_replace(LEAK_DATA, &leak.data, step.address, value);
        if (step.access == AVR_STORES) {
            leak_result(step.address, value);
            leak_meet(LEAK_CELL, step.address, cell, value, LEAK_NOBODY);
        } else {
            leak_replace(LEAK_LATCH, &leak.latch, step.address, value);
        }
    }
    return leak_keep();
}

static uint32_t avr_leak_return(const avr_t *avr) {
    uint32_t sp = avr_leak_pair(avr, R_SPL), address = 0;
    for (unsigned i = 1; i <= avr->address_size; i++) {
        address = address << 8 | avr->data[(sp + i) & 0xFFFFu];
    }
    return address * 2;
}

/* Runs once from the kept state. Whether the chip is still well. */
static bool avr_leak_run(avr_t *avr) {
    bool goes_on = true;
    leak_begin();
    for (unsigned i = 0; i < 32; i++) {
        avr_leak.sources[i] = LEAK_NOBODY;
    }
    while (avr->pc != leak.window) {
        if (avr->state != cpu_Running || avr->cycle - avr_leak.cycle > LEAK_CYCLES_MOST) {
            leak.head.flags |= LEAK_ABSENT;
            return avr->state == cpu_Running;
        }
        avr->pc = step_one(avr);
    }
    avr_leak.return_pc = avr_leak_return(avr);
    avr_leak.return_sp = (uint16_t)(avr_leak_pair(avr, R_SPL) + avr->address_size);
    while (goes_on && avr->state == cpu_Running && avr->cycle - avr_leak.cycle <= LEAK_CYCLES_MOST) {
        goes_on = avr_leak_step(avr);
        if (avr->pc == avr_leak.return_pc && avr_leak_pair(avr, R_SPL) == avr_leak.return_sp) {
            return true;
        }
    }
    leak.head.flags |= LEAK_CUT;
    return avr->state == cpu_Running;
}

static void avr_leak_restore(avr_t *avr) {
    memcpy(avr->data, avr_leak.data, avr->ramend + 1u);
    memcpy(avr->sreg, avr_leak.sreg, sizeof avr_leak.sreg);
    avr->pc = avr_leak.pc;
    avr->cycle = avr_leak.cycle;
    avr->state = cpu_Running;
}

/* All runs, from where the chip is now. NULL, or what is wrong. */
static const char *avr_leak_all(avr_t *avr) {
    avr_leak.data = malloc(avr->ramend + 1u);
    if (avr_leak.data == NULL) {
        return "there is no memory to keep the chip's state";
    }
    memcpy(avr_leak.data, avr->data, avr->ramend + 1u);
    memcpy(avr_leak.sreg, avr->sreg, sizeof avr_leak.sreg);
    avr_leak.pc = avr->pc;
    avr_leak.cycle = avr->cycle;
    for (uint32_t run = 0; run < leak.runs; run++) {
        avr_leak_restore(avr);
        for (unsigned i = 0; i < leak.poke_count; i++) {
            uint32_t address = leak.pokes[i].address & 0xFFFFu, bytes = leak.pokes[i].bytes;
            if (address + (uint64_t)bytes > avr->ramend + 1u) {
                return "an input is outside the chip's RAM";
            }
            if (fread(avr->data + address, 1, bytes, leak.input) != bytes) {
                return "there are fewer inputs than runs";
            }
        }
        if (!avr_leak_run(avr)) {
            return "the firmware crashed or slept in the window";
        }
        if (!leak_write()) {
            return "the traces cannot be written";
        }
    }
    return fflush(leak.output) == 0 ? NULL : "the traces cannot be written";
}

#endif
