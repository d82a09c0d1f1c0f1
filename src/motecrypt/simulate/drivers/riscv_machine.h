/* SPDX-License-Identifier: MIT
 * riscv_machine.h: the machine that riscv.c runs: its core's registers, memories, decoded code and the timed
 * region. It contains no chip registers, no command line options, and does not execute instructions.
 */
#ifndef MOTECRYPT_RISCV_MACHINE_H
#define MOTECRYPT_RISCV_MACHINE_H

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "arm_cache.h"
#include "arm_pipe.h"
#include "riscv_chip.h"
#include "riscv_timing.h"

enum { RISCV_MEMORIES = 4, RISCV_CSRS = 4096 };

/* An instruction, ready to be executed: as decoded, with its costs. Its operation is RISCV_UNKNOWN until it
 * runs. */
struct riscv_step {
    uint8_t operation, rd, rs1, rs2;
    int32_t immediate;
    uint8_t bytes;
    uint8_t cycles, result; /* until the next one may issue; until its result can be used */
    uint8_t kind;           /* enum riscv_flow: what a jump is to a caller */
    uint32_t region;        /* for the predictor */
};

enum riscv_flow { RISCV_PLAIN, RISCV_CALLS, RISCV_RETURNS, RISCV_JUMPS };

struct riscv_memory {
    uint32_t base, bytes;
    bool is_flash; /* may not be written; its reads go through the cache */
    uint8_t *data;
    struct riscv_step *steps; /* of every halfword */
    bool has_code;            /* some are decoded: a store must forget what it overwrites */
    struct riscv_memory *twin; /* the same bytes at another address, or NULL */
};

struct riscv_core {
    const char *name;
    unsigned has; /* bits of riscv_decode.h */
    bool allows_unaligned;
};

struct machine {
    uint32_t x[RISCV_REGISTERS];
    uint64_t ready[RISCV_REGISTERS]; /* when each can be used */
    uint64_t unit_free;              /* when the multiplier and divider can begin */
    uint64_t cycles, instructions;
    uint64_t stalled; /* cycles of misses, which are in `cycles` */
    uint64_t deadline;
    uint32_t pc;
    const struct riscv_core *core;
    uint32_t cost[RISCV_COST_COUNT];
    struct riscv_predictor predictor;
    struct riscv_fetch fetch;
    struct riscv_memory memories[RISCV_MEMORIES];
    unsigned memory_count;
    uint32_t csr[RISCV_CSRS];
    uint32_t reserved; /* the address that LR has reserved; 1: none */
    struct cache cache;
    bool cache_on, cache_cold, trace;
    uint32_t miss_cycles;
    struct riscv_chip chip;
    struct pipe pipe;
    FILE *dump;
    uint64_t max_cycles;
    uint32_t stack_limit, mark;
    uint32_t last_read; /* the register that the last access read; 1: it was another access */
    bool polling;
    void (*at_deadline)(struct machine *m); /* NULL: a fault */
    bool has_called;                        /* start-up code has set the stack pointer and called something */
    uint32_t stack_top;                     /* the stack pointer then */
    bool has_several_stacks;                /* the stack pointer has got a value that is not computed from it */
    /* of a free run */
    void (*on_register)(struct machine *m, uint32_t address, bool is_write); /* or NULL */
    void (*on_csr)(struct machine *m, uint32_t number, bool is_write, uint32_t value); /* or NULL */
    void (*on_flow)(struct machine *m, uint32_t from, const struct riscv_step *step,
                    uint32_t to);                                     /* or NULL */
    void (*on_step)(struct machine *m, uint32_t pc, uint64_t cycles); /* or NULL */
    bool (*before_step)(struct machine *m, const struct riscv_step *step); /* whether it is executed; or NULL */
    /* the timed region */
    bool in_region;
    uint32_t label, begin_sp, deepest_sp;
    uint64_t begin_cycles, begin_instructions, begin_misses, digest;
    /* how it ended; NULL while it runs */
    const char *ending, *fault_kind;
    uint32_t fault_sp; /* the stack pointer at a "stack" fault */
    char *detail;
};

/* Ends the run; the first reason counts. */
static void finish(struct machine *m, const char *kind, const char *format, ...)
    __attribute__((format(printf, 3, 4), noinline));

static void finish(struct machine *m, const char *kind, const char *format, ...) {
    va_list arguments;
    int unused;
    if (m->ending != NULL) {
        return;
    }
    m->ending = kind;
    va_start(arguments, format);
    unused = vasprintf(&m->detail, format, arguments);
    va_end(arguments);
    (void)unused;
}

/* The kind of fault that the next `finish` reports, for readers that act on it. */
static void fault_is(struct machine *m, const char *kind) {
    if (m->ending == NULL) {
        m->fault_kind = kind;
    }
}

/* The stack left its memory. An access may show it before the stack pointer, `sp`, is below the limit. */
static void stack_fault(struct machine *m, uint32_t sp) {
    if (m->ending == NULL) {
        m->fault_sp = sp;
    }
    fault_is(m, "stack");
}

static inline struct riscv_memory *memory_at(struct machine *m, uint32_t address, uint32_t bytes) {
    for (unsigned i = 0; i < m->memory_count; i++) {
        struct riscv_memory *memory = &m->memories[i];
        if (address - memory->base < memory->bytes && memory->bytes - (address - memory->base) >= bytes) {
            return memory;
        }
    }
    return NULL;
}

static inline uint32_t bytes_at(const uint8_t *data, uint32_t bytes) {
    uint32_t value = data[0];
    if (bytes > 1) {
        value |= (uint32_t)data[1] << 8;
    }
    if (bytes > 2) {
        value |= (uint32_t)data[2] << 16 | (uint32_t)data[3] << 24;
    }
    return value;
}

/* ---- decoding ---- */

static inline void set_costs_of(struct riscv_step *step, const uint32_t *cost) {
    uint32_t cycles = cost[RISCV_COST_alu], result = 0;
    switch (step->operation) {
    case RISCV_LW:
        cycles = cost[RISCV_COST_load];
        result = cost[RISCV_COST_load_word_result];
        break;
    case RISCV_LB:
    case RISCV_LH:
    case RISCV_LBU:
    case RISCV_LHU:
        cycles = cost[RISCV_COST_load];
        result = cost[RISCV_COST_load_narrow_result];
        break;
    case RISCV_SB:
    case RISCV_SH:
    case RISCV_SW:
        cycles = cost[RISCV_COST_store];
        break;
    case RISCV_MUL:
    case RISCV_MULH:
    case RISCV_MULHSU:
    case RISCV_MULHU:
        cycles = cost[RISCV_COST_multiply];
        result = cost[RISCV_COST_multiply_result];
        break;
    case RISCV_DIV:
    case RISCV_DIVU:
    case RISCV_REM:
    case RISCV_REMU:
        cycles = cost[RISCV_COST_divide];
        break;
    case RISCV_CSRRW:
    case RISCV_CSRRS:
    case RISCV_CSRRC:
    case RISCV_CSRRWI:
    case RISCV_CSRRSI:
    case RISCV_CSRRCI:
        cycles = cost[RISCV_COST_csr];
        result = cost[RISCV_COST_csr_result];
        break;
    case RISCV_FENCE:
    case RISCV_FENCE_I:
        cycles = cost[RISCV_COST_fence];
        break;
    case RISCV_JAL:
        cycles = cost[RISCV_COST_jump];
        break;
    case RISCV_JALR:
        cycles = cost[RISCV_COST_jump_register];
        break;
    default:
        if (riscv_is_branch(step->operation)) {
            cycles = cost[RISCV_COST_branch];
        } else if (riscv_is_atomic(step->operation)) {
            cycles = cost[RISCV_COST_atomic];
            result = cost[RISCV_COST_atomic_result];
        }
    }
    step->cycles = (uint8_t)cycles;
    step->result = step->rd == RISCV_SINK ? 0 : (uint8_t)result;
}

static inline uint8_t flow_of(const struct riscv_instruction *i) {
    bool links = i->rd == RISCV_RA || i->rd == RISCV_T0;
    if (i->operation != RISCV_JAL && i->operation != RISCV_JALR) {
        return RISCV_PLAIN;
    }
    return links                                                                      ? RISCV_CALLS
           : i->operation == RISCV_JALR && (i->rs1 == RISCV_RA || i->rs1 == RISCV_T0) ? RISCV_RETURNS
                                                                                      : RISCV_JUMPS;
}

/* Decodes the instruction at `pc`, which is in `memory`. Returns false, and ends the run, if the core lacks
 * it. */
static __attribute__((noinline)) bool decode_step(struct machine *m, struct riscv_memory *memory,
                                                  uint32_t pc) {
    uint32_t offset = pc - memory->base;
    uint16_t code = (uint16_t)bytes_at(memory->data + offset, 2);
    bool has_next = memory->bytes - offset >= 4;
    uint16_t next = has_next ? (uint16_t)bytes_at(memory->data + offset + 2, 2) : 0;
    struct riscv_instruction i = riscv_decode(code, next, m->core->has);
    struct riscv_step *step = &memory->steps[offset / 2];
    if (!riscv_has(&i, m->core->has) || (i.bytes == 4 && !has_next)) {
        const char *name = riscv_name(i.operation);
        bool wide = i.bytes == 4;
        bool by_register = i.operation != RISCV_UNKNOWN && (riscv_extension(i.operation) & m->core->has) != 0;
        finish(m, "fault", "%s (%0*" PRIx32 ") at 0x%" PRIx32 "%s%s, return address 0x%" PRIx32,
               i.operation == RISCV_UNKNOWN ? "illegal instruction" : name, wide ? 8 : 4,
               wide ? code | (uint32_t)next << 16 : (uint32_t)code, pc,
               i.operation == RISCV_UNKNOWN ? ""
               : by_register                ? " names a register above x15, which is not in the core "
                                            : " is not in the core ",
               i.operation == RISCV_UNKNOWN ? "" : m->core->name, m->x[RISCV_RA]);
        return false;
    }
    *step = (struct riscv_step){.operation = i.operation,
                                .rd = i.rd,
                                .rs1 = i.rs1,
                                .rs2 = i.rs2,
                                .immediate = i.immediate,
                                .bytes = i.bytes,
                                .kind = flow_of(&i)};
    set_costs_of(step, m->cost);
    memory->has_code = true;
    if (memory->twin != NULL) {
        memory->twin->has_code = true;
    }
    return true;
}

/* A store has changed code: what was decoded of it, and of an instruction that begins one halfword before. */
static inline void forget_code(struct riscv_memory *memory, uint32_t offset, uint32_t bytes) {
    uint32_t first = offset / 2 > 0 ? offset / 2 - 1 : 0;
    for (uint32_t at = first; at <= (offset + bytes - 1) / 2; at++) {
        memory->steps[at].operation = RISCV_UNKNOWN;
        if (memory->twin != NULL) {
            memory->twin->steps[at].operation = RISCV_UNKNOWN;
        }
    }
}

/* ---- the timed region ---- */

static void begin_region(struct machine *m) {
    if (m->cache_cold) {
        cache_flush(&m->cache);
    }
    riscv_predictor_begin(&m->predictor, true);
    m->in_region = true;
    m->begin_cycles = m->cycles;
    m->begin_instructions = m->instructions;
    m->begin_misses = m->cache.misses;
    m->begin_sp = m->deepest_sp = m->x[RISCV_SP];
    m->digest = UINT64_C(0xCBF29CE484222325);
}

static void end_region(struct machine *m) {
    uint64_t misses = m->cache.misses - m->begin_misses, cycles = m->cycles - m->begin_cycles;
    if (!m->in_region) {
        return;
    }
    m->in_region = false;
    fprintf(m->pipe.events, "{\"event\":\"region\",\"cycles\":%" PRIu64 ",\"instructions\":%" PRIu64, cycles,
            m->instructions - m->begin_instructions);
    if (m->cache_on) {
        fprintf(m->pipe.events, ",\"core_cycles\":%" PRIu64 ",\"cache_misses\":%" PRIu64,
                cycles - misses * m->miss_cycles, misses);
    }
    if (m->label != 0) {
        fprintf(m->pipe.events, ",\"label\":%" PRIu32, m->label);
    }
    if (m->trace) {
        fprintf(m->pipe.events, ",\"stack\":%" PRIu32 ",\"trace\":\"%016" PRIx64 "\"",
                m->begin_sp - m->deepest_sp, m->digest);
    }
    fputs("}\n", m->pipe.events);
    if (m->dump != NULL) {
        fputs("end\n", m->dump);
        fflush(m->dump);
    }
}

/* A mark's bit 0: begin or end; bits 7 to 1 label the region. */
static void on_mark(struct machine *m, uint32_t value) {
    if (value & 1u) {
        m->label = (value >> 1) & 0x7Fu;
        begin_region(m);
    } else {
        end_region(m);
    }
}

/* ---- CSRs ---- */

enum {
    CSR_MSTATUS = 0x300,
    CSR_MISA = 0x301,
    CSR_MPCCR = 0x7E2, /* ESP32-C3's counter of cycles (Technical Reference Manual, 1.4) */
    CSR_MCYCLE = 0xB00,
    CSR_MINSTRET = 0xB02,
    CSR_MCYCLEH = 0xB80,
    CSR_MINSTRETH = 0xB82,
    CSR_CYCLE = 0xC00,
    CSR_INSTRET = 0xC02,
    CSR_CYCLEH = 0xC80,
    CSR_INSTRETH = 0xC82
};

/* Counters count; every other CSR keeps what is written. */
static inline uint32_t read_csr(const struct machine *m, uint32_t number) {
    switch (number) {
    case CSR_MCYCLE:
    case CSR_CYCLE:
    case CSR_MPCCR:
        return (uint32_t)m->cycles;
    case CSR_MCYCLEH:
    case CSR_CYCLEH:
        return (uint32_t)(m->cycles >> 32);
    case CSR_MINSTRET:
    case CSR_INSTRET:
        return (uint32_t)m->instructions;
    case CSR_MINSTRETH:
    case CSR_INSTRETH:
        return (uint32_t)(m->instructions >> 32);
    case CSR_MISA:
        return 0x40000000u | (m->core->has & RISCV_E ? 1u << 4 : 1u << 8) |
               (m->core->has & RISCV_M ? 1u << 12 : 0) | (m->core->has & RISCV_A ? 1u : 0) |
               (m->core->has & RISCV_C ? 1u << 2 : 0);
    default:
        return m->csr[number];
    }
}

#endif
