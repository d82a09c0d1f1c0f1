/* SPDX-License-Identifier: GPL-2.0-only -- part of arm.c, which links Unicorn.
 * arm_mainline.h: counts the cycles of a core with a pipeline model (arm_pipeline.h): what a block costs by where
 * it was entered from, and what only the data decide: whether instructions in IT blocks run, divisions, unaligned accesses.
 */
#ifndef MOTECRYPT_ARM_MAINLINE_H
#define MOTECRYPT_ARM_MAINLINE_H

#include "arm_watch.h"

enum { PLACES = 1 << 14 };

/* An instruction that is about to run, as its block was counted. */
struct place {
    uint32_t pc, run_cycles;
    uint16_t code, following;
    struct thumb_access access;
    uint8_t is_division, writes_sp;
    uint8_t is_long; /* a long multiplication: 1, with an accumulator: 2 */
    uint8_t is_single; /* it moves one register at most */
    uint8_t is_hidden; /* nobody can see whether it ran: in an IT block, without an access or cycles more */
};

static struct place places[PLACES];

static inline struct place *place_at(uint32_t pc) {
    return &places[(pc >> 1) & (PLACES - 1)];
}

/* Whether the operands of a long multiplication change its cycles on this core. */
static inline bool long_varies(const struct machine *m, uint8_t class) {
    return class == THUMB2_multiply_long ? m->cost[PIPELINE_multiply_long_most] > m->cost[PIPELINE_multiply_long]
           : class == THUMB2_multiply_long_accumulate
               ? m->cost[PIPELINE_multiply_long_accumulate_most] > m->cost[PIPELINE_multiply_long_accumulate]
               : false;
}

/* Notes every instruction of a block; `pipeline`: what ran before it. Returns the cycles of all. */
static uint32_t note_places(struct machine *m, const struct block *block, struct pipeline pipeline) {
    struct walk walk = {.next = block->address, .pipeline = pipeline};
    uint32_t cycles = 0;
    while (walk_on(m, block, &walk)) {
        const struct thumb_instruction *common = &walk.instruction;
        *place_at(walk.at) = (struct place){
            .pc = walk.at,
            .run_cycles = walk.step.run_cycles,
            .is_division = common->class == THUMB2_divide,
            .is_long = common->class == THUMB2_multiply_long              ? 1
                       : common->class == THUMB2_multiply_long_accumulate ? 2
                                                                          : 0,
            .writes_sp = common->writes_sp,
            .code = walk.code,
            .following = code_at(m, walk.at + 2),
            .access = walk.access,
            .is_single = common->registers == 0,
            .is_hidden = walk.step.in_it_block && !walk.step.is_branch && walk.step.run_cycles == 0 &&
                         common->class != THUMB2_divide && !long_varies(m, common->class) &&
                         walk.access.kind == THUMB_NO_ACCESS,
        };
        cycles += walk.cycles;
    }
    return cycles;
}

/* What the current block leaves behind for one that follows it without a branch. */
static struct pipeline pipeline_after(const struct machine *m, const struct block *block) {
    struct walk walk = {.next = block->address};
    while (walk_on(m, block, &walk)) {
    }
    return walk.pipeline;
}

static inline bool runs_on_into(const struct machine *m, uint32_t address) {
    return m->current->runs_on && m->current->next == address;
}

/* Whether the cycles of running on into `block` are still unknown. */
static inline bool enters_anew(const struct machine *m, const struct block *block) {
    return runs_on_into(m, block->address) && !block->joined_known;
}

/* Cycles that the current block, or the way from it to `block`, costs more than counted. */
static inline int64_t entering(const struct machine *m, const struct block *block) {
    const struct block *before = m->current;
    if (before->next != block->address || before->always_taken) {
        return before->extra + (block->splits ? before->split_extra : 0);
    }
    return before->runs_on ? block->joined : 0;
}

static __attribute__((noinline)) void measure_mainline(struct machine *m, struct block *block, uint32_t address,
                                                       uint32_t bytes) {
    struct block before = *m->current; /* which may give its place to this one */
    bool joins = runs_on_into(m, address);
    struct pipeline pipeline = {0};
    if (block->address != address || block->bytes != bytes) {
        keep_other_current(m, block);
        measure_block(m, block, address, bytes);
        block->splits = (address & 2u) != 0 && code_at(m, address) > THUMB_NARROW_LAST;
    }
    if (joins) {
        pipeline = pipeline_after(m, &before);
    }
    block->joined_known = joins;
    block->joined = (int16_t)(note_places(m, block, pipeline) - block->cycles);
    if (m->current == block) {
        m->before = before;
        m->current = &m->before;
    }
}

static inline void count_mainline(struct machine *m, struct block *block) {
    m->cycles += (uint64_t)entering(m, block);
    count_block(m, block, 0);
}

/* The one hook of the fast mode. */
static inline __attribute__((always_inline)) void on_block_mainline(uc_engine *uc, uint64_t address64,
                                                                    uint32_t bytes, void *user) {
    struct machine *m = user;
    uint32_t address = (uint32_t)address64;
    struct block *block = block_at(m, address);
    (void)uc;
    if (block->address != address || block->bytes != bytes || enters_anew(m, block)) {
        measure_mainline(m, block, address, bytes);
    }
    count_mainline(m, block);
    if (m->cycles >= m->deadline) {
        meet_deadline(m, address);
    }
    expect_event(m);
}

/* ---- what the data decide ---- */

static uint32_t division_cycles(const struct machine *m, const struct place *place) {
    uint32_t dividend = register_value(m, register_ids[place->code & 15u]);
    uint32_t divisor = register_value(m, register_ids[place->following & 15u]);
    if ((place->code & 0x20u) == 0) { /* SDIV */
        dividend = (int32_t)dividend < 0 ? -dividend : dividend;
        divisor = (int32_t)divisor < 0 ? -divisor : divisor;
    }
    return pipeline_divide(dividend, divisor, m->cost);
}

static uint32_t long_cycles(const struct machine *m, const struct place *place) {
    unsigned least_at = place->is_long == 1 ? PIPELINE_multiply_long : PIPELINE_multiply_long_accumulate;
    unsigned most_at = place->is_long == 1 ? PIPELINE_multiply_long_most : PIPELINE_multiply_long_accumulate_most;
    if (m->cost[most_at] <= m->cost[least_at]) {
        return 0;
    }
    return pipeline_long_multiply(register_value(m, register_ids[place->code & 15u]),
                                  register_value(m, register_ids[place->following & 15u]),
                                  (place->code & 0x20u) == 0, m->cost[least_at], m->cost[most_at]);
}

/* A byte-aligned word is read as a byte, a halfword and a byte; other unaligned ones as two parts (DDI 0439, 3.3.2).
 * Several registers, or exclusive ones, fault (DDI 0403, A3.2.1). */
static uint32_t unaligned_cycles(struct machine *m, const struct place *place, uint32_t address) {
    uint32_t misplaced = address & (place->access.bytes - 1u);
    bool is_exclusive = (place->code & 0xFF60u) == 0xE840u || (place->code & 0xFFE0u) == 0xE8C0u;
    if (misplaced == 0) {
        return 0;
    }
    if (!place->is_single || is_exclusive) {
        finish(m, "fault", "unaligned access to 0x%" PRIx32 " at 0x%" PRIx32, address, place->pc);
    }
    return m->cost[PIPELINE_unaligned] * ((misplaced & 1u) != 0 && place->access.bytes == 4 ? 2u : 1u);
}

static const struct place *place_of(struct machine *m, uint32_t pc) {
    if (place_at(pc)->pc != pc) {
        note_places(m, m->current, (struct pipeline){0});
    }
    return place_at(pc);
}

static void spend(struct machine *m, uint32_t pc, int64_t cycles) {
    m->cycles += (uint64_t)cycles;
    if (m->spent != NULL && cycles != 0) {
        m->spent(m, pc, cycles);
    }
}

/* Before an instruction runs: Unicorn calls for none whose condition fails. */
static void spend_by_data(struct machine *m, const struct place *place) {
    spend(m, place->pc, place->run_cycles);
    if (place->is_division) {
        spend(m, place->pc, (int64_t)division_cycles(m, place) - m->cost[PIPELINE_divide_least]);
    } else if (place->is_long) {
        spend(m, place->pc, long_cycles(m, place));
    }
}

/* Of the fast mode: in the ranges that add_sites has found. */
static void on_site(uc_engine *uc, uint64_t address, uint32_t bytes, void *user) {
    struct machine *m = user;
    (void)uc;
    (void)bytes;
    spend_by_data(m, place_of(m, (uint32_t)address));
}

/* The trace (arm_watch.h), and what the data decide, unaligned accesses among it. */
static void on_instruction_mainline(uc_engine *uc, uint64_t address, uint32_t bytes, void *user) {
    struct machine *m = user;
    const struct place *place = place_of(m, (uint32_t)address);
    uint32_t touched;
    (void)uc;
    (void)bytes;
    if (m->sp_may_move) {
        watch_stack(m, place->pc);
    }
    m->sp_may_move = place->writes_sp;
    if (m->in_region && !place->is_hidden) {
        mix(m, (uint64_t)place->pc << 32);
    }
    spend_by_data(m, place);
    if (place->access.kind != THUMB_NO_ACCESS) {
        touched = access_address(m, &place->access, place->pc);
        split_read = (struct split_read){true, touched};
        spend(m, place->pc, unaligned_cycles(m, place, touched));
        trace_access(m, place->pc, touched, &place->access);
    } else if (m->dump != NULL && m->in_region && !place->is_hidden) {
        fprintf(m->dump, "%" PRIx32 " ffffffff\n", place->pc);
    }
}

static inline uint16_t halfword(const uint8_t *data) {
    return (uint16_t)(data[0] | data[1] << 8);
}

/* Whether the fast mode must look at the instructions of an IT block; `length`: gets the bytes of them. */
static bool is_site(const struct machine *m, const uint8_t *data, uint32_t bytes, uint32_t *length) {
    struct pipeline pipeline = {0};
    bool matters = false;
    next_step(m, halfword(data), 0, &pipeline);
    *length = 0;
    while (pipeline.left > 0 && 2 + *length + 4 <= bytes) {
        const uint8_t *at = data + 2 + *length;
        struct pipeline_step step = next_step(m, halfword(at), halfword(at + 2), &pipeline);
        matters |= step.run_cycles != 0;
        *length += step.instruction.common.bytes;
    }
    return matters;
}

/* Where the fast mode looks at single instructions: divisions, long multiplications and IT blocks, and what reads like
 * them in data. No instruction is in two ranges. */
static void add_sites(struct machine *m, void (*add)(struct machine *, uint32_t first, uint32_t last)) {
    for (unsigned i = 0; i < m->code_count; i++) {
        const struct code_range *range = &m->code[i];
        uint32_t covered = 0; /* bytes from the range's beginning that need no further look */
        for (uint32_t at = 0, length; at + 4 <= range->bytes; at += 2) {
            uint16_t code = halfword(range->data + at), following = halfword(range->data + at + 2);
            bool is_division = (code & 0xFFD0u) == 0xFB90u && (following & 0xF0F0u) == 0xF0F0u;
            bool is_long = (code & 0xFF90u) == 0xFB80u && long_varies(m, thumb2_decode(code, following).common.class);
            uint32_t first = (uint32_t)most(at, covered), end = at;
            if (is_division || is_long) {
                end = at + 1;
            } else if ((code & 0xFF00u) == 0xBF00u && (code & 0xFu) != 0 &&
                       is_site(m, range->data + at, range->bytes - at, &length)) {
                first = (uint32_t)most(at + 2, covered);
                end = at + 2 + length;
            }
            if (end > first) {
                add(m, range->begin + first, range->begin + end - 1);
                covered = end;
            }
        }
    }
}

#endif
