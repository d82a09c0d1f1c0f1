/* SPDX-License-Identifier: GPL-3.0-or-later -- part of avr_run.c, which links libsimavr.
 * avr_run_profile.h: reports to the shadow stack (shadow.h) what each AVR instruction did, and counts how
 * often and how long the instruction at every address ran. Encodings: AVR Instruction Set Manual DS40002198.
 */
#ifndef MOTECRYPT_AVR_RUN_PROFILE_H
#define MOTECRYPT_AVR_RUN_PROFILE_H

#include <simavr/sim_avr.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "avr_guard.h"
#include "avr_rounds.h"
#include "avr_stacks.h"
#include "shadow.h"
#include "shadow_stacks.h"

enum profile_kind { KIND_PLAIN, KIND_JUMP, KIND_CALL, KIND_RETURN, KIND_HALF_LOAD, KIND_LOAD };

struct profile_word {
    uint8_t kind;      /* of its instruction */
    uint32_t function; /* that it belongs to; 0: none */
    uint32_t entry;    /* the function that begins here; 0: none */
    uint64_t count, cycles;
};

struct profile {
    const char *path;
    FILE *out; /* open from the beginning: the sandbox opens nothing */
    int on;
    uint32_t words;
    struct profile_word *code; /* each word of flash */
    uint64_t counted; /* cycles of the step in work that are counted already */
    uint32_t sp;      /* the stack pointer after the last step that did not write a half of it */
    struct shadow shadow;
};

/* lds, sts, jmp, call have a second word. */
static inline uint32_t instruction_bytes(uint16_t op) {
    return (op & 0xFC0F) == 0x9000 || (op & 0xFE0C) == 0x940C ? 4 : 2;
}

/* Where a direct jump leads, in bytes; `next` when it is none. */
static uint32_t jump_target(const avr_t *avr, uint32_t pc, uint16_t op, uint32_t next) {
    int32_t offset;
    if ((op & 0xFE0E) == 0x940C) { /* jmp */
        return 2u *
               ((uint32_t)opcode_at(avr, pc + 2) | (uint32_t)(op & 1) << 16 | (uint32_t)(op & 0x1F0) << 13);
    }
    if ((op & 0xF000) == 0xC000) { /* rjmp */
        offset = (int16_t)(uint16_t)(op << 4) >> 4;
    } else if ((op & 0xF800) == 0xF000) { /* brbs, brbc */
        offset = (int16_t)(uint16_t)(op << 6) >> 9;
    } else {
        return next;
    }
    return (uint32_t)((int32_t)next + 2 * offset);
}

static uint8_t kind_of(const struct profile *p, const avr_t *avr, uint32_t pc) {
    uint16_t op = opcode_at(avr, pc);
    uint32_t next = pc + instruction_bytes(op), limit = 2 * p->words, target;
    enum sp_load load = sp_load_at(avr, pc);
    if (load != SP_NO_LOAD) {
        return load == SP_HALF ? KIND_HALF_LOAD : KIND_LOAD;
    }
    if ((op & 0xFFEF) == 0x9508) { /* ret, reti */
        return KIND_RETURN;
    }
    if ((op & 0xF000) == 0xD000 || (op & 0xFE0E) == 0x940E || op == 0x9509) { /* rcall, call, icall */
        return KIND_CALL;
    }
    if (op == 0x9409) { /* ijmp */
        return KIND_JUMP;
    }
    target = jump_target(avr, pc, op, next);
    if (target < limit && p->code[target / 2].entry != 0 && p->code[target / 2].function != p->code[pc / 2].function) {
        return KIND_JUMP;
    }
    if (p->code[pc / 2].function == 0 && target != next) {
        return KIND_JUMP; /* code without symbols: a vector's jump begins its handler */
    }
    return next < limit && p->code[next / 2].entry != 0 ? KIND_JUMP
                                                   : KIND_PLAIN; /* may run on into the next function */
}

static bool profile_open(struct profile *p, avr_t *avr, const char *functions) {
    if (shadow_open(&p->shadow, functions) != 0 || (p->out = fopen(p->path, "w")) == NULL) {
        return false;
    }
    p->words = (avr->flashend + 1) / 2;
    p->code = calloc(p->words, sizeof *p->code);
    if (p->code == NULL) {
        return false;
    }
    for (uint32_t i = 1; i < p->shadow.function_count; i++) {
        const struct shadow_function *f = &p->shadow.functions[i];
        for (uint32_t at = f->start / 2; at < f->end / 2 && at < p->words; at++) {
            p->code[at].function = i;
        }
        if (f->start / 2 < p->words) {
            p->code[f->start / 2].entry = i;
            p->code[f->start / 2].function = i;
        }
    }
    for (uint32_t pc = 0; pc < 2 * p->words; pc += 2) {
        p->code[pc / 2].kind = kind_of(p, avr, pc);
    }
    p->shadow.call_bytes = avr->address_size;
    shadow_begin(&p->shadow, 0, avr->ramend, avr->cycle);
    p->sp = avr->ramend;
    p->on = true;
    return true;
}

/* The function at a call's target: one without a symbol gets a number when it is first called. */
static uint32_t called_function(struct profile *p, uint32_t target) {
    uint32_t at = target / 2 < p->words ? target / 2 : 0;
    if (p->code[at].entry == 0 && p->code[at].function == 0) {
        p->code[at].entry = p->code[at].function = shadow_add_function(&p->shadow, target, 0);
    }
    return p->code[at].function;
}

static void profile_jump(struct profile *p, uint32_t pc, uint32_t target, uint32_t sp, uint64_t now) {
    const struct shadow_frame *top;
    uint32_t at = target / 2 < p->words ? target / 2 : 0;
    shadow_leave(&p->shadow, sp, now);
    top = &p->shadow.frames[p->shadow.depth];
    if (top->is_interrupt && top->function == 0) {
        shadow_jump(&p->shadow, called_function(p, target), sp, now);
    } else if (p->code[at].entry != 0 && p->code[at].function != p->code[pc / 2].function &&
               p->code[at].function != top->function) {
        shadow_jump(&p->shadow, p->code[at].function, sp, now);
    }
}

/* What the instruction at `pc`, after which the stack pointer is `sp`, does to the frames: `now` it leads to `target`. */
static void profile_flow(struct profile *p, const avr_t *avr, uint32_t pc, uint32_t sp, uint32_t target, uint64_t now) {
    uint8_t kind = p->code[pc / 2].kind;
    uint32_t next = pc + instruction_bytes(opcode_at(avr, pc));
    if (kind == KIND_CALL && target != next) { /* rcall .+0 makes room */
        shadow_call(&p->shadow, called_function(p, target), sp + 2, sp, next, now);
    } else if (kind == KIND_CALL) {
        shadow_stack(&p->shadow, sp);
    } else if (kind == KIND_RETURN) {
        if (!shadow_return(&p->shadow, sp, target, now)) {
            profile_jump(p, pc, target, sp, now);
        }
    } else if (kind == KIND_JUMP) {
        profile_jump(p, pc, target, sp, now);
    } else if (kind == KIND_LOAD) {
        shadow_load(&p->shadow, p->sp, sp, sp_is_computed(avr, pc), now);
        shadow_stack(&p->shadow, sp);
    }
    p->sp = kind == KIND_HALF_LOAD ? p->sp : sp;
}

static inline void profile_plain(struct profile *p, uint32_t sp) {
    p->sp = sp;
    if (sp < p->shadow.frames[p->shadow.depth].own_sp) {
        shadow_stack(&p->shadow, sp);
    }
}

/* After the instruction at `pc` has run in `cycles`; `interrupted`: an interrupt has begun after it. */
static inline void profile_step(struct profile *p, avr_t *avr, uint32_t pc, uint64_t cycles,
                                int interrupted) {
    uint32_t sp = (uint32_t)(avr->data[R_SPL] | avr->data[R_SPH] << 8);
    uint32_t target = avr->pc, before = sp;
    uint64_t now = avr->cycle;
    if (pc / 2 >= p->words) { /* a jump beyond the flash: the run ends */
        return;
    }
    p->code[pc / 2].count++;
    p->code[pc / 2].cycles += cycles - p->counted - (interrupted ? 4u : 0u);
    p->counted = 0;
    if (p->code[pc / 2].kind == KIND_PLAIN && !interrupted) {
        profile_plain(p, sp);
        return;
    }
    if (interrupted) { /* what the instruction itself did shows in the return address on the stack */
        before = sp + 2;
        target = 2u * (uint32_t)(avr->data[(uint16_t)(sp + 1)] << 8 | avr->data[(uint16_t)(sp + 2)]);
        now -= 4;
    }
    profile_flow(p, avr, pc, before, target, now);
    if (interrupted) {
        shadow_interrupt(&p->shadow, 0, before, sp, target, now);
        p->sp = sp;
    }
}

/* A loop's recorded round (avr_rounds.h), which is made so many times more. */
static void profile_loop(struct profile *p, const avr_t *avr, uint64_t made) {
    struct round_step *flows[ROUND_STEPS];
    uint32_t count = 0;
    uint16_t sp = rounds.sp;
    for (struct round_step *step = rounds.steps; step < rounds.steps + rounds.count; step++) {
        struct profile_word *word = &p->code[step->pc / 2 % p->words];
        word->count += made;
        word->cycles += made * (step[1].at - step->at);
        if (word->kind != KIND_PLAIN || step->sp < sp) {
            flows[count++] = step;
        }
        sp = step->sp;
    }
    for (uint64_t n = 0; n < made && count != 0; n++) {
        for (uint32_t i = 0; i < count; i++) {
            const struct round_step *step = flows[i];
            if (p->code[step->pc / 2 % p->words].kind == KIND_PLAIN) {
                profile_plain(p, step->sp);
            } else {
                profile_flow(p, avr, step->pc, step->sp, step[1].pc, avr->cycle + n * follow.period + step[1].at);
            }
        }
    }
}

/* The rounds of a waiting loop that were skipped in one step (avr_eeprom_model.h): SBIC that does not skip,
 * RJMP. */
static void profile_rounds(struct profile *p, uint32_t pc, uint64_t rounds) {
    if (p->on) {
        p->code[pc / 2].count += rounds;
        p->code[pc / 2].cycles += rounds;
        p->code[pc / 2 + 1].count += rounds;
        p->code[pc / 2 + 1].cycles += 2 * rounds;
        p->counted += 3 * rounds;
    }
}

/* The chip was reset: all that ran has ended. */
static void profile_reset(struct profile *p, const avr_t *avr) {
    if (p->on) {
        shadow_end(&p->shadow, avr->cycle);
        shadow_begin(&p->shadow, 0, avr->ramend, avr->cycle);
    }
}

static void profile_end(struct profile *p, const avr_t *avr) {
    FILE *out = p->out;
    if (!p->on) {
        return;
    }
    p->on = 0;
    shadow_end(&p->shadow, avr->cycle);
    shadow_write(&p->shadow, out);
    for (uint32_t at = 0; at < p->words; at++) {
        if (p->code[at].count != 0) {
            fprintf(out, "{\"pc\":%" PRIu32 ",\"n\":%" PRIu64 ",\"c\":%" PRIu64 "}\n", 2 * at, p->code[at].count,
                    p->code[at].cycles);
        }
    }
}

#endif
