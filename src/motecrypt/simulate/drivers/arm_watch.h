/* SPDX-License-Identifier: GPL-2.0-only -- part of arm.c, which links Unicorn.
 * arm_watch.h: the slower looks at a running machine: the flash cache, the deepest stack pointer, the trace
 * of instructions and addresses, and faults.
 */
#ifndef MOTECRYPT_ARM_WATCH_H
#define MOTECRYPT_ARM_WATCH_H

#include <inttypes.h>

#include "arm_serving.h"
#include "bounds.h"

enum { UNDEFINED = 1, SUPERVISOR_CALL = 2, DATA_FAULT = 4, BREAKPOINT = 7, EXCEPTION_EXIT = 8, NO_COPROCESSOR = 17 }; /* among QEMU's numbers of exceptions */

/* ---- flash cache ---- */

static void on_fetch(uc_engine *uc, uint64_t address, uint32_t bytes, void *user) {
    struct machine *m = user;
    (void)uc;
    if (m->nor.selected) {
        finish(m, "fault", "code runs from the flash at 0x%" PRIx32 " while the flash takes a command",
               (uint32_t)address);
    }
    cache_access(&m->cache, (uint32_t)address);
    if (bytes == 4) {
        cache_access(&m->cache, (uint32_t)address + 2);
    }
    if (m->cache.misses != m->misses_seen && m->flash_waited != NULL) {
        m->flash_waited(m, (uint32_t)address);
    }
}

static void on_flash_read(uc_engine *uc, uc_mem_type type, uint64_t address, int bytes, int64_t value,
                          void *user) {
    struct machine *m = user;
    (void)uc;
    (void)type;
    (void)bytes;
    (void)value;
    if (cache_access(&m->cache, (uint32_t)address) && m->flash_waited != NULL) {
        set_deadline(m);
    }
}

/* ---- trace: the deepest stack pointer, and a digest of every instruction and every address ---- */

static void mix(struct machine *m, uint64_t value) {
    m->digest = (m->digest ^ value) * UINT64_C(0x9E3779B97F4A7C15);
    m->digest ^= m->digest >> 29;
}

static void watch_stack(struct machine *m, uint32_t pc) {
    uint32_t sp = register_value(m, UC_ARM_REG_SP);
    if (sp < m->deepest_sp) {
        m->deepest_sp = sp;
        if (sp < m->stack_limit) {
            stack_fault(m, sp);
            finish(m, "fault",
                   "the stack ran into the data: stack pointer 0x%" PRIx32 ", limit 0x%" PRIx32
                   ", at 0x%" PRIx32,
                   sp, m->stack_limit, pc);
        }
    }
}

static void trace_access(struct machine *m, uint32_t pc, uint32_t address,
                         const struct thumb_access *access) {
    for (unsigned i = 0; i < access->units && m->in_region; i++) {
        mix(m, address + i * access->bytes);
        if (m->dump != NULL) {
            fprintf(m->dump, "%" PRIx32 " %" PRIx32 "\n", pc, address + i * access->bytes);
        }
    }
}

/* Before every instruction. Addresses come from its operands: Unicorn's hooks on memory give the same, but
 * each costs it a search through the whole block for the program counter. */
static void on_instruction(uc_engine *uc, uint64_t address, uint32_t bytes, void *user) {
    struct machine *m = user;
    uint32_t pc = (uint32_t)address;
    uint16_t code = code_at(m, pc);
    struct thumb_instruction instruction = thumb_decode(code, bytes == 4 ? code_at(m, pc + 2) : 0);
    struct thumb_access access = thumb_access(code, &instruction);
    (void)uc;
    if (m->sp_may_move) {
        watch_stack(m, pc);
    }
    m->sp_may_move = instruction.writes_sp;
    if (m->in_region) {
        mix(m, (uint64_t)pc << 32);
    }
    if (access.kind != THUMB_NO_ACCESS) {
        trace_access(m, pc, access_address(m, &access, pc), &access);
    } else if (m->dump != NULL && m->in_region) {
        fprintf(m->dump, "%" PRIx32 " ffffffff\n", pc);
    }
}

/* ---- faults ---- */

static bool on_bad_access(uc_engine *uc, uc_mem_type type, uint64_t address, int bytes, int64_t value,
                          void *user) {
    struct machine *m = user;
    uint32_t sp = register_value(m, UC_ARM_REG_SP);
    const char *what = type == UC_MEM_WRITE_UNMAPPED   ? "wrote to"
                       : type == UC_MEM_READ_UNMAPPED  ? "read from"
                       : type == UC_MEM_FETCH_UNMAPPED ? "jumped to"
                       : type == UC_MEM_WRITE_PROT     ? "wrote to the flash at"
                       : type == UC_MEM_FETCH_PROT     ? "jumped to data at"
                                                       : "may not use";
    (void)uc;
    (void)bytes;
    (void)value;
    if (type == UC_MEM_FETCH_UNMAPPED && address >= 0xFFFFFFF0u && m->goes_on != NULL) {
        return false; /* the return from an exception: the engine stops there */
    }
    if (type == UC_MEM_WRITE_PROT && m->ignores != NULL && m->ignores(m, (uint32_t)address)) {
        return true;
    }
    if (sp < m->stack_limit || (address < m->stack_limit && m->stack_limit - address <= 4096)) {
        stack_fault(m, sp);
        finish(m, "fault",
               "the stack ran out of its memory: stack pointer 0x%" PRIx32 ", limit 0x%" PRIx32
               ", at 0x%" PRIx32,
               sp, m->stack_limit, register_value(m, UC_ARM_REG_PC));
    } else {
        finish(m, "fault",
               "the firmware %s 0x%" PRIx32 "%s, at 0x%" PRIx32 ", return address 0x%" PRIx32 "%s", what,
               (uint32_t)address,
               type == UC_MEM_WRITE_PROT || type == UC_MEM_FETCH_PROT ? "" : ", where nothing is",
               register_value(m, UC_ARM_REG_PC), register_value(m, UC_ARM_REG_LR),
               chip_absent(&m->chip, (uint32_t)address));
    }
    return false;
}

/* ARMv6-M faults on an unaligned access (DDI 0419, A3.2.1). Unicorn stops before it and reports neither the
 * address
 * nor the reason: both follow from the instruction. */
static void look_at_data_fault(struct machine *m) {
    uint32_t pc = register_value(m, UC_ARM_REG_PC), address;
    uint16_t code = code_at(m, pc);
    struct thumb_instruction instruction = thumb_decode(code, code_at(m, pc + 2));
    struct thumb_access access = thumb_access(code, &instruction);
    if (access.kind == THUMB_NO_ACCESS) {
        return;
    }
    address = access_address(m, &access, pc);
    if ((address & (access.bytes - 1u)) != 0) {
        finish(m, "fault", "unaligned access to 0x%" PRIx32 " at 0x%" PRIx32, address, pc);
    }
}

/* Exceptions of the core, by QEMU's numbers (target/arm/cpu.h), which Unicorn passes on. They are not
 * delivered:
 * no measured firmware takes one, so each ends the run with a reason. */
static void on_exception(uc_engine *uc, uint32_t number, void *user) {
    static const struct {
        uint32_t number;
        const char *what;
    } names[] = {{2, "supervisor call"},
                 {3, "jump to where nothing is"},
                 {DATA_FAULT, "fault on data"},
                 {7, "breakpoint"},
                 {8, "return from an exception"}};
    struct machine *m = user;
    const char *what = "exception";
    (void)uc;
    if (m->goes_on != NULL && number == SUPERVISOR_CALL) {
        m->svc(m, register_value(m, UC_ARM_REG_PC));
        return;
    }
    if (m->goes_on != NULL && number == NO_COPROCESSOR && m->coprocessor(m, register_value(m, UC_ARM_REG_PC))) {
        return;
    }
    if (m->goes_on != NULL && number == EXCEPTION_EXIT) {
        uc_emu_stop(m->uc);
        return;
    }
    if (m->goes_on != NULL && number == BREAKPOINT) {
        finish(m, "stop", "a breakpoint at 0x%" PRIx32 ", as the SDK sets after main and in a panic", register_value(m, UC_ARM_REG_PC));
        return;
    }
    if (number == DATA_FAULT) {
        look_at_data_fault(m);
    } else if (number == UNDEFINED || number == NO_COPROCESSOR) {
        end_undefined(m, register_value(m, UC_ARM_REG_PC));
    }
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        if (names[i].number == number) {
            what = names[i].what;
        }
    }
    finish(m, "fault", "%s (%" PRIu32 ") at 0x%" PRIx32 ", return address 0x%" PRIx32, what, number,
           register_value(m, UC_ARM_REG_PC), register_value(m, UC_ARM_REG_LR));
}

#endif
