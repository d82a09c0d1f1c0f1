/* SPDX-License-Identifier: GPL-2.0-only -- part of arm.c, which links Unicorn.
 * arm_profile.h: reports to the shadow stack (shadow.h) what each block of Thumb code did, and counts how
 * often the instruction at every address ran. A block is a run of instructions without a branch inside, so a
 * call, a jump or a return shows as what the block before ended with and where the next begins.
 */
#ifndef MOTECRYPT_ARM_PROFILE_H
#define MOTECRYPT_ARM_PROFILE_H

#include <stdbool.h>

#include "arm_machine.h"
#include "shadow.h"
#include "shadow_stacks.h"

struct code_halfword {
    uint32_t function, entry; /* that it belongs to, that begins here: numbers of shadow_function; 0: none */
    uint64_t count, cycles;
};

struct code_map {
    uint32_t base, halfwords;
    struct code_halfword *code;
};

struct arm_profile {
    const char *path;
    FILE *out; /* open from the beginning: the sandbox opens nothing */
    int on;
    struct code_map maps[MEMORIES];
    unsigned map_count;
    struct shadow shadow;
};

static struct arm_profile arm_profile;

static struct code_map *map_of(struct arm_profile *p, uint32_t address) {
    for (unsigned i = 0; i < p->map_count; i++) {
        if ((address - p->maps[i].base) / 2 < p->maps[i].halfwords && address >= p->maps[i].base) {
            return &p->maps[i];
        }
    }
    return NULL;
}

static uint32_t function_of(struct arm_profile *p, uint32_t address) {
    const struct code_map *map = map_of(p, address);
    return map != NULL ? map->code[(address - map->base) / 2].function : 0;
}

static uint32_t entry_of(struct arm_profile *p, uint32_t address) {
    const struct code_map *map = map_of(p, address);
    return map != NULL ? map->code[(address - map->base) / 2].entry : 0;
}

/* The function at a call's target: one without a symbol gets a number when it is first called. */
static uint32_t called_function(struct arm_profile *p, uint32_t target) {
    struct code_map *map = map_of(p, target);
    uint32_t at;
    if (map == NULL) {
        return 0;
    }
    at = (target - map->base) / 2;
    if (map->code[at].entry == 0 && map->code[at].function == 0) {
        map->code[at].entry = map->code[at].function = shadow_add_function(&p->shadow, target, 0);
    }
    return map->code[at].function;
}

static bool arm_profile_open(struct machine *m, struct arm_profile *p, const char *functions) {
    if (shadow_open(&p->shadow, functions) != 0 || (p->out = fopen(p->path, "w")) == NULL) {
        return false;
    }
    for (unsigned i = 0; i < m->memory_count; i++) {
        struct code_map *map = &p->maps[p->map_count++];
        size_t halfwords = m->memories[i].bytes / 2;
        *map = (struct code_map){m->memories[i].base, (uint32_t)halfwords, calloc(halfwords, sizeof *map->code)};
        if (map->code == NULL) {
            return false;
        }
    }
    for (uint32_t i = 1; i < p->shadow.function_count; i++) {
        const struct shadow_function *f = &p->shadow.functions[i];
        struct code_map *map = map_of(p, f->start);
        if (map == NULL) {
            continue;
        }
        map->code[(f->start - map->base) / 2].function = i;
        for (uint32_t at = (f->start - map->base) / 2; at < map->halfwords && map->base + 2 * at < f->end; at++) {
            map->code[at].function = i; /* a symbol's size may be anything: no further than its memory */
        }
        map->code[(f->start - map->base) / 2].entry = i;
    }
    p->on = true;
    return true;
}

/* Core 0 continues with another stack pointer: an exception is taken from thread code with a stack of its own, or returns to it. */
static void arm_profile_stack(struct machine *m, uint32_t from, uint32_t to) {
    if (arm_profile.on && m->core == 0) {
        shadow_switch(&arm_profile.shadow, from, to, m->cycles);
    }
}

/* An exception is taken: its handler is at `target`; `caller_sp` is the stack pointer before its frame, `sp` below. */
static void arm_profile_interrupt(struct machine *m, uint32_t target, uint32_t caller_sp, uint32_t sp) {
    struct arm_profile *p = &arm_profile;
    if (p->on && m->core == 0) {
        shadow_interrupt(&p->shadow, called_function(p, target), caller_sp, sp, m->current->address, m->cycles);
    }
}

/* It returns: the frames of its handler end. */
static void arm_profile_leave(struct machine *m) {
    struct shadow *s = &arm_profile.shadow;
    if (!arm_profile.on || m->core != 0) {
        return;
    }
    while (s->depth > 0 && !s->frames[s->depth].is_interrupt) {
        shadow_pop(s, m->cycles);
    }
    if (s->depth > 0) {
        shadow_pop(s, m->cycles);
    }
}

/* A block gives its place to another one: what it counted goes to its instructions. */
static void arm_profile_flush(struct machine *m, struct block *block) {
    struct code_map *map = map_of(&arm_profile, block->address);
    struct walk walk = {.next = block->address};
    uint32_t last = block->address;
    while (map != NULL && block->runs != 0 && walk_on(m, block, &walk)) {
        if (map_of(&arm_profile, walk.at) != map) {
            break; /* a block over the end of one memory into the next */
        }
        map->code[(walk.at - map->base) / 2].count += block->runs;
        map->code[(walk.at - map->base) / 2].cycles += (uint64_t)block->runs * walk.cycles;
        last = walk.at;
    }
    if (map != NULL && block->runs != 0) {
        map->code[(last - map->base) / 2].cycles += (uint64_t)block->taken * block->extra;
    }
    block->runs = block->taken = 0;
}

/* What an access to a register of the chip costs beyond its instruction. */
static void arm_profile_bus(struct machine *m, uint32_t pc, int64_t cycles) {
    struct code_map *map = arm_profile.on ? map_of(&arm_profile, pc) : NULL;
    (void)m;
    if (map != NULL) {
        map->code[(pc - map->base) / 2].cycles += (uint64_t)cycles;
    }
}

static void arm_profile_jump(struct arm_profile *p, uint32_t from, uint32_t target, uint32_t sp,
                             uint64_t now) {
    uint32_t entry = entry_of(p, target);
    shadow_leave(&p->shadow, sp, now);
    if (entry != 0 && entry != function_of(p, from) && entry != p->shadow.frames[p->shadow.depth].function) {
        shadow_jump(&p->shadow, entry, sp, now);
    }
}

/* The block `before` has ended, and one begins at `target`, with the stack pointer at `sp`. */
static void arm_profile_step(const struct block *before, uint32_t target, uint32_t sp, uint64_t now) {
    struct arm_profile *p = &arm_profile;
    switch (before->last) {
    case BLOCK_CALLS:
        shadow_call(&p->shadow, called_function(p, target), sp, sp, before->next, now);
        break;
    case BLOCK_RETURNS:
        if (!shadow_return(&p->shadow, sp, target, now)) {
            arm_profile_jump(p, before->address, target, sp, now);
        }
        if (entry_of(p, target) == 0 &&
            function_of(p, target) != p->shadow.frames[p->shadow.depth].function) {
            shadow_land(&p->shadow, function_of(p, target), sp, now);
        }
        break;
    default:
        if (entry_of(p, target) != 0) {
            arm_profile_jump(p, before->address, target, sp, now);
        }
    }
}

static void arm_profile_end(struct machine *m, struct arm_profile *p) {
    FILE *out = p->out;
    if (!p->on) {
        return;
    }
    for (size_t i = 0; i < BLOCK_SLOTS; i++) {
        arm_profile_flush(m, &m->blocks[i]);
    }
    shadow_end(&p->shadow, m->cycles);
    shadow_write(&p->shadow, out);
    for (unsigned i = 0; i < p->map_count; i++) {
        for (uint32_t at = 0; at < p->maps[i].halfwords; at++) {
            if (p->maps[i].code[at].count != 0) {
                fprintf(out, "{\"pc\":%" PRIu32 ",\"n\":%" PRIu64 ",\"c\":%" PRIu64 "}\n",
                        p->maps[i].base + 2 * at, p->maps[i].code[at].count, p->maps[i].code[at].cycles);
            }
        }
    }
}

#endif
