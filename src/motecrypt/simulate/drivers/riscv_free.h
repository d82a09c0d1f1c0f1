/* SPDX-License-Identifier: MIT
 * riscv_free.h: any firmware, run freely on riscv.c's machine: its UART on the line (line.h) at the line's
 * pace, simulated time slice by slice, the deepest stack, profiles (shadow.h), and a word on what is not
 * modelled, once a firmware touches it.
 */
#ifndef MOTECRYPT_RISCV_FREE_H
#define MOTECRYPT_RISCV_FREE_H

#include <errno.h>
#include <signal.h>

#include "line.h"
#include "riscv_run.h"
#include "riscv_unmodelled.h"
#include "shadow.h"
#include "shadow_stacks.h"
#include "stack_told.h"

struct code_halfword {
    uint32_t function, entry; /* that it belongs to, that begins here: numbers of shadow_function; 0: none */
    uint64_t count, cycles;
};

static struct {
    bool on, real;
    double max_seconds;
    struct line line;
    struct pace pace;
    uint64_t received_at; /* the next byte is there at this cycle */
    uint64_t sent_at;     /* the sender is empty at this cycle */
} free_run;

static struct {
    const char *path;
    FILE *out; /* open from the beginning: the sandbox opens nothing */
    bool on;
    struct code_halfword *code[RISCV_MEMORIES];
    struct shadow shadow;
    uint32_t sp; /* after the last step */
} profile;

static volatile sig_atomic_t stopping;

static void on_signal(int number) {
    (void)number;
    stopping = true;
}

/* ---- the UART ---- */

static uint64_t free_byte_cycles(struct machine *m) {
    double baud = m->chip.model->baud(&m->chip);
    return baud > 0.0 ? most(1, (uint64_t)(10.0 * m->chip.model->hz(&m->chip) / baud)) : 1;
}

static bool free_has_input(struct machine *m) {
    return free_run.line.input_at < free_run.line.input_end && m->cycles >= free_run.received_at;
}

static uint8_t free_take(struct machine *m) {
    uint64_t byte = free_byte_cycles(m);
    if (!free_has_input(m)) {
        return 0;
    }
    free_run.received_at =
        (m->cycles > free_run.received_at + byte ? m->cycles : free_run.received_at) + byte;
    return free_run.line.input[free_run.line.input_at++];
}

/* Bytes that have not left the chip. */
static uint32_t free_waiting(void *context) {
    struct machine *m = context;
    uint64_t byte = free_byte_cycles(m);
    return (uint32_t)((most(free_run.sent_at, m->cycles) - m->cycles + byte - 1) / byte);
}

static void free_send(struct machine *m, uint8_t byte) {
    free_run.sent_at = most(free_run.sent_at, m->cycles) + free_byte_cycles(m);
    if (!line_send(&free_run.line, byte, riscv_seconds(&m->chip))) {
        return;
    }
    if (free_run.line.seen_until) {
        finish(m, "until", "found the --until text");
    } else {
        finish(m, "flood", "more than %" PRIu64 " bytes came from the UART", free_run.line.max_output);
    }
}

/* ---- time ---- */

/* A loop of one instruction: it has ended, or it waits for an interrupt, and these are not modelled. */
static void free_look_for_end(struct machine *m, const struct riscv_step *step, uint32_t from, uint32_t to) {
    uint64_t round = step->cycles;
    if (from != to || step->kind == RISCV_PLAIN || m->ending != NULL) {
        return;
    }
    if (!(m->csr[CSR_MSTATUS] & 8u)) {
        finish(m, "stop", "it has ended: an empty loop with interrupts off");
    } else if (m->deadline > m->cycles + round) {
        uint64_t rounds = (m->deadline - 1 - m->cycles) / round;
        m->cycles += rounds * round;
        m->instructions += rounds;
    }
}

static void free_slice(struct machine *m) {
    double hz = m->chip.model->hz(&m->chip), seconds = riscv_seconds(&m->chip);
    m->deadline = m->cycles + (uint64_t)(hz / 1000.0);
    if (stopping) {
        finish(m, "stopped", "stopped by a signal");
    } else if (hz <= 0.0) {
        finish(m, "fault", "the firmware has stopped its own clock");
    } else if (seconds >= free_run.max_seconds) {
        finish(m, "limit", "time limit reached");
    }
    line_look(&free_run.line, m->chip.model->baud(&m->chip) > 0.0);
    if (free_run.line.vanished) {
        finish(m, "gone", "the port has vanished");
    }
    if (free_run.real) {
        pace_wait(&free_run.pace, (uint64_t)(seconds * 1e6));
    }
}

/* ---- profiles ---- */

static struct code_halfword *code_of(struct machine *m, uint32_t address) {
    struct riscv_memory *memory = memory_at(m, address, 2);
    return memory != NULL && profile.on ? &profile.code[memory - m->memories][(address - memory->base) / 2]
                                        : NULL;
}

static uint32_t function_of(struct machine *m, uint32_t address) {
    const struct code_halfword *code = code_of(m, address);
    return code != NULL ? code->function : 0;
}

static uint32_t entry_of(struct machine *m, uint32_t address) {
    const struct code_halfword *code = code_of(m, address);
    return code != NULL ? code->entry : 0;
}

static void profile_step(struct machine *m, uint32_t pc, uint64_t cycles) {
    struct code_halfword *code = code_of(m, pc);
    if (code != NULL) {
        code->count++;
        code->cycles += cycles;
    }
    if (m->x[RISCV_SP] != profile.sp) {
        const struct riscv_memory *memory = memory_at(m, pc, 2);
        if (m->has_called && !sp_is_computed(&memory->steps[(pc - memory->base) / 2])) {
            shadow_load(&profile.shadow, profile.sp, m->x[RISCV_SP], false, m->cycles);
        }
        profile.sp = m->x[RISCV_SP];
    }
    shadow_stack(&profile.shadow, m->x[RISCV_SP]);
}

/* The function at a call's target: one without a symbol gets a number when it is first called. */
static uint32_t called_function(struct machine *m, uint32_t target) {
    struct code_halfword *code = code_of(m, target);
    if (code == NULL) {
        return 0;
    }
    if (code->entry == 0 && code->function == 0) {
        code->entry = code->function = shadow_add_function(&profile.shadow, target, 0);
    }
    return code->function;
}

static void profile_jump(struct machine *m, uint32_t from, uint32_t to) {
    struct shadow *s = &profile.shadow;
    uint32_t entry = entry_of(m, to);
    shadow_leave(s, m->x[RISCV_SP], m->cycles);
    if (entry != 0 && entry != function_of(m, from) && entry != s->frames[s->depth].function) {
        shadow_jump(s, entry, m->x[RISCV_SP], m->cycles);
    }
}

static void profile_flow(struct machine *m, uint32_t from, const struct riscv_step *step, uint32_t to) {
    struct shadow *s = &profile.shadow;
    uint32_t sp = m->x[RISCV_SP];
    switch (step->kind) {
    case RISCV_CALLS:
        shadow_call(s, called_function(m, to), sp, sp, from + step->bytes, m->cycles);
        break;
    case RISCV_RETURNS:
        if (!shadow_return(s, sp, to, m->cycles)) {
            profile_jump(m, from, to);
        }
        if (entry_of(m, to) == 0 && function_of(m, to) != s->frames[s->depth].function) {
            shadow_land(s, function_of(m, to), sp, m->cycles);
        }
        break;
    default:
        if (entry_of(m, to) != 0) {
            profile_jump(m, from, to);
        }
    }
}

static void free_flow(struct machine *m, uint32_t from, const struct riscv_step *step, uint32_t to) {
    if (profile.on) {
        profile_flow(m, from, step, to);
    }
    free_look_for_end(m, step, from, to);
}

static bool profile_open(struct machine *m, const char *functions) {
    if (shadow_open(&profile.shadow, functions) != 0 || (profile.out = fopen(profile.path, "w")) == NULL) {
        return false;
    }
    for (unsigned i = 0; i < m->memory_count; i++) {
        profile.code[i] = calloc(m->memories[i].bytes / 2, sizeof *profile.code[i]);
        if (profile.code[i] == NULL) {
            return false;
        }
    }
    profile.on = true;
    for (uint32_t i = 1; i < profile.shadow.function_count; i++) {
        const struct shadow_function *f = &profile.shadow.functions[i];
        struct code_halfword *first = code_of(m, f->start);
        if (first == NULL) {
            continue;
        }
        first->entry = first->function = i;
        for (uint32_t at = f->start; at < f->end && memory_at(m, at, 2) == memory_at(m, f->start, 2);
             at += 2) {
            code_of(m, at)->function = i; /* a symbol's size may be anything: no further than its memory */
        }
    }
    return true;
}

static void profile_end(struct machine *m) {
    if (!profile.on) {
        return;
    }
    shadow_end(&profile.shadow, m->cycles);
    shadow_write(&profile.shadow, profile.out);
    for (unsigned i = 0; i < m->memory_count; i++) {
        for (uint32_t at = 0; at < m->memories[i].bytes / 2; at++) {
            const struct code_halfword *code = &profile.code[i][at];
            if (code->count != 0) {
                fprintf(profile.out, "{\"pc\":%" PRIu32 ",\"n\":%" PRIu64 ",\"c\":%" PRIu64 "}\n",
                        m->memories[i].base + 2 * at, code->count, code->cycles);
            }
        }
    }
}

/* ---- the run ---- */

static bool free_open(struct machine *m, const char *port, const char *pty, const char *functions) {
    signal(SIGINT, on_signal);
    signal(SIGTERM, on_signal);
    m->at_deadline = free_slice;
    m->deadline = 1;
    m->on_flow = free_flow;
    unmodelled_open(m);
    pace_start(&free_run.pace, 0, 1000000);
    if (line_open(&free_run.line, port, pty) != 0) {
        fprintf(stderr, "riscv: %s: %s\n", port ? port : pty, strerror(errno));
        return false;
    }
    if (free_run.line.is_pty) {
        fprintf(m->pipe.events, "{\"event\":\"port\",\"detail\":\"%s\"}\n", free_run.line.name);
    }
    if (profile.path != NULL) {
        if (!profile_open(m, functions)) {
            fprintf(stderr, "riscv: %s: cannot be read\n", functions);
            return false;
        }
        m->on_step = profile_step;
    }
    return true;
}

/* Reports how a free run ended. Returns the program's exit code. */
static int free_end(struct machine *m) {
    line_flush(&free_run.line);
    profile_end(m);
    tell_unmodelled(m);
    fprintf(m->pipe.events,
            "{\"event\":\"%s\",\"detail\":\"%s\",\"cycle\":%" PRIu64 ",\"pc\":%" PRIu32 ",",
            m->ending, m->detail, m->cycles, m->pc);
    print_stack(m->pipe.events, m->has_several_stacks, m->stack_top - m->deepest_sp);
    fprintf(m->pipe.events, "\"seconds\":%.9f,\"instructions\":%" PRIu64 ",\"clock_hz\":%.0f}\n",
            riscv_seconds(&m->chip), m->instructions, m->chip.model->hz(&m->chip));
    return strcmp(m->ending, "fault") == 0 ? 3 : 0;
}

#endif
