/* SPDX-License-Identifier: GPL-3.0-or-later -- part of the drivers that link libsimavr.
 * avr_rounds.h: rounds of a loop that are worked out side by side instead of one by one.
 *
 * A loop that waits may call functions, use the stack and read a timer's count, as Arduino's delay() does; then its
 * rounds differ, but by that count alone. One round is recorded as it is stepped. The rounds to come, up to the next
 * event, are then followed together along the same instructions, each with the count at its own cycle: a value is
 * one for all of them, or one for each. Those before the first that leaves the recorded path are run in one
 * step.
 *
 * What a round leaves behind differently is unknown to the next one: if that reads it for more than to carry it
 * about, nothing is made. So each round depends on its own counts alone, and the last one's values are what
 * stepping would have left. Tests hold all of it to stepping. The values are in avr_lanes.h, the instructions in
 * avr_follow.h.
 */
#ifndef MOTECRYPT_AVR_ROUNDS_H
#define MOTECRYPT_AVR_ROUNDS_H

#include <simavr/sim_avr.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "avr_follow.h"
#include "avr_lanes.h"
#include "avr_step.h"
#include "avr_wait.h"
#include "bounds.h"

enum {
    ROUND_STEPS = 400, /* instructions of a round */
    ROUND_PASSES = 6,  /* until it is known what differs */
    ROUNDS_WORTH = 3   /* fewer are stepped */
};

static struct {
    bool recording;
    avr_flashaddr_t head, tail, known; /* known: the loop whose differences are */
    uint16_t sp;
    uint64_t begun, next; /* cycles: of its beginning, and of the next event */
    uint64_t interrupts;
    uint32_t count;
    struct round_step steps[ROUND_STEPS + 1]; /* one more: where the round ends */
    bool alone; /* wait_round is not used: loops that only look are recorded too */
    uint8_t unknown_registers[REGISTERS], unknown_flags; /* bits, at the beginning of the rounds to come */
    void (*on_rounds)(avr_t *avr, uint64_t rounds); /* before they are made; or NULL */
} rounds = {.known = UINT32_MAX};

static uint8_t flags_now(const avr_t *avr) {
    uint8_t flags = 0;
    for (unsigned i = 0; i < 8; i++) {
        flags |= (uint8_t)((avr->sreg[i] != 0) << i);
    }
    return flags;
}

/* Follows all steps once, from the known values. 1: to the end; 0: the rounds differ from the start; -1: not
 * possible. */
static int rounds_pass(uint32_t most_rounds) {
    avr_t *avr = follow.avr;
    abreast.alike = most_rounds;
    follow.counts = false;
    follow.stack = rounds.sp;
    for (unsigned i = 0; i < REGISTERS; i++) {
        lanes_set(&follow.registers[i], avr->data[i]);
        follow.registers[i].unknown = rounds.unknown_registers[i];
    }
    lanes_set(&abreast.flags, flags_now(avr));
    abreast.flags.unknown = rounds.unknown_flags;
    for (uint32_t i = 0; i < follow.byte_count; i++) {
        lanes_set(&follow.bytes[i].value, avr->data[follow.bytes[i].address]);
        follow.bytes[i].value.unknown = follow.bytes[i].unknown_before;
    }
    for (uint32_t i = 0; i < rounds.count; i++) {
        if (!follow_step(&rounds.steps[i])) {
            return abreast.alike == 0 ? 0 : -1;
        }
    }
    return follow.stack == rounds.sp ? 1 : -1;
}

/* What this pass left differently becomes unknown at the beginning of the next: whether there is more of it. */
static bool rounds_more_unknown(void) {
    bool more = false;
    for (unsigned i = 0; i < REGISTERS; i++) {
        uint8_t bits = lanes_changed(&follow.registers[i], follow.avr->data[i]);
        more |= (bits & ~rounds.unknown_registers[i]) != 0;
        rounds.unknown_registers[i] |= bits;
    }
    for (uint32_t i = 0; i < follow.byte_count; i++) {
        struct round_byte *byte = &follow.bytes[i];
        uint8_t bits = lanes_changed(&byte->value, follow.avr->data[byte->address]);
        more |= (bits & ~byte->unknown_before) != 0;
        byte->unknown_before |= bits;
    }
    uint8_t bits = lanes_changed(&abreast.flags, flags_now(follow.avr));
    more |= (bits & ~rounds.unknown_flags) != 0;
    rounds.unknown_flags |= bits;
    return more;
}

/* Whether each round's end follows from its own counts. */
static bool rounds_know_their_end(void) {
    uint8_t unknown = abreast.flags.unknown;
    for (unsigned i = 0; i < REGISTERS; i++) {
        unknown |= follow.registers[i].unknown;
    }
    for (uint32_t i = 0; i < follow.byte_count; i++) {
        unknown |= follow.bytes[i].value.unknown;
    }
    return unknown == 0;
}

/* The chip as the last of the rounds leaves it. */
static void rounds_make(avr_t *avr, uint64_t made) {
    uint32_t last = (uint32_t)least(made, abreast.alike) - 1;
    uint8_t flags = lane_of(&abreast.flags, last);
    if (rounds.on_rounds != NULL) {
        rounds.on_rounds(avr, made);
    }
    for (unsigned i = 0; i < REGISTERS; i++) {
        avr->data[i] = lane_of(&follow.registers[i], last);
    }
    for (uint32_t i = 0; i < follow.byte_count; i++) {
        avr->data[follow.bytes[i].address] = lane_of(&follow.bytes[i].value, last);
    }
    for (unsigned i = 0; i < 8; i++) {
        avr->sreg[i] = flags >> i & 1;
    }
    avr->cycle += made * follow.period;
    wait_loops.cycles += made * follow.period;
}

/* Follows the rounds until it is known what they leave differently: 1, 0 or -1 as of one pass. */
static int rounds_follow(uint32_t most_rounds) {
    for (int pass = 0; pass < ROUND_PASSES; pass++) {
        int outcome = rounds_pass(most_rounds);
        if (outcome != 1) {
            return outcome;
        }
        if (!rounds_more_unknown()) {
            return rounds_know_their_end() ? 1 : -1;
        }
    }
    return -1;
}

static void rounds_forget(void) {
    memset(rounds.unknown_registers, 0, sizeof rounds.unknown_registers);
    rounds.unknown_flags = 0;
    follow.byte_count = 0;
}

/* After a round was recorded, from its beginning to its end. */
static void rounds_try(avr_t *avr, uint8_t *failures) {
    uint64_t room;
    int outcome = 0;
    follow.avr = avr;
    follow.first = avr->cycle;
    follow.period = avr->cycle - rounds.begun;
    room = (rounds.next - 1 - avr->cycle) / follow.period;
    if (room < ROUNDS_WORTH) {
        return;
    }
    if (rounds.known == rounds.tail) { /* as the last time, most likely */
        outcome = rounds_follow((uint32_t)least(room, LANES));
    }
    if (outcome != 1) {
        rounds_forget();
        outcome = rounds_follow((uint32_t)least(room, LANES));
    }
    rounds.known = outcome == 1 ? rounds.tail : UINT32_MAX;
    if (outcome != 1) {
        *failures = (uint8_t)(*failures + (outcome == 0 ? 1 : WAIT_HOPELESS / 4));
        return;
    }
    *failures = 1;
    rounds_make(avr, follow.counts || abreast.alike < least(room, LANES) ? abreast.alike : room);
}

/* After a step from `tail` back to where the chip is now: a loop that does more than to look is recorded. */
static void rounds_begin(avr_t *avr, avr_flashaddr_t tail, uint64_t until) {
    uint8_t failures = wait_loops.refused[tail / 2 % COUNT_OF(wait_loops.refused)];
    if ((failures == 0 && !rounds.alone) || failures >= WAIT_HOPELESS || avr->interrupt_state != 0 ||
        wait_target(avr, tail) != avr->pc) {
        return;
    }
    rounds.recording = true;
    rounds.head = avr->pc;
    rounds.tail = tail;
    rounds.sp = (uint16_t)wait_pointer(avr, R_SPL);
    rounds.begun = avr->cycle;
    rounds.next = wait_next(avr, until);
    rounds.interrupts = core.interrupts;
    rounds.count = 0;
    rounds.steps[0] = (struct round_step){avr->pc, rounds.sp, 0};
}

/* After each step while a round is recorded. */
static void rounds_record(avr_t *avr, avr_flashaddr_t pc, uint64_t until) {
    uint8_t *failures = &wait_loops.refused[rounds.tail / 2 % COUNT_OF(wait_loops.refused)];
    struct round_step *step = &rounds.steps[rounds.count++];
    step->sp = (uint16_t)wait_pointer(avr, R_SPL);
    if (avr->cycle >= rounds.next || core.interrupts != rounds.interrupts || avr->state != cpu_Running ||
        wait_next(avr, until) != rounds.next) {
        rounds.recording = false; /* something else may have acted */
    } else if (pc == rounds.tail && avr->pc == rounds.head) {
        rounds.recording = false;
        step[1] = (struct round_step){avr->pc, 0, (uint32_t)(avr->cycle - rounds.begun)};
        if (step->sp == rounds.sp && avr->interrupt_state == 0) {
            rounds_try(avr, failures);
        }
    } else if (rounds.count == ROUND_STEPS) {
        rounds.recording = false;
        ++*failures;
    } else {
        step[1] = (struct round_step){avr->pc, 0, (uint32_t)(avr->cycle - rounds.begun)};
    }
}

#endif
