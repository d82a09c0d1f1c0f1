/* SPDX-License-Identifier: MIT
 * arm_m33.h: cycles of instructions on a Cortex-M33 whose memories have no wait states. The core issues one instruction a
 * cycle, and a second one with it in a few cases. It knows these rules and contains no figures: those are the costs of the
 * device's descriptor (device.toml, [simulator.cycles]). It does not depend on the engine that executes the instructions.
 * Source: github.com/jnk0le/random, "pipeline cycle test", notes on the Cortex-M33, measured on an RP2350 (r1p0). ARM
 * publishes no table for this core.
 */
#ifndef MOTECRYPT_ARM_M33_H
#define MOTECRYPT_ARM_M33_H

#include "arm_pipeline.h"

/* Costs at the places of enum pipeline_cost; NULL: this core has none. Two more follow. */
enum { M33_late = PIPELINE_COST_COUNT, M33_sets_flags, M33_COST_COUNT };

static const char *const m33_cost_names[M33_COST_COUNT] = {
    [PIPELINE_alu] = "alu",
    [PIPELINE_multiply] = "multiply",
    [PIPELINE_multiply_long] = "multiply_long",
    [PIPELINE_divide_least] = "divide_least",
    [PIPELINE_divide_most] = "divide_most",
    [PIPELINE_load] = "load",
    [PIPELINE_store] = "store",
    [PIPELINE_multiple] = "multiple",
    [PIPELINE_per_register] = "per_register",
    [PIPELINE_branch] = "branch",
    [PIPELINE_load_pc] = "load_pc",
    [PIPELINE_table_branch] = "table_branch",
    [PIPELINE_refill_direct] = "refill_direct",
    [PIPELINE_refill_register] = "refill_register",
    [PIPELINE_refill_memory] = "refill_memory",
    [PIPELINE_refill_split] = "refill_split",
    [PIPELINE_if_then] = "if_then",
    [PIPELINE_skipped] = "skipped",
    [PIPELINE_special] = "special",
    [PIPELINE_barrier] = "barrier",
    [PIPELINE_wait] = "wait",
    [PIPELINE_unaligned] = "unaligned",
    [M33_late] = "late",             /* what an instruction waits for a result of the second stage just before it */
    [M33_sets_flags] = "sets_flags", /* what an operation of two stages takes more if it sets flags */
};

/* What an instruction reads, and when its result is there. */
struct m33_uses {
    uint16_t reads;  /* registers that it needs as it issues */
    bool is_late;    /* its result comes from the second stage */
    bool sets_flags; /* of a comparison or an operation of 16 bits, or with S */
    bool has_two_stages_and_flags;
};

static inline bool m33_narrow_sets_flags(uint16_t code) {
    return code < 0x4400u || (code & 0xFF00u) == 0x4500u;
}

/* Registers that a 16-bit instruction reads as it issues; the data of a store come later. */
static inline uint16_t m33_narrow_reads(uint16_t code) {
    uint16_t low = thumb2_bit(code & 7u), middle = thumb2_bit(code >> 3 & 7u), high = thumb2_bit(code >> 6 & 7u);
    switch (code >> 12) {
    case 0:
        return middle;
    case 1:
        return (code & 0x0C00u) == 0x0800u ? middle | high : middle;
    case 2:
        return code & 0x0800u ? thumb2_bit(code >> 8 & 7u) : 0;
    case 3:
        return thumb2_bit(code >> 8 & 7u);
    case 4:
        if (code < 0x4400u) {
            unsigned operation = code >> 6 & 15u;
            return operation == 9 || operation == 15 ? middle : middle | low; /* RSB, MVN */
        }
        if (code < 0x4800u) {
            uint16_t target = thumb2_bit((code & 7u) | (code >> 4 & 8u));
            return thumb2_bit(code >> 3 & 15u) | ((code & 0x0300u) < 0x0200u ? target : 0);
        }
        return 0;
    case 11:
        return (code & 0xFF00u) == 0xB200u || (code & 0xFF00u) == 0xBA00u ? middle
               : (code & 0xF500u) == 0xB100u                              ? low
                                                                          : 0;
    default:
        return 0; /* loads and stores: thumb2_instruction.address */
    }
}

/* Whether a number of data processing is a shifted one, not a byte and no pattern of bytes (DDI 0553, A2.5.1). */
static inline bool m33_is_shifted_number(uint16_t first, uint16_t second) {
    return (first & 0x0400u) != 0 || (second & 0x7000u) >= 0x4000u;
}

/* Data processing with a shifted register or a number: the operand before the last goes through the shifter. MOV and
 * MVN (a first operand of 15) are a shift alone. */
static inline struct m33_uses m33_processing(uint16_t first, uint16_t second) {
    struct m33_uses out = {.sets_flags = (first & 0x10u) != 0};
    uint16_t left = (first & 15u) == 15 ? 0 : thumb2_bit(first);
    if ((first & 0xFE00u) == 0xEA00u) {
        bool is_shifted = (second & 0x70F0u) != 0;
        out.reads = left | thumb2_bit(second);
        out.is_late = is_shifted && left != 0;
        return out;
    }
    out.reads = left;
    if ((first & 0x0200u) == 0) {
        out.is_late = left != 0 && m33_is_shifted_number(first, second);
        out.has_two_stages_and_flags = out.is_late && out.sets_flags;
    } else { /* ADDW, MOVW, SUBW, MOVT, SSAT, SBFX, BFI, USAT, UBFX */
        unsigned operation = first >> 4 & 31u;
        out.sets_flags = false;
        out.reads = operation == 4 ? 0 : left;
        out.reads |= operation == 12 || operation == 22 ? thumb2_bit(second >> 8) : 0; /* MOVT, BFI */
        out.is_late = operation == 16 || operation == 18 || operation == 24 || operation == 26; /* saturation */
    }
    return out;
}

/* Shifts by a register, extensions, parallel and saturating arithmetic, bit operations; multiplications. */
static inline struct m33_uses m33_registers(uint16_t first, uint16_t second) {
    struct m33_uses out = {.reads = thumb2_bit(second)};
    uint16_t left = (first & 15u) == 15 ? 0 : thumb2_bit(first);
    if ((first & 0xFF00u) == 0xFB00u) {
        out.reads |= left; /* what is added may come from the second stage of the instruction before */
        out.is_late = true;
    } else if ((first & 0x80u) == 0 && (second & 0x80u) != 0) { /* SXTB and its kin; with an addition: SXTAB */
        out.is_late = left != 0;
    } else if ((first & 0x80u) == 0) {
        out.reads |= left;
        out.sets_flags = (first & 0x10u) != 0;
    } else {
        unsigned operation = first >> 4 & 7u;
        bool is_bits = (second & 0x80u) != 0 && (operation == 1 || operation == 3); /* REV, RBIT, CLZ */
        out.reads |= left;
        out.is_late = !is_bits;
    }
    return out;
}

/* Registers that a load gives late: not a base that it changes, and of several the last one. */
static inline uint16_t m33_loaded(const struct thumb2_instruction *instruction) {
    uint16_t base = thumb2_bit(instruction->access.base), written = instruction->written;
    if (instruction->access.units == 1) {
        return (written & (written - 1)) != 0 ? written & (uint16_t)~base : written;
    }
    written &= (uint16_t)~base;
    return written != 0 ? (uint16_t)(1u << (31 - __builtin_clz(written))) : 0;
}

static inline struct m33_uses m33_uses_of(uint16_t first, uint16_t second,
                                          const struct thumb2_instruction *instruction) {
    struct m33_uses out = {0};
    if (instruction->access.kind != THUMB_NO_ACCESS) {
        out.reads = instruction->address;
        out.is_late = instruction->access.kind == THUMB_READS;
        return out;
    }
    if (instruction->common.bytes == 2) {
        out.reads = m33_narrow_reads(first);
        out.sets_flags = m33_narrow_sets_flags(first);
        out.is_late = out.has_two_stages_and_flags = instruction->common.class == THUMB_multiply;
        return out;
    }
    if ((first & 0xFE00u) == 0xEA00u || ((first & 0xF800u) == 0xF000u && (second & 0x8000u) == 0)) {
        return m33_processing(first, second);
    }
    return (first & 0xFE00u) == 0xFA00u ? m33_registers(first, second) : out;
}

static inline uint32_t m33_own_cycles(const struct thumb2_instruction *instruction, const struct m33_uses *uses,
                                      const uint32_t *cost) {
    const struct thumb_instruction *common = &instruction->common;
    uint32_t several = cost[PIPELINE_multiple] + common->registers * cost[PIPELINE_per_register];
    uint32_t flags = uses->has_two_stages_and_flags ? cost[M33_sets_flags] : 0;
    switch (common->class) {
    case THUMB_multiply:
    case THUMB2_multiply_accumulate:
        return cost[PIPELINE_multiply] + flags;
    case THUMB2_multiply_long:
    case THUMB2_multiply_long_accumulate:
        return cost[PIPELINE_multiply_long];
    case THUMB2_divide:
        return cost[PIPELINE_divide_least];
    case THUMB_load:
        return cost[PIPELINE_load];
    case THUMB_store:
    case THUMB2_store_indexed:
        return cost[PIPELINE_store];
    case THUMB_load_multiple:
    case THUMB_store_multiple:
    case THUMB_push:
    case THUMB_pop:
    case THUMB_pop_pc:
        return several;
    case THUMB2_load_pc:
        return common->registers ? several : cost[PIPELINE_load_pc];
    case THUMB2_table_branch:
        return cost[PIPELINE_table_branch];
    case THUMB_special:
        return cost[PIPELINE_special];
    case THUMB_barrier:
        return cost[PIPELINE_barrier];
    case THUMB_wait:
        return cost[PIPELINE_wait];
    case THUMB2_if_then:
        return cost[PIPELINE_if_then];
    default:
        return pipeline_is_branch(common) ? cost[PIPELINE_branch] : cost[PIPELINE_alu] + flags;
    }
}

/* Whether an instruction can issue in the cycle of the one before, which has 16 bits, too, and issued alone: IT, NOP,
 * and a branch whose target is in it. */
static inline bool m33_issues_second(const struct thumb_instruction *common) {
    return common->bytes == 2 && (common->class == THUMB2_if_then || common->class == THUMB2_nop ||
                                  common->class == THUMB_branch || common->class == THUMB_branch_if);
}

/* The next instruction, as pipeline_next gives it. `after`: AFTER_LOAD means that flags were set. */
static inline struct pipeline_step m33_next(uint16_t code, uint16_t next, struct pipeline *state, const uint32_t *cost) {
    struct pipeline_step step = {.instruction = thumb2_decode(code, next)};
    const struct thumb_instruction *common = &step.instruction.common;
    struct m33_uses uses = m33_uses_of(code, next, &step.instruction);
    bool is_second = state->after_narrow && m33_issues_second(common);
    if (state->left > 0) {
        step.in_it_block = true;
        state->left--;
    }
    step.is_branch = pipeline_is_branch(common);
    step.always_taken = step.is_branch && !step.in_it_block && common->class != THUMB_branch_if &&
                        common->class != THUMB2_compare_branch;
    step.cycles = is_second ? 0 : m33_own_cycles(&step.instruction, &uses, cost);
    step.cycles += !is_second && (uses.reads & state->loaded) != 0 ? cost[M33_late] : 0;
    step.taken_cycles = step.is_branch ? pipeline_refill(common->class, cost) : 0;
    step.split_cycles = step.is_branch ? cost[PIPELINE_refill_split] : 0;
    if (is_second && common->class == THUMB_branch_if && state->after == AFTER_LOAD) {
        step.taken_cycles += cost[PIPELINE_branch]; /* the flags are just being set */
    }
    if (step.in_it_block) {
        uint32_t skipped = (uint32_t)least(step.cycles, cost[PIPELINE_skipped]);
        *(step.is_branch ? &step.taken_cycles : &step.run_cycles) += step.cycles - skipped;
        step.cycles = skipped;
    }
    if (common->class == THUMB2_if_then) {
        state->left = pipeline_it_length(code);
    }
    if (!is_second) { /* else the results of the first one of the two are still as late */
        state->loaded = !uses.is_late                                          ? 0
                        : step.instruction.access.kind != THUMB_NO_ACCESS ? m33_loaded(&step.instruction)
                                                                          : step.instruction.written;
        state->after = uses.sets_flags ? AFTER_LOAD : AFTER_OTHER;
    }
    state->after_narrow = common->bytes == 2 && !step.is_branch && !is_second;
    return step;
}

#endif
