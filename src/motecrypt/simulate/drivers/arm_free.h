/* SPDX-License-Identifier: GPL-2.0-only -- part of arm.c, which links Unicorn.
 * arm_free.h: any firmware, run freely: its UART on the line (line.h) at the line's pace, simulated time
 * slice by slice, the deepest stack, and a word on what is not modelled, once a firmware touches it.
 */
#ifndef MOTECRYPT_ARM_FREE_H
#define MOTECRYPT_ARM_FREE_H

#include <stdbool.h>

#include <signal.h>

#include "arm_mainline.h"
#include "arm_profile.h"
#include "arm_stacks.h"
#include "arm_unaligned.h"
#include "arm_unmodelled.h"
#include "bounds.h"
#include "line.h"

enum { UART_FIFO_BYTES = 32 };

struct free_run {
    int on, real, bare, stepped;
    double max_seconds;
    struct line line;
    struct pace pace;
    uint64_t received_at;    /* the next byte is there at this cycle */
    uint64_t sent_at;        /* the sender's FIFO is empty at this cycle */
};

static struct free_run free_run;
static volatile sig_atomic_t stopping;

static void on_signal(int number) {
    (void)number;
    stopping = true;
}

/* --- the UART ------------------------------------------------------------------------------------- */

static uint64_t free_byte_cycles(struct machine *m) {
    double baud = chip_baud(&m->chip);
    return baud > 0.0 ? (uint64_t)(10.0 * chip_hz(&m->chip) / baud) : 1;
}

static int free_has_input(struct machine *m) {
    const struct line *line = &free_run.line;
    return line->input_at < line->input_end && board_cycles(m) >= free_run.received_at;
}

static uint8_t free_take(struct machine *m) {
    uint64_t now = board_cycles(m);
    if (!free_has_input(m)) {
        return 0;
    }
    free_run.received_at =
        (now > free_run.received_at + free_byte_cycles(m) ? now : free_run.received_at) + free_byte_cycles(m);
    return free_run.line.input[free_run.line.input_at++];
}

/* RP2040: FR of the UART, as far as it is the sender's: TXFF, TXFE, BUSY (datasheet 4.2.8). STM32F407, without a
 * FIFO: SR's TXE, TC (RM0090, 30.6.1). */
static uint32_t free_sender_flags(void *context) {
    struct machine *m = context;
    uint64_t now = board_cycles(m), byte = free_byte_cycles(m);
    uint64_t waiting = (most(free_run.sent_at, now) - now + byte - 1) / byte;
    if (m->chip.model->kind == CHIP_PLAIN) {
        const struct plain_uart *uart = &m->chip.model->plain->uart;
        return (waiting <= uart->queued ? uart->has_room : 0u) | (waiting == 0 ? uart->all_sent : 0u);
    }
    if (m->chip.model->kind == CHIP_STM32F4) {
        return (waiting <= 1 ? 0x80u : 0u) | (waiting == 0 ? 0x40u : 0u);
    }
    return (waiting > UART_FIFO_BYTES ? 0x20u : 0u) | (waiting <= 1 ? 0x80u : 0u) |
           (waiting != 0 ? 0x08u : 0u);
}

/* When the flags of the UART change next by themselves; UINT64_MAX: they do not. */
static uint64_t free_changes_at(void *context) {
    struct machine *m = context;
    uint64_t now = board_cycles(m), byte = free_byte_cycles(m), at = UINT64_MAX;
    if (free_run.line.input_at < free_run.line.input_end && free_run.received_at > now) {
        at = free_run.received_at;
    }
    for (uint64_t bytes = 0; bytes <= UART_FIFO_BYTES; bytes += bytes == 0 ? 1 : UART_FIFO_BYTES - 1) {
        if (free_run.sent_at > now + bytes * byte) {
            at = least(at, free_run.sent_at - bytes * byte);
        }
    }
    return at;
}

/* Whether something may still come from outside. */
static bool free_may_hear(const struct machine *m) {
    const struct line *line = &free_run.line;
    (void)m;
    return line->reads_input || line->port >= 0 || line->input_at < line->input_end;
}

static void free_send(struct machine *m, uint8_t byte) {
    uint64_t now = board_cycles(m);
    free_run.sent_at = most(free_run.sent_at, now) + free_byte_cycles(m);
    if (line_send(&free_run.line, byte, chip_seconds(&m->chip))) {
        if (free_run.line.seen_until) {
            finish(m, "until", "found the --until text");
        } else {
            finish(m, "flood", "more than %" PRIu64 " bytes came from the UART", free_run.line.max_output);
        }
    }
}

/* --- the serial port on USB: shown and watched as the UART is, but it has no part in the UART's port ------------- */

static void free_usb_take(void *context, uint8_t byte) {
    struct machine *m = context;
    int port = free_run.line.port, is_over;
    free_run.line.port = -1;
    is_over = line_send(&free_run.line, byte, chip_seconds(&m->chip));
    free_run.line.port = port;
    if (is_over) {
        finish(m, free_run.line.seen_until ? "until" : "flood",
               free_run.line.seen_until ? "found the --until text" : "more than --max-output bytes came from USB");
    }
}

/* What is given with --input goes to USB, once its port is open; what comes from a port of the UART's does not. */
static bool free_usb_give(void *context, uint8_t *byte) {
    struct line *line = &free_run.line;
    (void)context;
    if (line->port >= 0 || line->input_at == line->input_end) {
        return false;
    }
    *byte = line->input[line->input_at++];
    return true;
}

/* --- time ------------------------------------------------------------------------------------------ */

static void free_slice(struct machine *m, uint32_t address) {
    double hz = chip_hz(&m->chip);
    (void)address;
    look_for_unaligned(m);
    set_slice(m, most(1, (uint64_t)(hz / 1000.0))); /* one cycle at least, however slow the clock */
    if (stopping) {
        finish(m, "stopped", "stopped by a signal");
    } else if (hz <= 0.0) {
        finish(m, "fault", "the firmware has stopped its own clock");
    } else if (chip_seconds(&m->chip) >= free_run.max_seconds) {
        finish(m, "limit", "time limit reached");
    }
    line_look(&free_run.line, chip_baud(&m->chip) > 0.0);
    if (free_run.line.vanished) {
        finish(m, "gone", "the port has vanished");
    }
    if (free_run.real) {
        pace_wait(&free_run.pace, (uint64_t)(chip_seconds(&m->chip) * 1e6));
    }
}

/* --- blocks ---------------------------------------------------------------------------------------- */

/* The stack pointer at the beginning of a block. What pushes and pops do to it is known without looking;
 * reading it from Unicorn costs as much as a block. */
static inline uint32_t free_sp(struct machine *m) {
    if (m->attend_at == 0) {
        m->sp = register_value(m, UC_ARM_REG_SP);
        m->attend_at = m->deadline;
    }
    return m->sp;
}

static inline void free_watch_stack(struct machine *m, const struct block *block) {
    uint32_t begins = free_sp(m), sp = begins - block->stack_bytes;
    if (stacks.has_moved && m->core == 0) {
        look_at_stacks(m, begins);
    }
    m->deepest_sp = (uint32_t)least(m->deepest_sp, sp);
    if (arm_profile.on && m->core == 0) {
        shadow_stack(&arm_profile.shadow, sp);
    }
    m->sp = begins - (uint32_t)block->stack_left;
    if (block->moves_sp) {
        m->attend_at = 0;
        if (m->core == 0) {
            stacks.has_moved = true;
            stacks.mover = *block;
            stacks.before = begins;
        }
    }
}

/* Whether a core does no more: it sleeps with nothing to wake it, was never called, or is in an empty loop with interrupts off. */
static bool free_is_over(const struct core *other) {
    uint32_t primask = 0;
    if (other->pending == NEVER) {
        return true;
    }
    uc_reg_read(other->uc, UC_ARM_REG_PRIMASK, &primask);
    return !other->sleeps && !other->begins_anew && other->current != NULL && other->current->is_empty_loop && (primask & 1u);
}

/* Core 0 is in an empty loop with interrupts off: whether the other core, the watchdog and the transfers have no
 * more to do either. */
static bool free_has_ended(struct machine *m) {
    bool acts = false;
    if (m->attend != NULL) {
        m->looks_at = most(core_time(m) - m->current->cycles, 1);
        acts = rp2040_acts_alone(&m->chip.rp2040, m->looks_at);
        m->looks_at = 0;
    }
    return !acts && free_is_over(other_core(m));
}

/* Whether both cores are in empty loops with nothing pending: neither does anything before the chip's next event. */
static bool free_both_wait(struct machine *m) {
    const struct core *other = other_core(m);
    return m->attend != NULL && m->event_at != 0 && !m->by_access && other_runs(m) && !m->event.is_due &&
           other->current != NULL && other->current->is_empty_loop && !other->sleeps && !other->begins_anew &&
           !other->is_called && !other->stopped && !other->event.is_due &&
           !nvic_has_ready(&m->chip.rp2040.nvic[0]) && !nvic_has_ready(&m->chip.rp2040.nvic[1]);
}

/* The rounds of an empty loop up to where something may happen to it are counted in one step. */
static void free_skip_loop(struct machine *m) {
    uint64_t until = m->deadline, round = m->current->cycles + m->current->extra;
    if (free_both_wait(m)) { /* not only up to the other core's turn, which comes in the same slice */
        until = least(m->slice - least(2 * round, m->slice), m->event_at - least(core_time(m) - m->cycles, m->event_at));
    }
    if (m->cycles < until) {
        skip_rounds(m, (until - 1 - m->cycles) / round, round);
    }
}

static __attribute__((noinline)) void free_look(struct machine *m) {
    free_watch_stack(m, m->current);
    if (m->current->unmasks && m->attend != NULL) { /* what is pending comes before the next block */
        m->event_at = 0;
        set_deadline(m);
    }
    if (m->current->is_empty_loop && m->core == 0 && (register_value(m, UC_ARM_REG_PRIMASK) & 1u) && free_has_ended(m)) {
        finish(m, "stop", "it has ended: an empty loop with interrupts off");
    } else if (m->current->is_empty_loop && !free_run.stepped && may_skip(m) && m->ending == NULL) {
        free_skip_loop(m);
    }
}

static __attribute__((noinline)) void free_attend(struct machine *m, uint32_t address) {
    if (m->cycles >= m->deadline) {
        meet_deadline(m, address);
    }
    if (m->attend_at == 0) {
        free_look(m);
    }
}

static __attribute__((noinline)) void on_other_block(uc_engine *uc, uint64_t address, uint32_t bytes, void *user) {
    on_block(uc, address, bytes, user);
    free_look(user);
}

/* Most blocks leave the stack alone, and its recorded depth stays valid: they are only counted. Functions that are
 * called last do the rest, so that this hook saves no registers. */
static void on_block_free(uc_engine *uc, uint64_t address64, uint32_t bytes, void *user) {
    struct machine *m = user;
    uint32_t address = (uint32_t)address64;
    struct block *block = block_at(m, address);
    if (block->address != address || block->plain_bytes != bytes) {
        on_other_block(uc, address64, bytes, user);
        return;
    }
    count_block(m, block, taken_branch(m, address));
    if (m->cycles >= m->attend_at) {
        free_attend(m, address);
    }
}

/* Before the profile looks at a block's begin: the block before may have given the stack pointer a value. */
static void profile_stack_move(struct machine *m, uint64_t now) {
    if (stacks.has_moved && m->core == 0) {
        uint32_t sp = free_sp(m);
        struct stack_move move = stack_move_of(m, &stacks.mover);
        if (move.is_foreign) {
            shadow_load(&arm_profile.shadow, stacks.before - (uint32_t)move.below, sp - (uint32_t)move.above, false, now);
        }
    }
}

static void on_block_profiled(uc_engine *uc, uint64_t address, uint32_t bytes, void *user) {
    struct machine *m = user;
    struct block before = *m->current;
    uint64_t now = m->cycles + (before.next != (uint32_t)address ? before.extra : 0);
    if (before.next != (uint32_t)address) {
        m->current->taken++;
    }
    profile_stack_move(m, now);
    if (before.bytes != 0) {
        arm_profile_step(&before, (uint32_t)address, free_sp(m), now);
    } else {
        arm_profile_jump(&arm_profile, 0, (uint32_t)address, m->deepest_sp, now);
    }
    on_block(uc, address, bytes, user);
    free_look(m);
    m->current->runs += !m->cores[m->core].stopped;
}

/* ---- the same with a pipeline model ---- */

static __attribute__((noinline)) void on_other_block_mainline(uc_engine *uc, uint64_t address, uint32_t bytes,
                                                              void *user) {
    struct machine *m = user;
    const struct block *block = block_at(m, (uint32_t)address);
    bool is_new = block->address != (uint32_t)address || block->bytes != bytes;
    on_block_mainline(uc, address, bytes, user);
    if (is_new) {
        look_for_unaligned(m);
    }
    free_look(m);
}

static void on_block_free_mainline(uc_engine *uc, uint64_t address64, uint32_t bytes, void *user) {
    struct machine *m = user;
    uint32_t address = (uint32_t)address64;
    struct block *block = block_at(m, address);
    if (block->address != address || block->plain_bytes != bytes || enters_anew(m, block)) {
        on_other_block_mainline(uc, address64, bytes, user);
        return;
    }
    count_mainline(m, block);
    if (m->cycles >= m->attend_at) {
        free_attend(m, address);
    }
}

static void on_block_profiled_mainline(uc_engine *uc, uint64_t address, uint32_t bytes, void *user) {
    struct machine *m = user;
    struct block before = *m->current;
    bool is_taken = before.next != (uint32_t)address || before.always_taken;
    uint64_t now = m->cycles + (is_taken ? before.extra : 0);
    if (is_taken) {
        m->current->taken++;
    }
    profile_stack_move(m, now);
    if (before.bytes != 0) {
        arm_profile_step(&before, (uint32_t)address, free_sp(m), now);
    } else {
        arm_profile_jump(&arm_profile, 0, (uint32_t)address, m->deepest_sp, now);
    }
    on_block_mainline(uc, address, bytes, user);
    if (m->current->runs == 0) {
        look_for_unaligned(m);
    }
    arm_profile_bus(m, (uint32_t)address, (int64_t)(m->cycles - now) - m->current->cycles);
    free_look(m);
    m->current->runs += !m->cores[m->core].stopped;
}

static bool free_open(struct machine *m, const char *port, const char *pty, const char *functions) {
    signal(SIGINT, on_signal);
    signal(SIGTERM, on_signal);
    m->at_deadline = free_slice;
    m->slice = m->deadline = 1;
    pace_start(&free_run.pace, 0, 1000000);
    if (line_open(&free_run.line, port, pty) != 0) {
        fprintf(stderr, "arm: %s: %s\n", port ? port : pty, strerror(errno));
        return false;
    }
    if (free_run.line.is_pty) {
        fprintf(m->pipe.events, "{\"event\":\"port\",\"detail\":\"%s\"}\n", free_run.line.name);
    }
    if (arm_profile.path != NULL) {
        if (!arm_profile_open(m, &arm_profile, functions)) {
            fprintf(stderr, "arm: %s: cannot be read\n", functions);
            return false;
        }
        m->evict = arm_profile_flush;
        m->spent = arm_profile_bus;
    }
    return true;
}

#endif
