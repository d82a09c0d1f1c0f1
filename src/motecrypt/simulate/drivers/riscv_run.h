/* SPDX-License-Identifier: MIT
 * riscv_run.h: executes instructions and counts their cycles (riscv_timing.h). It contains no chip registers
 * and no command line options. Source: The RISC-V Instruction Set Manual, volume I, 20191213.
 */
#ifndef MOTECRYPT_RISCV_RUN_H
#define MOTECRYPT_RISCV_RUN_H

#include "riscv_access.h"

/* ---- rare operations ---- */

static __attribute__((noinline)) uint32_t divide(struct machine *m, const struct riscv_step *step, uint32_t a,
                                                 uint32_t b) {
    bool is_signed = step->operation == RISCV_DIV || step->operation == RISCV_REM;
    bool is_remainder = step->operation == RISCV_REM || step->operation == RISCV_REMU;
    uint64_t issued = m->cycles - step->cycles, begins = most(issued, m->unit_free);
    m->cycles += begins - issued;
    m->unit_free = begins + riscv_divide_result(a, b, is_signed, m->cost) + 1;
    m->ready[step->rd] = m->unit_free;
    if (b == 0) {
        return is_remainder ? a : UINT32_MAX;
    }
    if (is_signed && a == 0x80000000u && b == UINT32_MAX) {
        return is_remainder ? 0 : a;
    }
    if (is_signed) {
        return (uint32_t)(is_remainder ? (int32_t)a % (int32_t)b : (int32_t)a / (int32_t)b);
    }
    return is_remainder ? a % b : a / b;
}

static inline uint32_t multiply(struct machine *m, const struct riscv_step *step, uint32_t a, uint32_t b) {
    uint64_t issued = m->cycles - step->cycles, begins = most(issued, m->unit_free);
    int64_t first = step->operation == RISCV_MULHU ? (int64_t)a : (int32_t)a;
    int64_t second = step->operation == RISCV_MULH ? (int32_t)b : (int64_t)b;
    m->cycles += begins - issued;
    m->unit_free = begins + step->result + 1u;
    m->ready[step->rd] = m->unit_free;
    return step->operation == RISCV_MUL ? a * b : (uint32_t)((uint64_t)first * (uint64_t)second >> 32);
}

static __attribute__((noinline)) uint32_t access_csr(struct machine *m, const struct riscv_step *step,
                                                     uint32_t a) {
    uint32_t number = (uint32_t)step->immediate & 0xFFFu, given = (uint32_t)step->immediate >> 12;
    uint32_t old = read_csr(m, number), operand = step->operation >= RISCV_CSRRWI ? given : a;
    switch (step->operation) {
    case RISCV_CSRRW:
    case RISCV_CSRRWI:
        m->csr[number] = operand;
        break;
    case RISCV_CSRRS:
    case RISCV_CSRRSI:
        m->csr[number] = old | operand;
        break;
    default:
        m->csr[number] = old & ~operand;
    }
    if (m->on_csr != NULL) {
        bool is_swap = step->operation == RISCV_CSRRW || step->operation == RISCV_CSRRWI;
        m->on_csr(m, number, is_swap || operand != 0, m->csr[number]);
    }
    return old;
}

static __attribute__((noinline)) uint32_t access_atomic(struct machine *m, const struct riscv_step *step,
                                                        uint32_t address, uint32_t b) {
    uint32_t old = step->operation == RISCV_SC_W ? 0 : load(m, address, 4), value = b;
    if ((address & 3u) != 0) {
        unaligned_access(m, address);
        return 0;
    }
    switch (step->operation) {
    case RISCV_LR_W:
        m->reserved = address;
        return old;
    case RISCV_SC_W:
        if (m->reserved != address) {
            m->reserved = 1;
            return 1;
        }
        m->reserved = 1;
        break;
    case RISCV_AMOADD:
        value = old + b;
        break;
    case RISCV_AMOXOR:
        value = old ^ b;
        break;
    case RISCV_AMOAND:
        value = old & b;
        break;
    case RISCV_AMOOR:
        value = old | b;
        break;
    case RISCV_AMOMIN:
        value = (int32_t)old < (int32_t)b ? old : b;
        break;
    case RISCV_AMOMAX:
        value = (int32_t)old > (int32_t)b ? old : b;
        break;
    case RISCV_AMOMINU:
        value = old < b ? old : b;
        break;
    case RISCV_AMOMAXU:
        value = old > b ? old : b;
        break;
    default:
        break;
    }
    store(m, address, value, 4);
    return old;
}

/* ---- what a trace sees ---- */

static inline void mix(struct machine *m, uint64_t value) {
    m->digest = (m->digest ^ value) * UINT64_C(0x9E3779B97F4A7C15);
    m->digest ^= m->digest >> 29;
}

static __attribute__((noinline)) void dump_step(struct machine *m, uint32_t pc, bool accesses,
                                                uint32_t address) {
    if (accesses) {
        fprintf(m->dump, "%" PRIx32 " %" PRIx32 "\n", pc, address);
    } else {
        fprintf(m->dump, "%" PRIx32 " ffffffff\n", pc);
    }
}

/* Before an instruction runs. */
static inline void trace_step(struct machine *m, const struct riscv_step *step) {
    bool accesses =
        riscv_is_load(step->operation) || riscv_is_store(step->operation) || riscv_is_atomic(step->operation);
    uint32_t address = m->x[step->rs1] + (uint32_t)step->immediate;
    mix(m, (uint64_t)m->pc << 32);
    if (accesses) {
        mix(m, address);
    }
    if (m->dump != NULL) {
        dump_step(m, m->pc, accesses, address);
    }
}

/* At a call: before the first one, start-up code gives the stack pointer its value, in several steps. */
static inline void watch_call(struct machine *m) {
    if (!m->has_called) {
        m->has_called = true;
        m->stack_top = m->deepest_sp = m->x[RISCV_SP];
    }
}

/* Whether an instruction that writes the stack pointer computes it from itself: room for a frame, or its end. From memory or
 * another register it is another stack, as of a task. */
static inline bool sp_is_computed(const struct riscv_step *step) {
    return (step->rs1 == RISCV_SP || step->rs2 == RISCV_SP) && step->operation != RISCV_LW;
}

/* After an instruction has written the stack pointer. */
static inline void watch_stack(struct machine *m, const struct riscv_step *step) {
    uint32_t sp = m->x[RISCV_SP];
    if (!m->has_called || m->has_several_stacks || (sp >= m->deepest_sp && sp <= m->stack_top)) {
        return;
    }
    if (!sp_is_computed(step)) {
        m->has_several_stacks = true;
        return;
    }
    m->deepest_sp = (uint32_t)least(m->deepest_sp, sp);
    if (sp < m->stack_limit) {
        stack_fault(m, sp);
        finish(m, "fault",
               "the stack ran into the data: stack pointer 0x%" PRIx32 ", limit 0x%" PRIx32 ", at 0x%" PRIx32,
               sp, m->stack_limit, m->pc);
    }
}

/* ---- running ---- */

static __attribute__((noinline)) void meet_deadline(struct machine *m) {
    if (m->at_deadline != NULL) {
        m->at_deadline(m);
    } else {
        fault_is(m, "silent");
        finish(m, "fault", "no answer within %" PRIu64 " cycles: the firmware is at 0x%" PRIx32,
               m->max_cycles, m->pc);
    }
}

static __attribute__((noinline)) void trap(struct machine *m, const struct riscv_step *step) {
    const char *what = step->operation == RISCV_ECALL    ? "environment call (ecall)"
                       : step->operation == RISCV_EBREAK ? "breakpoint (ebreak)"
                       : step->operation == RISCV_WFI    ? "the firmware sleeps, and nothing can wake it"
                                                      : "return from a trap (mret), of which there are none";
    finish(m, "fault", "%s at 0x%" PRIx32 ", return address 0x%" PRIx32, what, m->pc, m->x[RISCV_RA]);
}

static inline bool branch_is_taken(uint8_t operation, uint32_t a, uint32_t b) {
    switch (operation) {
    case RISCV_BEQ:
        return a == b;
    case RISCV_BNE:
        return a != b;
    case RISCV_BLT:
        return (int32_t)a < (int32_t)b;
    case RISCV_BGE:
        return (int32_t)a >= (int32_t)b;
    case RISCV_BLTU:
        return a < b;
    default:
        return a >= b;
    }
}

/* What changing the flow costs beyond the instruction's own cycles; the instruction is counted. */
static inline void charge_flow(struct machine *m, struct riscv_step *step, uint32_t target, bool taken) {
    bool is_branch = step->kind == RISCV_PLAIN;
    if (m->predictor.btb_entries != 0) {
        struct riscv_turn turn = {m->pc, target, &step->region};
        bool wrong = is_branch ? riscv_predict_branch(&m->predictor, &turn, taken)
                               : riscv_predict_jump(&m->predictor, &turn, m->pc + step->bytes,
                                                    step->kind == RISCV_CALLS, step->kind == RISCV_RETURNS);
        m->cycles += wrong ? m->cost[RISCV_COST_mispredicted] : 0;
    } else if (is_branch && taken) {
        m->cycles += m->cost[RISCV_COST_branch_taken] - m->cost[RISCV_COST_branch];
    }
    if (taken && m->cost[RISCV_COST_fetch_word] != 0) {
        riscv_fetch_restart(&m->fetch, target / 4, m->cycles, m->cost);
    }
}

/* Where the code at m->pc is; ends the run where none can be. */
static __attribute__((noinline)) struct riscv_memory *code_memory(struct machine *m) {
    struct riscv_memory *memory = memory_at(m, m->pc, 2);
    if ((m->pc & 1u) != 0 || memory == NULL) {
        finish(m, "fault",
               "the firmware jumped to 0x%" PRIx32 ", where no code can be, return address 0x%" PRIx32 "%s",
               m->pc, m->x[RISCV_RA], riscv_chip_absent(&m->chip, m->pc));
        return NULL;
    }
    return memory;
}

/* The time at which an instruction issues: its operands are there, and its own result does not overtake
 * another. */
static inline uint64_t issue_time(const struct machine *m, const struct riscv_step *step) {
    uint64_t at = most(m->cycles, m->ready[step->rs1]);
    at = most(at, m->ready[step->rs2]);
    return most(at, m->ready[step->rd]);
}

/* The code's own way to the core: the cache, or words that come one after the other. */
static inline uint64_t fetched(struct machine *m, const struct riscv_memory *memory,
                               const struct riscv_step *step, uint64_t at) {
    uint32_t last = m->pc + step->bytes - 1u;
    if (m->cache_on && memory->is_flash) {
        unsigned misses = cache_access(&m->cache, m->pc) + cache_access(&m->cache, last);
        at += (uint64_t)misses * m->miss_cycles;
    }
    return m->cost[RISCV_COST_fetch_word] != 0 && memory->is_flash
               ? riscv_fetch_until(&m->fetch, last / 4, at, m->cost)
               : at;
}

/* Runs until the machine has ended. `looks`: traces, stacks or profiles are wanted; `fetches`: code may come
 * late; `awaits`: results may. */
static inline __attribute__((always_inline)) void run_loop(struct machine *m, const bool looks,
                                                           const bool fetches, const bool awaits) {
    struct riscv_memory *memory = NULL;
    while (m->ending == NULL) {
        struct riscv_step *step;
        uint32_t a, b, result = 0, next, offset;
        uint64_t issued, before = m->cycles;
        if (memory == NULL || m->pc - memory->base > memory->bytes - 2) {
            memory = code_memory(m);
            if (memory == NULL) {
                return;
            }
        }
        offset = (m->pc - memory->base) / 2;
        step = &memory->steps[offset];
        if (step->operation == RISCV_UNKNOWN && !decode_step(m, memory, m->pc)) {
            return;
        }
        if (looks && m->before_step != NULL && !m->before_step(m, step)) {
            continue;
        }
        if (looks && m->in_region) {
            trace_step(m, step);
        }
        issued = awaits ? issue_time(m, step) : m->cycles;
        if (fetches) {
            issued = fetched(m, memory, step, issued);
        }
        m->cycles = issued + step->cycles;
        m->instructions++;
        a = m->x[step->rs1];
        b = m->x[step->rs2];
        next = m->pc + step->bytes;
        if (awaits) {
            m->ready[step->rd] = m->cycles + step->result;
        }
        switch (step->operation) {
        case RISCV_LUI:
            result = (uint32_t)step->immediate;
            break;
        case RISCV_AUIPC:
            result = m->pc + (uint32_t)step->immediate;
            break;
        case RISCV_JAL:
        case RISCV_JALR: {
            uint32_t from = m->pc;
            result = next;
            next = step->operation == RISCV_JAL ? m->pc + (uint32_t)step->immediate
                                                : (a + (uint32_t)step->immediate) & ~1u;
            charge_flow(m, step, next, true);
            m->ready[step->rd] = 0;
            m->x[step->rd] = result;
            m->pc = next;
            if (looks && step->kind == RISCV_CALLS) {
                watch_call(m);
            }
            if (looks && m->on_step != NULL) {
                m->on_step(m, from, m->cycles - before);
            }
            if (looks && m->on_flow != NULL) {
                m->on_flow(m, from, step, next);
            }
            if (next - memory->base > memory->bytes - 2 || (next & 1u)) {
                memory = NULL;
            }
            if (m->cycles >= m->deadline) {
                meet_deadline(m);
            }
            continue;
        }
        case RISCV_BEQ:
        case RISCV_BNE:
        case RISCV_BLT:
        case RISCV_BGE:
        case RISCV_BLTU:
        case RISCV_BGEU: {
            bool taken = branch_is_taken(step->operation, a, b);
            uint32_t target = m->pc + (uint32_t)step->immediate;
            charge_flow(m, step, target, taken);
            if (looks && m->on_step != NULL) {
                m->on_step(m, m->pc, m->cycles - before);
            }
            if (taken) {
                uint32_t from = m->pc;
                m->pc = target;
                if (looks && m->on_flow != NULL) {
                    m->on_flow(m, from, step, target);
                }
                if (m->cycles >= m->deadline) {
                    meet_deadline(m);
                }
            } else {
                m->pc = next;
            }
            continue;
        }
        case RISCV_LB:
            result = (uint32_t)(int8_t)load(m, a + (uint32_t)step->immediate, 1);
            break;
        case RISCV_LH:
            result = (uint32_t)(int16_t)load(m, a + (uint32_t)step->immediate, 2);
            break;
        case RISCV_LW:
            result = load(m, a + (uint32_t)step->immediate, 4);
            break;
        case RISCV_LBU:
            result = load(m, a + (uint32_t)step->immediate, 1) & 0xFFu;
            break;
        case RISCV_LHU:
            result = load(m, a + (uint32_t)step->immediate, 2) & 0xFFFFu;
            break;
        case RISCV_SB:
            store(m, a + (uint32_t)step->immediate, b, 1);
            break;
        case RISCV_SH:
            store(m, a + (uint32_t)step->immediate, b, 2);
            break;
        case RISCV_SW:
            store(m, a + (uint32_t)step->immediate, b, 4);
            break;
        case RISCV_ADDI:
            result = a + (uint32_t)step->immediate;
            break;
        case RISCV_SLTI:
            result = (int32_t)a < step->immediate;
            break;
        case RISCV_SLTIU:
            result = a < (uint32_t)step->immediate;
            break;
        case RISCV_XORI:
            result = a ^ (uint32_t)step->immediate;
            break;
        case RISCV_ORI:
            result = a | (uint32_t)step->immediate;
            break;
        case RISCV_ANDI:
            result = a & (uint32_t)step->immediate;
            break;
        case RISCV_SLLI:
            result = a << step->immediate;
            break;
        case RISCV_SRLI:
            result = a >> step->immediate;
            break;
        case RISCV_SRAI:
            result = (uint32_t)((int32_t)a >> step->immediate);
            break;
        case RISCV_ADD:
            result = a + b;
            break;
        case RISCV_SUB:
            result = a - b;
            break;
        case RISCV_SLL:
            result = a << (b & 31u);
            break;
        case RISCV_SLT:
            result = (int32_t)a < (int32_t)b;
            break;
        case RISCV_SLTU:
            result = a < b;
            break;
        case RISCV_XOR:
            result = a ^ b;
            break;
        case RISCV_SRL:
            result = a >> (b & 31u);
            break;
        case RISCV_SRA:
            result = (uint32_t)((int32_t)a >> (b & 31u));
            break;
        case RISCV_OR:
            result = a | b;
            break;
        case RISCV_AND:
            result = a & b;
            break;
        case RISCV_FENCE:
        case RISCV_FENCE_I:
            break;
        case RISCV_MUL:
        case RISCV_MULH:
        case RISCV_MULHSU:
        case RISCV_MULHU:
            result = multiply(m, step, a, b);
            break;
        case RISCV_DIV:
        case RISCV_DIVU:
        case RISCV_REM:
        case RISCV_REMU:
            result = divide(m, step, a, b);
            break;
        case RISCV_CSRRW:
        case RISCV_CSRRS:
        case RISCV_CSRRC:
        case RISCV_CSRRWI:
        case RISCV_CSRRSI:
        case RISCV_CSRRCI:
            result = access_csr(m, step, a);
            break;
        case RISCV_ECALL:
        case RISCV_EBREAK:
        case RISCV_MRET:
        case RISCV_WFI:
            trap(m, step);
            break;
        default:
            result = access_atomic(m, step, a, b);
        }
        m->x[step->rd] = result;
        if (looks) {
            if (step->rd == RISCV_SP) {
                watch_stack(m, step);
            }
            if (m->on_step != NULL) {
                m->on_step(m, m->pc, m->cycles - before);
            }
        }
        m->pc = next;
    }
}

static void run_plain(struct machine *m) {
    run_loop(m, false, false, true);
}

static void run_fetching(struct machine *m) {
    run_loop(m, false, true, true);
}

static void run_fetching_alone(struct machine *m) {
    run_loop(m, false, true, false);
}

static void run_looking(struct machine *m) {
    run_loop(m, true, true, true);
}

#endif
