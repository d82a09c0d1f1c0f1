/* SPDX-License-Identifier: MIT
 * arm_pipeline.h: cycles of instructions on a Cortex-M3 or M4 whose memories have no wait states. It knows how an
 * instruction's cycles depend on the ones before it, and contains no figures: those are the costs of the device's
 * descriptor (device.toml, [simulator.cycles]). It does not depend on the engine that executes the instructions.
 * Sources: ARM DDI 0439 (Cortex-M4 Technical Reference Manual), table 3-1 and section 3.3.2, "Load/store timings";
 * ARM DDI 0337 (Cortex-M3 TRM), the same tables.
 */
#ifndef MOTECRYPT_ARM_PIPELINE_H
#define MOTECRYPT_ARM_PIPELINE_H

#include "arm_thumb2.h"

#define PIPELINE_COSTS(X)                                                                                    \
    X(alu)                 /* move, add, logic, shift, extend, saturate, parallel addition, NOP */           \
    X(multiply)            /* MUL, and DSP multiplications without an accumulator */                         \
    X(multiply_accumulate) /* MLA, MLS, and DSP multiplications with one */                                  \
    X(multiply_long)       /* SMULL, UMULL: of operands of 16 bits */                                        \
    X(multiply_long_most)  /* of operands of 32 bits */                                                      \
    X(multiply_long_accumulate)      /* SMLAL, UMLAL, UMAAL: of operands of 16 bits */                       \
    X(multiply_long_accumulate_most) /* of operands of 32 bits */                                            \
    X(divide_least)        /* SDIV, UDIV: the quotient is 0 */                                               \
    X(divide_most)         /* the quotient has 32 bits */                                                    \
    X(load)                /* a load that follows no other one */                                            \
    X(load_after_load)     /* a load whose address phase overlaps with the load before it */                 \
    X(store)               /* a store to a base and a number */                                              \
    X(store_indexed)       /* a store to a base and a register */                                            \
    X(store_hides)         /* what a store that follows a load takes less */                                 \
    X(store_blocks)        /* what a load that follows a store to a base and a number takes more */          \
    X(address_wait)        /* what an address costs that the instruction before has computed */              \
    X(multiple)            /* LDM, STM, LDRD, STRD, PUSH, POP, without their registers */                    \
    X(per_register)        /* each register of those */                                                      \
    X(branch)              /* a branch, without filling the pipeline again; one not taken */                 \
    X(load_pc)             /* LDR PC, without filling the pipeline again */                                  \
    X(table_branch)        /* TBB, TBH, without filling the pipeline again */                                \
    X(refill_direct)       /* filling the pipeline: the target is in the instruction */                      \
    X(refill_register)     /* the target is in a register */                                                 \
    X(refill_memory)       /* the target is loaded */                                                        \
    X(refill_split)        /* more, where a 32-bit instruction at the target is in two words */              \
    X(if_then)             /* IT that is not folded */                                                       \
    X(skipped)             /* an instruction whose condition fails */                                        \
    X(special)             /* MRS, MSR, CPS */                                                               \
    X(barrier)             /* ISB */                                                                         \
    X(wait)                /* WFE, WFI */                                                                    \
    X(unaligned)           /* each access more that an unaligned word or halfword needs */

enum pipeline_cost {
#define X(name) PIPELINE_##name,
    PIPELINE_COSTS(X)
#undef X
        PIPELINE_COST_COUNT
};

static const char *const pipeline_cost_names[PIPELINE_COST_COUNT] = {
#define X(name) #name,
    PIPELINE_COSTS(X)
#undef X
};

enum pipeline_after { AFTER_OTHER, AFTER_LOAD, AFTER_STORE };

/* What an instruction leaves behind for the next one. */
struct pipeline {
    uint8_t after;             /* enum pipeline_after */
    uint8_t after_narrow;      /* a 16-bit instruction that IT can be folded onto */
    uint8_t left;              /* how many of the next instructions are in an IT block */
    uint16_t computed, loaded; /* registers that it wrote: by computing, or as a load */
};

/* An instruction in its place. */
struct pipeline_step {
    struct thumb2_instruction instruction;
    uint32_t cycles;       /* as if its condition fails, and a branch is not taken */
    uint32_t taken_cycles; /* of a branch: more when it is taken, without those for a split target */
    uint32_t split_cycles; /* of a branch: more where its target is split */
    uint32_t run_cycles;   /* of another instruction in an IT block: more when it runs */
    uint8_t in_it_block, is_branch, always_taken;
};

static inline bool pipeline_is_branch(const struct thumb_instruction *common) {
    switch (common->class) {
    case THUMB_branch:
    case THUMB_branch_if:
    case THUMB_branch_link:
    case THUMB_branch_exchange:
    case THUMB_write_pc:
    case THUMB_pop_pc:
    case THUMB2_load_pc:
    case THUMB2_table_branch:
    case THUMB2_compare_branch:
        return true;
    default:
        return false;
    }
}

/* Filling the pipeline again: 1 to 3 cycles (table 3-1, P), by when the core knows the target. */
static inline uint32_t pipeline_refill(uint8_t class, const uint32_t *cost) {
    switch (class) {
    case THUMB_branch:
    case THUMB_branch_if:
    case THUMB_branch_link:
    case THUMB2_compare_branch:
        return cost[PIPELINE_refill_direct];
    case THUMB_branch_exchange:
    case THUMB_write_pc:
        return cost[PIPELINE_refill_register];
    default:
        return cost[PIPELINE_refill_memory];
    }
}

static inline uint32_t pipeline_single_load(const struct thumb2_instruction *instruction,
                                            const struct pipeline *before, const uint32_t *cost) {
    if (before->after == AFTER_LOAD && (instruction->address & before->loaded) == 0) {
        return cost[PIPELINE_load_after_load];
    }
    return cost[PIPELINE_load] + (before->after == AFTER_STORE ? cost[PIPELINE_store_blocks] : 0);
}

static inline uint32_t pipeline_own_cycles(const struct thumb2_instruction *instruction,
                                           const struct pipeline *before, const uint32_t *cost) {
    const struct thumb_instruction *common = &instruction->common;
    uint32_t hidden = before->after == AFTER_LOAD && (instruction->address & before->loaded) == 0
                          ? cost[PIPELINE_store_hides]
                          : 0;
    uint32_t multiple = cost[PIPELINE_multiple] + common->registers * cost[PIPELINE_per_register];
    switch (common->class) {
    case THUMB_multiply:
        return cost[PIPELINE_multiply];
    case THUMB2_multiply_accumulate:
        return cost[PIPELINE_multiply_accumulate];
    case THUMB2_multiply_long:
        return cost[PIPELINE_multiply_long];
    case THUMB2_multiply_long_accumulate:
        return cost[PIPELINE_multiply_long_accumulate];
    case THUMB2_divide:
        return cost[PIPELINE_divide_least];
    case THUMB_load:
        return pipeline_single_load(instruction, before, cost);
    case THUMB_store:
        return cost[PIPELINE_store] - hidden;
    case THUMB2_store_indexed:
        return cost[PIPELINE_store_indexed] - hidden;
    case THUMB_load_multiple:
    case THUMB_pop:
    case THUMB_pop_pc:
        return multiple + (before->after == AFTER_STORE ? cost[PIPELINE_store_blocks] : 0);
    case THUMB_store_multiple:
    case THUMB_push:
        return multiple;
    case THUMB2_load_pc:
        return common->registers ? multiple : cost[PIPELINE_load_pc];
    case THUMB2_table_branch:
        return cost[PIPELINE_table_branch];
    case THUMB_branch:
    case THUMB_branch_if:
    case THUMB_branch_link:
    case THUMB_branch_exchange:
    case THUMB_write_pc:
    case THUMB2_compare_branch:
        return cost[PIPELINE_branch];
    case THUMB_special:
        return cost[PIPELINE_special];
    case THUMB_barrier:
        return cost[PIPELINE_barrier];
    case THUMB_wait:
        return cost[PIPELINE_wait];
    case THUMB2_if_then:
        return before->after_narrow ? 0 : cost[PIPELINE_if_then];
    default:
        return cost[PIPELINE_alu];
    }
}

/* How many instructions an IT block has: the lowest 1 of its mask ends it. */
static inline uint8_t pipeline_it_length(uint16_t code) {
    return (uint8_t)(4 - __builtin_ctz(code & 15u));
}

/* The next instruction, at an address that is a multiple of 2; `state` is what those before it left behind. */
static inline struct pipeline_step pipeline_next(uint16_t code, uint16_t next, struct pipeline *state,
                                                 const uint32_t *cost) {
    struct pipeline_step step = {.instruction = thumb2_decode(code, next)};
    const struct thumb_instruction *common = &step.instruction.common;
    bool single_load = common->class == THUMB_load;
    bool plain_store = common->class == THUMB_store;
    bool is_memory = step.instruction.access.kind != THUMB_NO_ACCESS;
    if (state->left > 0) { /* whether it runs is not known here: it overlaps with no other */
        step.in_it_block = true;
        single_load = plain_store = false;
        state->after = AFTER_OTHER;
        state->left--;
    }
    step.cycles = pipeline_own_cycles(&step.instruction, state, cost);
    step.cycles += is_memory && common->class != THUMB2_table_branch && (step.instruction.address & state->computed) ? cost[PIPELINE_address_wait] : 0;
    step.is_branch = pipeline_is_branch(common);
    step.always_taken = step.is_branch && !step.in_it_block && common->class != THUMB_branch_if &&
                        common->class != THUMB2_compare_branch;
    if (step.is_branch) {
        step.taken_cycles = pipeline_refill(common->class, cost);
        /* TBB takes 2 + P, P at most 3: its own refill is that already */
        step.split_cycles = common->class == THUMB2_table_branch ? 0 : cost[PIPELINE_refill_split];
    }
    if (step.in_it_block) {
        *(step.is_branch ? &step.taken_cycles : &step.run_cycles) += step.cycles - cost[PIPELINE_skipped];
        step.cycles = cost[PIPELINE_skipped];
    }
    if (common->class == THUMB2_if_then) {
        state->left = pipeline_it_length(code);
    }
    state->after = single_load ? AFTER_LOAD : plain_store ? AFTER_STORE : AFTER_OTHER;
    state->loaded = single_load ? step.instruction.written : 0;
    state->computed = is_memory ? 0 : step.instruction.written;
    state->after_narrow = common->bytes == 2 && !step.is_branch && common->class != THUMB2_if_then;
    return step;
}

/* A division by what its operands are. ARM names 2 to 12 cycles and "early termination" by leading zeros and ones,
 * but no formula: four bits of the quotient in a cycle are taken here. */
static inline uint32_t pipeline_divide(uint32_t dividend, uint32_t divisor, const uint32_t *cost) {
    unsigned bits = divisor == 0 || divisor > dividend
                        ? 0
                        : (unsigned)(__builtin_clz(divisor) - __builtin_clz(dividend)) + 1u;
    uint32_t range = cost[PIPELINE_divide_most] - cost[PIPELINE_divide_least];
    return cost[PIPELINE_divide_least] + (bits == 0 ? 0 : (uint32_t)least(range, 2u + (bits + 3u) / 4u));
}

/* What a long multiplication takes more than the least. ARM names 3 to 5 cycles, 4 to 7 with an accumulator, and early
 * termination "by the size of the source values", but no formula: equal steps for each operand of more than 16 bits
 * are taken here. */
static inline uint32_t pipeline_long_multiply(uint32_t a, uint32_t b, bool is_signed, uint32_t least_cycles,
                                              uint32_t most_cycles) {
    uint32_t wide = 0, operands[] = {a, b};
    for (unsigned i = 0; i < COUNT_OF(operands); i++) {
        uint32_t value = operands[i];
        wide += (is_signed && (int32_t)value < 0 ? ~value : value) >> 16 != 0;
    }
    return ((most_cycles - least_cycles) * wide + 1u) / 2u;
}

#endif
