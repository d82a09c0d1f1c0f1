/* SPDX-License-Identifier: GPL-2.0-only -- part of arm.c, which links Unicorn.
 * arm_wait.h: rounds of loops that only wait for a register of the chip are not stepped one by one.
 *
 * Such a loop is one block that branches to its own beginning, reads one register of the chip, writes no memory,
 * and computes from nothing that it changes itself: what it writes, it writes before it reads it. Then two rounds
 * that read the same value do the same, and a round that was followed by another is followed by another as long
 * as the value stays. The rounds up to there are counted in one step.
 */
#ifndef MOTECRYPT_ARM_WAIT_H
#define MOTECRYPT_ARM_WAIT_H

#include "arm_free.h"
#include "arm_uses.h"

static struct {
    const struct block *block; /* of the last round that waited */
    uint64_t run;              /* instructions counted with it */
    uint32_t value;            /* that it read */
} waiting;

/* Whether a round does the same again when it reads the same. */
static bool only_waits(const struct machine *m, const struct block *block) {
    uint32_t written = 0, read_first = 0;
    unsigned loads = 0;
    struct thumb_instruction instruction = {0};
    uint16_t code = 0;
    uint32_t at = block->address, target;
    while (at < block->next) {
        struct thumb_uses uses;
        code = code_at(m, at);
        instruction = instruction_at(m, at);
        if (instruction.bytes != 2 || !thumb_uses(code, &instruction, &uses)) {
            return false;
        }
        loads += instruction.class == THUMB_load && code >> 12 != 4; /* literals are constants */
        read_first |= uses.reads & ~written;
        written |= uses.writes;
        at += instruction.bytes;
    }
    if (loads != 1 || (read_first & written) != 0) {
        return false;
    }
    at -= instruction.bytes;
    target = instruction.class == THUMB_branch_if ? at + 4 + (uint32_t)((int32_t)(int8_t)code * 2)
             : instruction.class == THUMB_branch  ? at + 4 + (((code & 0x7FFu) ^ 0x400u) - 0x400u) * 2
                                                  : 0;
    return target == block->address;
}

/* The first cycle after `now` at which the register may read otherwise, if nobody writes; `now`: unknown. */
static uint64_t wait_changes_at(struct machine *m, uint32_t address, uint64_t now) {
    uint32_t plain = m->chip.rp2040.is_rp2350 ? rp2350_as_rp2040(address & ~(3u << 12)) : address & ~(3u << 12);
    const struct ticks *ticks;
    switch (plain) {
    case RP2040_UART0: /* each look takes a byte, or a word of the FIFO; the divider becomes ready */
    case 0xD0000000u + SIO_FIFO_READ:
    case 0xD0000000u + SIO_DIVIDER_STATUS:
    case RP2040_WATCHDOG + WATCHDOG_CTRL:
        return now;
    case RP2040_UART0 + 0x18u: /* FR, and RIS and MIS, which follow from it: free_has_input, free_sender_flags */
    case RP2040_UART0 + 0x3Cu:
    case RP2040_UART0 + 0x40u:
        return free_changes_at(m);
    case RP2040_TIMER + 0x0Cu:
    case RP2040_TIMER + 0x24u:
    case RP2040_TIMER + 0x28u:
        ticks = rp2040_ticks(&m->chip.rp2040, TICKS_TIMER);
        return ticks_cycle_of(ticks, ticks_count(ticks, now) + 1);
    default:
        return UINT64_MAX;
    }
}

/* A register is being read, for which the bus takes `bus` cycles more than the instruction, not counted yet:
 * rounds that read the same are counted up to where something changes, or to where the run looks at its line. */
static void wait_on(struct machine *m, uint32_t address, uint32_t value, int64_t bus) {
    struct block *block = m->current;
    bool again = waiting.block == block && waiting.run + block->instructions == m->instructions &&
                 waiting.value == value;
    uint64_t now, change, rounds, round = block->cycles + block->extra + (uint64_t)bus;
    waiting.block = block;
    waiting.value = value;
    waiting.run = m->instructions;
    if (!again || free_run.bare || free_run.stepped || !may_skip(m) || m->cache_on || m->ending != NULL) {
        return;
    }
    if (block->waits == WAITS_UNKNOWN) {
        block->waits = only_waits(m, block) ? WAITS : WAITS_NOT;
    }
    now = board_cycles(m);
    change = wait_changes_at(m, address, now);
    if (block->waits != WAITS || change <= now || m->deadline <= m->cycles) {
        return;
    }
    rounds = least((change - 1 - now) / round, (m->deadline - 1 - m->cycles) / round);
    skip_rounds(m, rounds, round);
    m->access.run = waiting.run = m->instructions;
    arm_profile_bus(m, arm_profile.on ? serving_pc(m) : 0, (int64_t)rounds * bus);
}

#endif
