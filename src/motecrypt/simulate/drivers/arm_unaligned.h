/* SPDX-License-Identifier: GPL-2.0-only -- part of arm.c, which links Unicorn.
 * arm_unaligned.h: finds unaligned accesses in a free run of a core that allows them. The run does not count what
 * they take more: the engine does them without a call. So blocks are looked at when they run for the first time,
 * and the one that runs when a slice of time ends. The first such access is reported. It does not use any chip.
 */
#ifndef MOTECRYPT_ARM_UNALIGNED_H
#define MOTECRYPT_ARM_UNALIGNED_H

#include "arm_mainline.h"

/* Whether the block that begins now accesses memory at an unaligned address, and where. Addresses that the block itself
 * computes are unknown yet, and an instruction in an IT block may not run. */
static bool finds_unaligned(const struct machine *m, uint32_t *pc, uint32_t *address) {
    struct walk walk = {.next = m->current->address};
    uint32_t written = 0;
    while (walk_on(m, m->current, &walk)) {
        const struct thumb2_instruction *instruction = &walk.step.instruction;
        if (walk.access.kind != THUMB_NO_ACCESS && walk.access.units == 1 && !walk.step.in_it_block &&
            (instruction->address & written) == 0) {
            *pc = walk.at;
            *address = access_address(m, &walk.access, walk.at);
            if ((*address & (walk.access.bytes - 1u)) != 0) {
                return true;
            }
        }
        written |= instruction->written;
    }
    return false;
}

/* Says it once. */
static __attribute__((noinline)) void look_for_unaligned(struct machine *m) {
    static bool told;
    uint32_t pc = 0, address = 0;
    if (!told && m->has_pipeline && finds_unaligned(m, &pc, &address)) {
        told = true;
        fprintf(m->pipe.events,
                "{\"event\":\"note\",\"detail\":\"unaligned access to 0x%" PRIx32 " at 0x%" PRIx32
                ": what such accesses take more is not counted here; measure and audit count it\",\"cycle\":%" PRIu64 "}\n",
                address, pc, m->cycles);
    }
}

#endif
