/* SPDX-License-Identifier: GPL-2.0-only -- part of arm.c, which links Unicorn.
 * arm_free.h: any firmware, run freely: its UART on the line (line.h) at the line's pace, simulated time
 * slice by slice, the deepest stack, and a word on what is not modelled, once a firmware touches it.
 */
#ifndef MOTECRYPT_ARM_FREE_H
#define MOTECRYPT_ARM_FREE_H

#include <stdbool.h>

#include <signal.h>

#include "arm_profile.h"
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
    uint32_t told, stack_of; /* notes given; the initial stack pointer */
    uint32_t sp;             /* at the beginning of the next block, unless one must look */
    int look_at_sp;
};

static struct free_run free_run;
static volatile sig_atomic_t stopping;

static void on_signal(int number) {
    (void)number;
    stopping = true;
}

/* RP2040 datasheet, 2.2: what is a plain register here, or nothing at all. */
static const struct {
    uint32_t base, bytes;
    int writes_only;
    const char *what;
} unmodelled[] = {
    {0x40038000u, 0x4000u, 0, "UART1: not modelled; nothing is sent or received"},
    {0x4003C000u, 0x8000u, 0, "SPI: not modelled; its registers only keep what is written"},
    {0x40044000u, 0x8000u, 0, "I2C: not modelled; its registers only keep what is written"},
    {0x4004C000u, 0x4000u, 0, "ADC: not modelled; its registers only keep what is written"},
    {0x40050000u, 0x4000u, 0, "PWM: not modelled; its registers only keep what is written"},
    {0x4005C000u, 0x4000u, 0, "RTC: not modelled; its registers only keep what is written"},
    {0x40054010u, 0x0010u, 1, "the timer's alarms: not modelled; they never go off"},
    {0xE000E100u, 0x0004u, 1, "interrupts: not modelled; they are never delivered"},
    {0xD0000050u, 0x000Cu, 0, "the second core: not modelled; it never answers"},
    {0xD0000080u, 0x0080u, 0, "the interpolators: not modelled"},
};

static void free_note(struct machine *m, uint32_t address, int is_write) {
    uint32_t plain = address >> 28 == 4 ? address & ~(3u << 12) : address; /* without the atomic aliases */
    for (unsigned i = 0; i < COUNT_OF(unmodelled); i++) {
        if (plain - unmodelled[i].base < unmodelled[i].bytes && (is_write || !unmodelled[i].writes_only) &&
            !(free_run.told & 1u << i)) {
            free_run.told |= 1u << i;
            fprintf(m->pipe.events, "{\"event\":\"note\",\"detail\":\"%s\",\"cycle\":%" PRIu64 "}\n",
                    unmodelled[i].what, m->cycles);
        }
    }
}

/* --- the UART ------------------------------------------------------------------------------------- */

static uint64_t free_byte_cycles(struct machine *m) {
    double baud = rp2040_uart_baud(&m->chip);
    return baud > 0.0 ? (uint64_t)(10.0 * rp2040_system_hz(&m->chip) / baud) : 1;
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

/* FR of the UART, as far as it is the sender's: TXFF, TXFE, BUSY (datasheet 4.2.8). */
static uint32_t free_sender_flags(void *context) {
    struct machine *m = context;
    uint64_t now = board_cycles(m), byte = free_byte_cycles(m);
    uint64_t waiting = (most(free_run.sent_at, now) - now + byte - 1) / byte;
    return (waiting > UART_FIFO_BYTES ? 0x20u : 0u) | (waiting <= 1 ? 0x80u : 0u) |
           (waiting != 0 ? 0x08u : 0u);
}

static void free_send(struct machine *m, uint8_t byte) {
    uint64_t now = board_cycles(m);
    free_run.sent_at = most(free_run.sent_at, now) + free_byte_cycles(m);
    if (line_send(&free_run.line, byte, rp2040_seconds(&m->chip))) {
        if (free_run.line.seen_until) {
            finish(m, "until", "found the --until text");
        } else {
            finish(m, "flood", "more than %" PRIu64 " bytes came from the UART", free_run.line.max_output);
        }
    }
}

/* --- time ------------------------------------------------------------------------------------------ */

static void free_slice(struct machine *m, uint32_t address) {
    double hz = rp2040_system_hz(&m->chip);
    (void)address;
    m->deadline = m->cycles + (uint64_t)(hz / 1000.0);
    if (stopping) {
        finish(m, "stopped", "stopped by a signal");
    } else if (hz <= 0.0) {
        finish(m, "fault", "the firmware has stopped its own clock");
    } else if (rp2040_seconds(&m->chip) >= free_run.max_seconds) {
        finish(m, "limit", "time limit reached");
    }
    line_look(&free_run.line, rp2040_uart_baud(&m->chip) > 0.0);
    if (free_run.line.vanished) {
        finish(m, "gone", "the port has vanished");
    }
    if (free_run.real) {
        pace_wait(&free_run.pace, (uint64_t)(rp2040_seconds(&m->chip) * 1e6));
    }
}

/* --- blocks ---------------------------------------------------------------------------------------- */

/* The stack pointer at the beginning of a block. What pushes and pops do to it is known without looking;
 * reading it from Unicorn costs as much as a block. */
static inline uint32_t free_sp(struct machine *m) {
    if (free_run.look_at_sp) {
        free_run.sp = register_value(m, UC_ARM_REG_SP);
        free_run.look_at_sp = 0;
    }
    return free_run.sp;
}

static inline void free_watch_stack(struct machine *m, const struct block *block) {
    uint32_t begins = free_sp(m), sp = begins - block->stack_bytes;
    m->deepest_sp = (uint32_t)least(m->deepest_sp, sp);
    if (arm_profile.on) {
        shadow_stack(&arm_profile.shadow, sp);
    }
    free_run.sp = begins - (uint32_t)block->stack_left;
    free_run.look_at_sp = block->moves_sp;
}

static __attribute__((noinline)) void free_look(struct machine *m) {
    free_watch_stack(m, m->current);
    if (m->current->is_empty_loop && (register_value(m, UC_ARM_REG_PRIMASK) & 1u)) {
        finish(m, "stop", "it has ended: an empty loop with interrupts off");
    } else if (m->current->is_empty_loop && !free_run.stepped && m->ending == NULL) {
        skip_rounds(m, (m->deadline - 1 - m->cycles) / m->current->cycles, m->current->cycles);
    }
}

/* Most blocks leave the stack alone, and its recorded depth stays valid. */
static void on_block_free(uc_engine *uc, uint64_t address, uint32_t bytes, void *user) {
    struct machine *m = user;
    on_block(uc, address, bytes, user);
    if (m->current->needs_look || free_run.look_at_sp) {
        free_look(m);
    }
}

static void on_block_profiled(uc_engine *uc, uint64_t address, uint32_t bytes, void *user) {
    struct machine *m = user;
    struct block before = *m->current;
    uint64_t now = m->cycles + (before.next != (uint32_t)address ? before.extra : 0);
    if (before.next != (uint32_t)address) {
        m->current->taken++;
    }
    if (before.bytes != 0) {
        arm_profile_step(&before, (uint32_t)address, free_sp(m), now);
    } else {
        arm_profile_jump(&arm_profile, 0, (uint32_t)address, m->deepest_sp, now);
    }
    on_block(uc, address, bytes, user);
    free_look(m);
    m->current->runs++;
}

static bool free_open(struct machine *m, const char *port, const char *pty, const char *functions) {
    signal(SIGINT, on_signal);
    signal(SIGTERM, on_signal);
    m->at_deadline = free_slice;
    m->deadline = 1;
    free_run.look_at_sp = true;
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
    }
    return true;
}

#endif
