/* SPDX-License-Identifier: GPL-2.0-only -- part of arm.c, which links Unicorn.
 * arm_stacks.h: in a free run, what a move of core 0's stack pointer means: room for a frame and its end, or another stack,
 * as of a task. A value that was computed from the stack pointer is room; one from memory, or of the process's stack
 * pointer, is another stack. Encodings: ARM DDI 0419, A5.
 */
#ifndef MOTECRYPT_ARM_STACKS_H
#define MOTECRYPT_ARM_STACKS_H

#include <stdbool.h>

#include "arm_machine.h"
#include "arm_uses.h"

enum { CONTROL_SPSEL = 2, SP_BIT = 1 << THUMB_SP };

static struct {
    uint32_t top;     /* of the main stack */
    bool has_several;
    bool has_moved;   /* the block `mover` has given the stack pointer a value; the next block looks at it */
    struct block mover;
    uint32_t before;  /* the stack pointer at the mover's beginning */
} stacks;

/* What a block does to the stack pointer: its value at the last move that is not computed, as far as its pushes and pops
 * say it: bytes below its beginning before that move, and above the new value at the block's end. */
struct stack_move {
    bool is_foreign;
    int32_t below, above;
};

/* Registers that hold a value computed from the stack pointer after a 16-bit instruction. */
static uint32_t computed_after(uint16_t code, const struct thumb_instruction *instruction, uint32_t computed) {
    uint32_t target = (code & 7u) | (code >> 4 & 8u), source = code >> 3 & 15u;
    struct thumb_uses uses;
    if ((code & 0xFC00u) == 0x4400u && (code & 0x0300u) != 0x0100u && instruction->class != THUMB_branch_exchange) { /* ADD, MOV of any */
        bool is_sum = (code & 0x0300u) == 0;
        bool is_computed = (computed >> source & 1u) != 0 || (is_sum && (computed >> target & 1u) != 0);
        return is_computed ? computed | 1u << target : computed & ~(1u << target);
    }
    if ((code & 0xF800u) == 0xA800u) { /* ADD from the stack pointer */
        return computed | 1u << (code >> 8 & 7u);
    }
    if (instruction->class == THUMB_load || instruction->class == THUMB_load_multiple || instruction->class == THUMB_pop) {
        uint32_t loaded = instruction->class == THUMB_load && (code >> 12 == 5 || code >> 12 == 6 || code >> 12 == 7 || code >> 12 == 8)
                              ? 1u << (code & 7u)
                          : instruction->class == THUMB_load ? 1u << (code >> 8 & 7u)
                                                             : code & 0xFFu;
        return computed & ~loaded;
    }
    if (thumb_uses(code, instruction, &uses) && (uses.writes & 0xFFu) != 0) {
        return (uses.reads & computed & 0xFFFFu) != 0 ? computed | (uses.writes & 0xFFu) : computed & ~(uses.writes & 0xFFu);
    }
    return computed;
}

/* The same of a 32-bit instruction, and whether it gives the stack pointer a value from elsewhere. */
static uint32_t computed_after_wide(uint16_t first, uint16_t second, uint32_t computed, bool *is_foreign) {
    uint32_t base = first & 15u, target;
    if ((first & 0xFFE0u) == 0xF380u) { /* MSR of MSP, PSP, CONTROL: the one that is in use may be another */
        *is_foreign |= (second & 0xFFu) == 8 || (second & 0xFFu) == 9 || (second & 0xFFu) == 20;
        return computed;
    }
    if ((first & 0xFE00u) == 0xE800u && !(first & 0x0040u)) { /* LDM, STM: by their base they move as PUSH and POP */
        bool loads = (first & 0x0010u) != 0;
        *is_foreign |= loads && (second & SP_BIT) != 0;
        return loads ? computed & ~(uint32_t)(second & ~SP_BIT) : computed;
    }
    if ((first & 0xFE00u) == 0xF800u) { /* single loads and stores */
        target = second >> 12;
        if (first & 0x0010u) {
            *is_foreign |= target == THUMB_SP;
            return target == THUMB_SP ? computed : computed & ~(1u << target);
        }
        return computed;
    }
    if ((first & 0xF800u) == 0xF000u && (second & 0x8000u)) { /* branches */
        return computed;
    }
    target = second >> 8 & 15u;
    if ((computed >> base & 1u) || (((first & 0xFE00u) == 0xEA00u) && (computed >> (second & 15u) & 1u))) {
        return computed | 1u << target;
    }
    *is_foreign |= target == THUMB_SP;
    return target == THUMB_SP ? computed : computed & ~(1u << target);
}

static struct stack_move stack_move_of(const struct machine *m, const struct block *block) {
    struct stack_move move = {false, 0, 0};
    struct walk walk = {.next = block->address};
    uint32_t computed = SP_BIT | 1u << 7; /* r7: of a frame that an earlier block made */
    while (walk_on(m, block, &walk)) {
        bool is_new = false;
        uint32_t after = computed;
        if (walk.instruction.bytes == 4) {
            after = computed_after_wide(walk.code, code_at(m, walk.at + 2), computed, &is_new);
        } else {
            after = computed_after(walk.code, &walk.instruction, computed);
            is_new = !(after & SP_BIT);
        }
        computed = after | SP_BIT;
        if (is_new) {
            move.is_foreign = true;
            move.above = 0;
        } else if (move.is_foreign) {
            move.above -= stack_bytes_of(walk.code, &walk.instruction);
        } else {
            move.below += stack_bytes_of(walk.code, &walk.instruction);
        }
    }
    return move;
}

/* Core 0's stack pointer is `sp` at the beginning of the block after the mover. */
static __attribute__((noinline)) void look_at_stacks(struct machine *m, uint32_t sp) {
    bool is_process = (register_value(m, UC_ARM_REG_CONTROL) & CONTROL_SPSEL) != 0;
    stacks.has_moved = false;
    if (is_process) {
        stacks.has_several = true;
    } else if ((sp < m->deepest_sp || sp > stacks.top) && stack_move_of(m, &stacks.mover).is_foreign) {
        if (m->deepest_sp == stacks.top) { /* start-up code gives it its first value */
            m->deepest_sp = stacks.top = sp;
        } else {
            stacks.has_several = true;
        }
    }
}

#endif
