/* SPDX-License-Identifier: MIT
 * shadow.h: a shadow call stack over a running firmware, and its totals: calls, cycles with and without
 * what was called, deepest stack, and the tree of callers. It does not depend on the processor: its caller
 * reports calls, jumps, interrupts and returns, each with the stack pointer and the time in cycles.
 *
 * A frame ends when the stack pointer passes what it was before the call: so it does not matter whether a
 * function returns, jumps to another one that returns for it (a tail call), or is left by longjmp. Cycles in
 * an interrupt count for its handler and for nobody that it interrupts; stack used there likewise.
 *
 * A firmware may have several stacks, as of tasks (shadow_stacks.h): each has its own frames, which wait while another one
 * is in use; cycles meanwhile count for nobody on it.
 */
#ifndef MOTECRYPT_SHADOW_H
#define MOTECRYPT_SHADOW_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bounds.h"
#include "shadow_time.h"

enum {
    SHADOW_FRAMES = 1 << 15,
    SHADOW_TREE_DEPTH = 200, /* below, recursion shares a node of the tree */
    SHADOW_NODES = 1 << 16,  /* once there are so many, a new caller shares the node that called it */
    SHADOW_SAMPLES = 1 << 15 /* durations kept for each function; beyond, every second one, and so on */
};

struct shadow_function {
    uint32_t start, end; /* addresses; end is 0 for one that has no symbol */
    uint32_t active;     /* frames open */
    uint64_t calls, inclusive, self;
    uint64_t inclusive_min, inclusive_max, self_min, self_max;
    uint32_t stack;
    bool is_first; /* it was the first on a stack: nobody's stack pointer before its call is known */
    uint64_t *samples; /* pairs: inclusive, self */
    uint32_t samples_used, samples_size, stride, skipped;
};

struct shadow_frame {
    uint32_t function, node;
    uint32_t caller_sp, least_sp, return_address;
    uint32_t own_sp; /* the deepest of its own code since its last call; least_sp: with what it calls */
    uint64_t start, self, interrupts; /* interrupts: cycles in all of them when the frame began */
    int is_interrupt;
};

struct shadow_node {
    uint32_t function, parent, child, sibling;
    uint64_t calls, self;
};

/* The frames of a stack that is not in use: since when, and the stack pointer that it continues with. */
struct shadow_kept {
    uint32_t sp, high, depth, size;
    uint64_t left, interrupts;
    struct shadow_frame *frames;
};

struct shadow {
    struct shadow_function *functions; /* [0]: code of no function */
    uint32_t function_count, function_size;
    struct shadow_node *nodes; /* [0]: the root */
    uint32_t node_count, node_size;
    uint32_t depth; /* index of the running frame */
    uint64_t since; /* when the running frame began to run, or resumed */
    uint64_t interrupts;
    uint64_t dropped;    /* calls that found no frame left */
    uint64_t shared;     /* calls that found no node left */
    uint32_t call_bytes; /* that a call itself puts on the stack */
    struct shadow_time time;
    uint32_t high; /* the highest stack pointer seen of the stack in use */
    struct shadow_kept *kept; /* other stacks */
    uint32_t kept_count, kept_size;
    bool has_several; /* there was another stack */
    struct shadow_frame frames[SHADOW_FRAMES];
};

static inline void *shadow_grow(void *old, uint32_t *size, uint32_t wanted, size_t element) {
    uint32_t next = *size ? *size : 64;
    void *grown;
    while (next < wanted) {
        next *= 2;
    }
    if (next == *size) {
        return old;
    }
    grown = realloc(old, next * element);
    if (grown == NULL) {
        fputs("no memory for the profile\n", stderr);
        exit(2);
    }
    *size = next;
    return grown;
}

/* Returns the number of a new function. */
static inline uint32_t shadow_add_function(struct shadow *s, uint32_t start, uint32_t end) {
    struct shadow_function *f;
    s->functions =
        shadow_grow(s->functions, &s->function_size, s->function_count + 1, sizeof(struct shadow_function));
    f = &s->functions[s->function_count];
    memset(f, 0, sizeof *f);
    f->start = start;
    f->end = end;
    f->stride = 1;
    f->inclusive_min = f->self_min = UINT64_MAX;
    return s->function_count++;
}

/* Functions from a file of lines "start end", hexadecimal, in order of their starts. Returns 0, or -1. */
static inline int shadow_open(struct shadow *s, const char *path) {
    FILE *file = fopen(path, "r");
    uint32_t start, end;
    if (file == NULL) {
        return -1;
    }
    shadow_add_function(s, 0, 0);
    while (fscanf(file, "%" SCNx32 " %" SCNx32, &start, &end) == 2) {
        shadow_add_function(s, start, end);
    }
    fclose(file);
    s->nodes = shadow_grow(NULL, &s->node_size, 1, sizeof(struct shadow_node));
    memset(s->nodes, 0, sizeof *s->nodes);
    s->node_count = 1;
    return 0;
}

static inline uint32_t shadow_child(struct shadow *s, uint32_t parent, uint32_t function) {
    uint32_t *link = &s->nodes[parent].child;
    for (uint32_t child = *link; child != 0; child = s->nodes[child].sibling) {
        if (s->nodes[child].function == function) {
            return child;
        }
    }
    if (s->node_count == SHADOW_NODES) {
        s->shared++;
        return parent != 0 ? parent : s->nodes[0].child;
    }
    s->nodes = shadow_grow(s->nodes, &s->node_size, s->node_count + 1, sizeof(struct shadow_node));
    s->nodes[s->node_count] = (struct shadow_node){function, parent, 0, s->nodes[parent].child, 0, 0};
    s->nodes[parent].child = s->node_count;
    return s->node_count++;
}

/* What has run since the last change of frames belongs to the running one. */
static inline void shadow_charge(struct shadow *s, uint64_t now) {
    struct shadow_frame *top = &s->frames[s->depth];
    top->self += now - s->since;
    s->nodes[top->node].self += now - s->since;
    shadow_time_span(&s->time, s->since, now, top->own_sp, top->function);
    s->since = now;
}

static inline void shadow_begin(struct shadow *s, uint32_t function, uint32_t sp, uint64_t now) {
    struct shadow_frame *root = s->frames;
    memset(root, 0, sizeof *root); /* its caller_sp of 0 means that it uses no stack */
    s->depth = 0;
    s->since = now;
    s->high = sp;
    root->function = function;
    root->least_sp = root->own_sp = sp;
    root->start = now;
    root->interrupts = s->interrupts;
    root->node = shadow_child(s, 0, function);
    s->nodes[root->node].calls++;
    s->functions[function].calls++;
    s->functions[function].active++;
}

static inline void shadow_push(struct shadow *s, uint32_t function, uint32_t caller_sp, uint32_t sp,
                               uint32_t return_address, uint64_t now, int is_interrupt) {
    struct shadow_frame *frame;
    uint32_t parent = s->frames[s->depth].node;
    shadow_charge(s, now);
    if (s->depth + 1 == SHADOW_FRAMES) {
        s->dropped++;
        return;
    }
    frame = &s->frames[++s->depth];
    frame->function = function;
    frame->node =
        s->depth < SHADOW_TREE_DEPTH || s->nodes[parent].function != function
            ? shadow_child(s, s->depth < SHADOW_TREE_DEPTH ? parent : s->nodes[parent].parent, function)
            : parent;
    frame->caller_sp = caller_sp;
    frame->least_sp = frame->own_sp = sp;
    frame->return_address = return_address;
    frame->start = now;
    frame->self = 0;
    frame->interrupts = s->interrupts;
    frame->is_interrupt = is_interrupt;
    s->nodes[frame->node].calls++;
    s->functions[function].calls++;
    s->functions[function].active++;
}

static inline void shadow_sample(struct shadow_function *f, uint64_t inclusive, uint64_t self) {
    if (++f->skipped < f->stride) {
        return;
    }
    f->skipped = 0;
    if (f->samples_used ==
        SHADOW_SAMPLES) { /* keep every second one, and take every second one from now on */
        for (uint32_t i = 1; i < SHADOW_SAMPLES / 2; i++) {
            memcpy(&f->samples[2 * i], &f->samples[4 * i], 2 * sizeof *f->samples);
        }
        f->samples_used = SHADOW_SAMPLES / 2;
        f->stride *= 2;
    }
    f->samples = shadow_grow(f->samples, &f->samples_size, f->samples_used + 1, 2 * sizeof *f->samples);
    f->samples[2 * f->samples_used] = inclusive;
    f->samples[2 * f->samples_used + 1] = self;
    f->samples_used++;
}

/* Adds an open or ending frame's cycles and stack to its function. */
static inline uint64_t shadow_count(struct shadow *s, const struct shadow_frame *frame, uint64_t now) {
    struct shadow_function *f = &s->functions[frame->function];
    uint64_t inclusive = now - frame->start - (s->interrupts - frame->interrupts);
    uint32_t stack = frame->caller_sp == UINT32_MAX ? 0 : frame->caller_sp - frame->least_sp;
    f->self += frame->self;
    f->active--;
    if (f->active == 0) { /* of a recursion, the outermost call: the inner ones are inside it */
        f->inclusive += inclusive;
    }
    if (stack > f->stack && frame->least_sp < frame->caller_sp) {
        f->stack = stack;
    }
    return inclusive;
}

/* The running frame's own code has the stack pointer at `sp`. */
static inline void shadow_stack(struct shadow *s, uint32_t sp) {
    struct shadow_frame *frame = &s->frames[s->depth];
    frame->least_sp = (uint32_t)least(frame->least_sp, sp);
    frame->own_sp = frame->own_sp == 0 ? sp : (uint32_t)least(frame->own_sp, sp); /* 0: not set yet */
}

/* A frame has ended: the one below runs on with the stack as it was before its call. */
static inline void shadow_resume(struct shadow *s, const struct shadow_frame *ended) {
    struct shadow_frame *frame = &s->frames[s->depth];
    if (!ended->is_interrupt) {
        frame->least_sp = (uint32_t)least(frame->least_sp, ended->least_sp);
    }
    if (ended->caller_sp != UINT32_MAX) {
        frame->own_sp = ended->caller_sp;
    }
}

static inline void shadow_pop(struct shadow *s, uint64_t now) {
    struct shadow_frame *frame = &s->frames[s->depth];
    struct shadow_function *f = &s->functions[frame->function];
    uint64_t inclusive;
    shadow_charge(s, now);
    inclusive = shadow_count(s, frame, now);
    f->inclusive_min = least(f->inclusive_min, inclusive);
    f->inclusive_max = most(f->inclusive_max, inclusive);
    f->self_min = least(f->self_min, frame->self);
    f->self_max = most(f->self_max, frame->self);
    shadow_sample(f, inclusive, frame->self);
    s->depth--;
    s->interrupts += frame->is_interrupt ? inclusive : 0;
    shadow_resume(s, frame);
}

/* Ends the frames that were left without a return (longjmp): `sp` is above what their calls put on the stack.
 */
static inline void shadow_leave(struct shadow *s, uint32_t sp, uint64_t now) {
    while (s->depth > 0 && s->frames[s->depth].caller_sp != UINT32_MAX &&
           s->frames[s->depth].caller_sp < sp + s->call_bytes) {
        shadow_pop(s, now);
    }
}

/* A call: `caller_sp` is the stack pointer before it, `sp` after it. */
static inline void shadow_call(struct shadow *s, uint32_t function, uint32_t caller_sp, uint32_t sp,
                               uint32_t return_address, uint64_t now) {
    s->high = (uint32_t)most(s->high, caller_sp);
    shadow_leave(s, caller_sp, now);
    shadow_push(s, function, caller_sp, sp, return_address, now, 0);
}

/* An interrupt: its cycles from `now` on are its own. */
static inline void shadow_interrupt(struct shadow *s, uint32_t function, uint32_t caller_sp, uint32_t sp,
                                    uint32_t return_address, uint64_t now) {
    shadow_push(s, function, caller_sp, sp, return_address, now, 1);
}

/* A jump to the first instruction of another function: it runs in the place of the one that jumps, which
 * stays open around it, so that what a function costs does not depend on how it ends. */
static inline void shadow_jump(struct shadow *s, uint32_t function, uint32_t sp, uint64_t now) {
    struct shadow_frame *top;
    shadow_leave(s, sp, now);
    top = &s->frames[s->depth];
    if (top->is_interrupt && top->function == 0) { /* the vector's jump: the handler is the interrupt */
        uint32_t node = shadow_child(s, s->frames[s->depth - 1].node, function);
        shadow_charge(s, now);
        s->nodes[node].calls++;
        s->nodes[node].self += top->self;
        s->nodes[top->node].calls--;
        s->nodes[top->node].self -= top->self;
        s->functions[0].calls--;
        s->functions[0].active--;
        s->functions[function].calls++;
        s->functions[function].active++;
        top->node = node;
        top->function = function;
        return;
    }
    for (uint32_t i = s->depth; i > 0 && s->frames[i].caller_sp == top->caller_sp &&
                                s->frames[i].return_address == top->return_address;
         i--) {
        if (s->frames[i].function == function) { /* functions that jump to each other in turn: no tower */
            struct shadow_frame first = s->frames[i];
            while (s->depth >= i) {
                shadow_pop(s, now);
            }
            shadow_push(s, function, first.caller_sp, sp, first.return_address, now, first.is_interrupt);
            return;
        }
    }
    if (s->depth == 0) { /* start-up code runs into the next: the root has no caller */
        shadow_push(s, function, UINT32_MAX, sp, 0, now, 0);
        s->functions[function].is_first = true;
        return;
    }
    shadow_push(s, function, top->caller_sp, sp, top->return_address, now, 0);
}

/* A return, or what may be one: `sp` after it, `target` where it leads. Returns 1 when a frame ended. */
static inline int shadow_return(struct shadow *s, uint32_t sp, uint32_t target, uint64_t now) {
    int ended = 0;
    s->high = (uint32_t)most(s->high, sp);
    while (s->depth > 0 && s->frames[s->depth].caller_sp != UINT32_MAX &&
           (s->frames[s->depth].caller_sp < sp ||
            (s->frames[s->depth].caller_sp == sp && s->frames[s->depth].return_address == target))) {
        shadow_pop(s, now);
        ended = true;
    }
    return ended;
}

/* Control has come, not by a call or return, into the middle of `function`. When that is open below others
 * whose calls left the stack where it is now, they were left by longjmp. (Where a call puts nothing on the
 * stack, the stack pointer alone does not show it.) */
static inline void shadow_land(struct shadow *s, uint32_t function, uint32_t sp, uint64_t now) {
    uint32_t at = s->depth;
    while (at > 0 && s->frames[at].function != function && s->frames[at].caller_sp <= sp) {
        at--;
    }
    if (function != 0 && s->frames[at].function == function) {
        while (s->depth > at) {
            shadow_pop(s, now);
        }
    }
}

/* What is open on the stack in use counts as far as it has come, without a duration. */
static inline void shadow_end_frames(struct shadow *s, uint64_t now) {
    for (;;) {
        struct shadow_frame *frame = &s->frames[s->depth];
        uint64_t inclusive = shadow_count(s, frame, now);
        if (s->depth == 0) {
            return;
        }
        s->depth--;
        s->interrupts += frame->is_interrupt ? inclusive : 0;
        shadow_resume(s, frame);
    }
}

/* A kept stack is in use again. Its time did not pass meanwhile. */
static inline void shadow_take(struct shadow *s, struct shadow_kept *kept, uint64_t now) {
    uint64_t away = now - kept->left, interrupts = s->interrupts - kept->interrupts;
    s->depth = kept->depth;
    s->high = kept->high;
    s->since = now;
    for (uint32_t i = 0; i <= kept->depth; i++) {
        s->frames[i] = kept->frames[i];
        s->frames[i].start += away;
        s->frames[i].interrupts += interrupts;
        s->functions[s->frames[i].function].active++;
    }
}

/* Everything ends (a reset, or the run). */
static inline void shadow_end(struct shadow *s, uint64_t now) {
    shadow_charge(s, now);
    shadow_end_frames(s, now);
    for (uint32_t i = 0; i < s->kept_count; i++) {
        shadow_take(s, &s->kept[i], now);
        shadow_end_frames(s, now);
    }
    s->kept_count = 0;
}

static inline int shadow_compare(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static inline uint64_t shadow_median(const struct shadow_function *f, unsigned which) {
    uint64_t *sorted = malloc(sizeof *sorted * f->samples_used);
    uint64_t median;
    if (sorted == NULL) {
        return 0;
    }
    for (uint32_t i = 0; i < f->samples_used; i++) {
        sorted[i] = f->samples[2 * i + which];
    }
    qsort(sorted, f->samples_used, sizeof *sorted, shadow_compare);
    median = sorted[(f->samples_used - 1) / 2];
    free(sorted);
    return median;
}

/* One JSON object a line: whether there were several stacks, what was left out, functions that ran, nodes of the tree, the stack over time. */
static inline void shadow_write(const struct shadow *s, FILE *out) {
    if (s->has_several) {
        fputs("{\"several_stacks\":true}\n", out);
    }
    if (s->dropped != 0 || s->shared != 0) {
        fprintf(out, "{\"dropped\":%" PRIu64 ",\"shared\":%" PRIu64 "}\n", s->dropped, s->shared);
    }
    for (uint32_t i = 0; i < s->function_count; i++) {
        const struct shadow_function *f = &s->functions[i];
        if (f->calls == 0) {
            continue;
        }
        fprintf(out,
                "{\"function\":%" PRIu32 ",\"start\":%" PRIu32 ",\"calls\":%" PRIu64 ",\"inclusive\":%" PRIu64
                ",\"self\":%" PRIu64 ",\"stack\":",
                i, f->start, f->calls, f->inclusive, f->self);
        if (s->has_several && f->is_first) {
            fputs("null", out);
        } else {
            fprintf(out, "%" PRIu32, f->stack);
        }
        if (f->samples_used != 0) {
            fprintf(out,
                    ",\"inclusive_range\":[%" PRIu64 ",%" PRIu64 ",%" PRIu64 "],\"self_range\":[%" PRIu64
                    ",%" PRIu64 ",%" PRIu64 "],\"every\":%" PRIu32,
                    f->inclusive_min, shadow_median(f, 0), f->inclusive_max, f->self_min, shadow_median(f, 1),
                    f->self_max, f->stride);
        }
        fputs("}\n", out);
    }
    for (uint32_t i = 1; i < s->node_count; i++) {
        const struct shadow_node *node = &s->nodes[i];
        fprintf(out,
                "{\"node\":%" PRIu32 ",\"parent\":%" PRIu32 ",\"of\":%" PRIu32 ",\"calls\":%" PRIu64
                ",\"self\":%" PRIu64 "}\n",
                i, node->parent, node->function, node->calls, node->self);
    }
    if (!s->has_several) { /* they have no common depth */
        shadow_time_write(&s->time, out);
    }
}

#endif
