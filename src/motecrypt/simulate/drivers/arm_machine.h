/* SPDX-License-Identifier: GPL-2.0-only -- part of arm.c, which links Unicorn.
 * arm_machine.h: the machine that arm.c runs, and how its cycles are counted. It contains no chip registers
 * and no command line options.
 */
#ifndef MOTECRYPT_ARM_MACHINE_H
#define MOTECRYPT_ARM_MACHINE_H

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <unicorn/unicorn.h>

#include "arm_cache.h"
#include "arm_chip.h"
#include "arm_flash.h"
#include "arm_m33.h"
#include "arm_nor.h"
#include "arm_pipe.h"
#include "arm_pipeline.h"
#include "arm_sd.h"
#include "bounds.h"

enum { FLASH_WINDOW = 0x1000000 /* from the flash's base on: what a cache serves (RP2040 datasheet, 2.6.3) */ };
enum { BLOCK_SLOTS = 1 << 15, GIVEN_MEMORIES = 4, MEMORIES = 10, ACCESSES_A_BLOCK = 64 };
enum { COSTS = (int)M33_COST_COUNT > (int)THUMB_CLASS_COUNT ? (int)M33_COST_COUNT : (int)THUMB_CLASS_COUNT };

/* A run of instructions without a branch inside, as Unicorn translates it; on a cache line of its own. */
struct block {
    __attribute__((aligned(64))) uint32_t address;
    uint32_t bytes;
    uint32_t cycles, instructions;
    uint32_t next;  /* address after the block */
    uint32_t extra; /* cycles more when the block that runs next is another one: a taken branch */
    /* used by --free and by profiles */
    uint64_t runs, taken;
    uint32_t stack_bytes; /* that the block pushes, at its deepest */
    int32_t stack_left;   /* and of these has not popped at its end */
    uint8_t last;         /* enum block_last */
    uint8_t moves_sp;     /* in a way that stack_bytes does not cover */
    uint8_t is_empty_loop;
    uint8_t waits;       /* enum block_waits */
    uint8_t sends_event;
    uint8_t unmasks; /* it may end with interrupts on that were off */
    uint32_t event_left; /* cycles from the end of its last SEV to its own */
    /* of a core with a pipeline model (arm_mainline.h) */
    uint8_t last_bytes;   /* of its last instruction */
    uint8_t always_taken; /* it ends with a branch that has no condition */
    uint8_t runs_on;      /* it ends without a branch: the engine cut the code here */
    uint8_t splits;       /* it begins with a 32-bit instruction in two words */
    uint8_t split_extra;  /* cycles more, on top of `extra`, where the next one does */
    uint8_t joined_known;
    int16_t joined; /* cycles more when the one before it runs on into it */
    uint32_t plain_bytes; /* bytes, if a free run has nothing to do for it but to count its cycles; or 0 */
};

enum block_waits { WAITS_UNKNOWN, WAITS, WAITS_NOT };
enum block_last { BLOCK_RUNS_ON, BLOCK_CALLS, BLOCK_RETURNS };

struct memory {
    uint32_t base, bytes;
    uint8_t *data;
};

/* The access to a chip's register that is being served. */
struct access {
    uint32_t address;
    int is_write;
    uint32_t turn; /* the how manyth of its kind in this run of the block, from 1 */
    uint64_t run;  /* instructions counted with that run: names it */
    uint32_t served[ACCESSES_A_BLOCK], served_count; /* in this run */
};

#define NEVER UINT64_MAX /* a time */

/* A block with SEV began, whose event is sent when the next one begins: what it waits for is known then. */
struct event {
    bool is_due;
    uint32_t left, next, extra; /* as of the block */
};

/* What each core has for itself. The members of struct machine of the same names are those of the core that runs now;
 * what another core has is kept here meanwhile (arm_cores.h). */
struct core {
    uc_engine *uc; /* NULL: it has never left the boot ROM */
    uint64_t cycles, instructions, misses;
    struct block *current;
    struct block before;
    struct access access;
    struct event event;
    uint64_t attend_at;
    uint32_t sp, deepest_sp;
    int sp_may_move;
    uint64_t pending;      /* it will touch nothing that both share before this time; NEVER: it sleeps, or is not there */
    uint64_t events[2];    /* times at which its event register was set, first and last, since it was last clear */
    jmp_buf resume;
    bool is_called;       /* an interrupt of its own is pending, made while the other core ran: it looks */
    bool begins_anew;     /* its reset has ended */
    bool sleeps, waits_for_event; /* in WFE or WFI; in WFE */
    int wakes_above;       /* while it sleeps: exceptions more urgent than this wake it */
    bool is_resumable;
    uint64_t until; /* the engine runs up to there: an interrupt comes inside a block; UINT32_MAX: to no address */
    bool stopped;   /* before the block at `at`, to take an exception or to run only a part of it */
    uint32_t at;
};

/* Where the firmware's code runs, and its bytes in the file. */
struct code_range {
    uint32_t begin, bytes;
    const uint8_t *data;
};

struct machine {
    uint64_t cycles, instructions;
    uint64_t deadline;                                   /* in core cycles: the slice's end, or another core's turn */
    uint64_t slice;                                      /* the end of a slice of time, in core cycles */
    void (*at_deadline)(struct machine *m, uint32_t at); /* at a slice's end; NULL: a fault */
    uint64_t (*wakes_at)(struct machine *m, bool for_event); /* when an exception wakes the running core, or NEVER; NULL: never */
    void (*give_way)(struct machine *m);     /* to the other core, if it is its turn (arm_cores.h) */
    void (*attend)(struct machine *m);       /* to the chip's events and the core's exceptions (arm_exception.h), or NULL */
    bool (*goes_on)(struct machine *m, uc_err error); /* whether the running core continues at cores[].at; or NULL */
    void (*wakes)(struct machine *m, uint32_t pc);    /* the running core has slept, and continues there; or NULL */
    bool (*coprocessor)(struct machine *m, uint32_t pc); /* an instruction for one: false if it is not modelled */
    void (*svc)(struct machine *m, uint32_t pc);      /* the running core has called its supervisor; it continues there
                                                        * after that */
    uint64_t event_at; /* the chip's next event, in cycles of the board; 0: unknown */
    bool (*ignores)(struct machine *m, uint32_t address); /* a write of this protected memory, which changes nothing; or NULL */
    uint64_t looks_at; /* the time, while no access is being served but events are; or 0 */
    void (*flash_waited)(struct machine *m, uint32_t pc); /* misses have delayed the instruction there; or NULL */
    uint64_t misses_seen; /* those that event_at's deadline allows for */
    uint64_t interrupts; /* taken */
    uint64_t attend_at; /* of a free run: the next block from this cycle on is not only counted; 0: sp is unknown */
    uint32_t sp;        /* of a free run: at the beginning of the next block */
    struct event event;
    bool by_access; /* each access to memory gives way to the other core (arm_bus.h), so that blocks need not */
    unsigned core;  /* that runs */
    struct core cores[SIO_CORES];
    void (*evict)(struct machine *m, struct block *); /* before a block gives its place to another; or NULL */
    struct block *current;
    struct block before; /* the current one, where another has its place */
    struct block blocks[BLOCK_SLOTS];
    uc_engine *uc;
    struct memory memories[MEMORIES];
    unsigned memory_count;
    uint32_t cost[COSTS]; /* of ARMv6-M: by enum thumb_class; with a pipeline model: by enum pipeline_cost */
    bool has_pipeline;
    bool is_m33; /* which of the two pipeline models */
    int cpu;     /* Unicorn's number of the core's model */
    uint32_t bus_read_extra, bus_write_extra, io_port_saves; /* cycles on top of the instruction's own */
    uint64_t max_cycles;                                     /* per request */
    int cache_on, cache_cold, trace;
    uint32_t miss_cycles;
    uint32_t flash_base, vectors, stack_limit, mark, simulated;
    struct cache cache;
    struct flash flash; /* with wait states (arm_fetch.h) */
    uint32_t (*waits_ahead)(const struct machine *m, uint32_t pc); /* or NULL: it never waits */
    struct nor nor;
    struct sd sd;
    struct access access;
    struct chip chip;
    int polling; /* the access now served repeats the one before: nothing came between */
    void (*spent)(struct machine *m, uint32_t pc, int64_t cycles); /* beyond a block's own cycles; or NULL */
    struct pipe pipe;
    FILE *dump;
    struct code_range code[8];
    unsigned code_count;
    struct code_range ram_code[8]; /* whole pages of RAM from which code may run */
    unsigned ram_code_count;
    /* the timed region */
    int in_region;
    uint64_t begin_cycles, begin_instructions, begin_misses;
    uint32_t begin_sp, deepest_sp, label;
    struct nor begin_nor;
    struct sd begin_sd;
    int sp_may_move;
    uint64_t digest;
    /* how it ended; NULL while it runs */
    const char *ending;     /* "end" or "fault" */
    const char *fault_kind; /* "stack", "silent" or "flood"; NULL: another fault */
    uint32_t fault_sp;      /* the stack pointer at a "stack" fault */
    char *detail;
};

static inline uint32_t register_value(const struct machine *m, int id) {
    uint32_t value = 0;
    uc_reg_read(m->uc, id, &value);
    return value;
}

/* Ends the run; the first reason counts. */
static void finish(struct machine *m, const char *kind, const char *format, ...) {
    va_list arguments;
    int unused;
    if (m->ending != NULL) {
        return;
    }
    m->ending = kind;
    va_start(arguments, format);
    unused = vasprintf(&m->detail, format, arguments);
    va_end(arguments);
    if (m->core != 0 && unused >= 0) {
        char *detail = m->detail;
        unused = asprintf(&m->detail, "core %u: %s", m->core, detail);
        free(detail);
    }
    (void)unused;
    uc_emu_stop(m->uc);
}

/* The time of the core that runs: its own cycles and those it waits for the flash. */
static inline uint64_t core_time(const struct machine *m) {
    return m->cycles + m->cache.misses * m->miss_cycles;
}

static inline struct core *other_core(struct machine *m) {
    return &m->cores[1 - m->core];
}

static inline bool other_runs(const struct machine *m) {
    return m->cores[1 - m->core].pending != NEVER;
}

/* Whether rounds of a loop may be counted in one step up to the deadline: what orders accesses by cycles sets none for
 * the other core's turn. */
static inline bool may_skip(struct machine *m) {
    return !m->by_access || !other_runs(m);
}

/* Hooks on blocks look up at the end of the slice, or as soon as it is the other core's turn. */
static inline void set_deadline(struct machine *m) {
    uint64_t turn = m->by_access ? NEVER : other_core(m)->pending, waited = m->cache.misses * m->miss_cycles;
    uint64_t next = least(m->attend != NULL ? m->event_at : NEVER, turn == NEVER ? NEVER : turn + 1);
    m->deadline = next < m->slice + waited ? next - least(waited, next) : m->slice;
    m->deadline = m->event.is_due ? 1 : m->deadline;
    if (m->attend_at != 0) {
        m->attend_at = m->deadline;
    }
}

static inline void set_slice(struct machine *m, uint64_t cycles) {
    m->slice = m->cycles + cycles;
    set_deadline(m);
}

/* SEV: both cores' event registers are set at a time. */
static void send_event(struct machine *m, uint64_t at) {
    for (unsigned i = 0; i < SIO_CORES; i++) {
        uint64_t *events = m->cores[i].events;
        events[1] = at;
        events[0] = events[0] == NEVER ? at : events[0];
    }
    if (other_core(m)->waits_for_event) {
        other_core(m)->pending = least(other_core(m)->pending, at);
        set_deadline(m);
    }
}

/* At the beginning of the block at `next`, which has been counted already with its cycles. */
static void send_due_event(struct machine *m, uint32_t next, uint32_t ahead_cycles) {
    const struct event *event = &m->event;
    uint32_t after = event->left + (event->next != next ? event->extra : 0);
    m->event.is_due = false;
    set_deadline(m);
    send_event(m, core_time(m) - ahead_cycles - after);
}

/* The kind of fault that the next `finish` reports, for readers that act on it. */
static void fault_is(struct machine *m, const char *kind) {
    if (m->ending == NULL) {
        m->fault_kind = kind;
    }
}

/* The stack left its memory. An access may show it before the stack pointer, `sp`, is below the limit. */
static void stack_fault(struct machine *m, uint32_t sp) {
    if (m->ending == NULL) {
        m->fault_sp = sp;
    }
    fault_is(m, "stack");
}

static inline uint8_t *host_pointer(const struct machine *m, uint32_t address, uint32_t bytes) {
    for (unsigned i = 0; i < m->memory_count; i++) {
        const struct memory *memory = &m->memories[i];
        if (address - memory->base < memory->bytes && memory->bytes - (address - memory->base) >= bytes) {
            return memory->data + (address - memory->base);
        }
    }
    return NULL;
}

static inline uint16_t code_at(const struct machine *m, uint32_t address) {
    const uint8_t *code = host_pointer(m, address, sizeof(uint16_t));
    return (uint16_t)(code ? code[0] | code[1] << 8 : 0);
}

static inline struct thumb_instruction instruction_at(const struct machine *m, uint32_t address) {
    return thumb_decode(code_at(m, address), code_at(m, address + 2));
}

/* Bytes by which the instruction lowers the stack pointer: PUSH, SUB SP (DDI 0419, A5.2.5); below 0: raises.
 */
static inline int32_t stack_bytes_of(uint16_t code, const struct thumb_instruction *instruction) {
    if (instruction->bytes == 4) {
        return 0;
    }
    switch (instruction->class) {
    case THUMB_push:
        return 4 * instruction->registers;
    case THUMB_pop:
    case THUMB_pop_pc:
        return -4 * instruction->registers;
    default:
        return (code & 0xFF80u) == 0xB080u   ? (code & 0x7F) * 4
               : (code & 0xFF80u) == 0xB000u ? -(code & 0x7F) * 4
                                             : 0;
    }
}

static inline uint8_t last_of(uint16_t code, const struct thumb_instruction *instruction) {
    switch (instruction->class) {
    case THUMB_branch_link:
        return BLOCK_CALLS;
    case THUMB_branch_exchange:
        return code & 0x80u ? BLOCK_CALLS : BLOCK_RETURNS; /* BLX, BX */
    case THUMB_pop_pc:
    case THUMB_write_pc:
    case THUMB2_load_pc:
        return BLOCK_RETURNS;
    default:
        return BLOCK_RUNS_ON;
    }
}

/* A walk through a block's instructions, with the cycles of each. Begin with `next` at the block's address. */
struct walk {
    uint32_t at, next, cycles;
    uint16_t code;
    struct thumb_instruction instruction;
    struct thumb_access access;
    struct pipeline_step step; /* with a pipeline model */
    struct pipeline pipeline;
};

/* The next instruction of a core with a pipeline model. */
static inline struct pipeline_step next_step(const struct machine *m, uint16_t code, uint16_t following,
                                             struct pipeline *state) {
    return m->is_m33 ? m33_next(code, following, state, m->cost) : pipeline_next(code, following, state, m->cost);
}

/* False after the last instruction. */
static inline bool walk_on(const struct machine *m, const struct block *block, struct walk *walk) {
    uint16_t following;
    if (walk->next >= block->next) {
        return false;
    }
    walk->at = walk->next;
    walk->code = code_at(m, walk->at);
    following = code_at(m, walk->at + 2);
    if (m->has_pipeline) {
        walk->step = next_step(m, walk->code, following, &walk->pipeline);
        walk->instruction = walk->step.instruction.common;
        walk->access = walk->step.instruction.access;
        walk->cycles = walk->step.cycles;
    } else {
        walk->instruction = thumb_decode(walk->code, following);
        walk->access = thumb_access(walk->code, &walk->instruction);
        walk->cycles = thumb_cycles(&walk->instruction, m->cost);
    }
    walk->next += walk->instruction.bytes;
    return true;
}

/* Ends the run at an instruction that the core lacks. */
static void end_undefined(struct machine *m, uint32_t pc) {
    const char *name = thumb2_only_name(code_at(m, pc), code_at(m, pc + 2));
    finish(m, "fault", "undefined instruction%s%s%s at 0x%" PRIx32 ", return address 0x%" PRIx32,
           name != NULL ? " (" : "", name != NULL ? name : "", name != NULL ? ")" : "", pc,
           register_value(m, UC_ARM_REG_LR));
}

/* Ends the run before instructions that Unicorn executes, though the core lacks them: CBZ, CBNZ and IT of 16 bits on
 * ARMv6-M, some of the DSP extension on Cortex-M3; or though the unit for them is not modelled here. */
static void refuse(struct machine *m, const struct walk *walk) {
    if (!m->has_pipeline && walk->instruction.bytes == 2 && thumb2_only_name(walk->code, 0) != NULL) {
        end_undefined(m, walk->at);
    } else if (m->cpu == UC_CPU_ARM_CORTEX_M3 && walk->instruction.bytes == 4 &&
               thumb2_needs_dsp(walk->code, code_at(m, walk->at + 2))) {
        end_undefined(m, walk->at);
    } else if (m->has_pipeline && walk->instruction.class == THUMB2_float && m->attend == NULL) {
        finish(m, "fault",
               "floating-point or coprocessor instruction at 0x%" PRIx32
               ": that unit is not modelled; compile with -mfloat-abi=soft",
               walk->at);
    }
}

static inline uint32_t taken_cycles(const struct machine *m, const struct walk *walk) {
    return m->has_pipeline                               ? walk->step.taken_cycles
           : walk->instruction.class == THUMB_branch_if ? m->cost[THUMB_branch_if_taken]
                                                         : 0;
}

static void measure_block(struct machine *m, struct block *block, uint32_t address, uint32_t bytes) {
    struct walk walk = {.next = address};
    int32_t depth = 0, deepest = 0;
    uint32_t event_at = 0;
    if (m->evict != NULL) {
        m->evict(m, block);
    }
    *block = (struct block){.address = address, .bytes = bytes, .next = address + bytes};
    while (walk_on(m, block, &walk)) {
        int32_t pushed = stack_bytes_of(walk.code, &walk.instruction);
        refuse(m, &walk);
        block->cycles += walk.cycles;
        block->instructions++;
        depth += pushed;
        deepest = depth > deepest ? depth : deepest;
        block->moves_sp |= (walk.instruction.writes_sp && pushed == 0) || walk.instruction.class == THUMB2_float; /* VPUSH */
        block->last = last_of(walk.code, &walk.instruction);
        if (walk.code == 0xBF40u && walk.instruction.bytes == 2) { /* SEV */
            block->sends_event = true;
            event_at = block->cycles;
        }
        block->unmasks = thumb_unmasks(walk.code, code_at(m, walk.at + 2)); /* the engine ends a block there */
        block->is_empty_loop = bytes == 2 && walk.code == 0xE7FEu; /* B to itself */
        block->extra = taken_cycles(m, &walk);
        block->split_extra = (uint8_t)walk.step.split_cycles;
        block->always_taken = walk.step.always_taken;
        block->runs_on = m->has_pipeline && !walk.step.is_branch;
        block->last_bytes = walk.instruction.bytes;
    }
    block->stack_bytes = (uint32_t)deepest;
    block->stack_left = depth;
    block->event_left = block->cycles - event_at;
    block->plain_bytes = deepest != 0 || depth != 0 || block->moves_sp || block->is_empty_loop || block->unmasks ? 0 : bytes;
    if (block->sends_event) {
        block->plain_bytes = 0;
        block->bytes |= 1u; /* no block's: each run is measured again, and has its event sent */
    }
}

/* Before a block gives its place to another: it may be the other core's current one. */
static inline void keep_other_current(struct machine *m, const struct block *block) {
    struct core *other = other_core(m);
    if (other->current == block) {
        other->before = *block;
        other->current = &other->before;
    }
}

/* The block at an address, or another whose place it is going to take. */
static inline struct block *block_at(struct machine *m, uint32_t address) {
    return &m->blocks[(address >> 1) & (BLOCK_SLOTS - 1)];
}

/* What the current block costs more if the one at `address` runs next. */
static inline uint32_t taken_branch(const struct machine *m, uint32_t address) {
    return m->current->next != address ? m->current->extra : 0;
}

static inline void count_block(struct machine *m, struct block *block, uint32_t taken) {
    m->current = block;
    m->instructions += block->instructions;
    m->cycles += taken + (uint64_t)block->cycles;
}

/* Counts a number of rounds of the current block, a loop, each of `round` cycles. */
static inline void skip_rounds(struct machine *m, uint64_t rounds, uint64_t round) {
    m->cycles += rounds * round;
    m->instructions += rounds * m->current->instructions;
    m->current->runs += rounds;
    m->current->taken += rounds;
}

/* Rare cases are separate functions, called last, so that the hooks on blocks save no registers. */
static __attribute__((noinline)) void meet_deadline(struct machine *m, uint32_t address) {
    bool in_slice;
    if (m->event.is_due) {
        send_due_event(m, address, m->current->cycles);
    }
    in_slice = m->cycles < m->slice;
    if (in_slice && other_runs(m) && !m->by_access) {
        m->give_way(m);
    }
    if (m->attend != NULL && m->ending == NULL && core_time(m) >= m->event_at && !m->cores[m->core].sleeps) {
        m->attend(m);
    }
    if (in_slice) {
        return;
    }
    if (m->at_deadline != NULL) {
        m->at_deadline(m, address);
    } else {
        fault_is(m, "silent");
        finish(m, "fault", "no answer within %llu cycles: the firmware is at 0x%x",
               (unsigned long long)m->max_cycles, address);
    }
}

/* The block that has begun may send an event; it is not always the one that was counted (the other core ran). */
static inline void expect_event(struct machine *m) {
    const struct block *block = m->current;
    if (block->sends_event) {
        m->event = (struct event){true, block->event_left, block->next, block->extra};
        m->deadline = 1;
        m->attend_at = m->attend_at != 0;
    }
}

static __attribute__((noinline)) void begin_new_block(struct machine *m, uint32_t address, uint32_t bytes) {
    struct block *block = block_at(m, address);
    uint32_t taken = taken_branch(m, address); /* before the current block may give its place to this one */
    keep_other_current(m, block);
    measure_block(m, block, address, bytes);
    count_block(m, block, taken);
    if (m->cycles >= m->deadline) {
        meet_deadline(m, address);
    }
    expect_event(m);
}

/* The one hook of the fast mode: every block's cost is added when it begins. A part of the hooks of free runs, which
 * a call for each block would slow down. */
static inline __attribute__((always_inline)) void on_block(uc_engine *uc, uint64_t address64, uint32_t bytes,
                                                           void *user) {
    struct machine *m = user;
    uint32_t address = (uint32_t)address64;
    struct block *block = block_at(m, address);
    (void)uc;
    if (block->address != address || block->bytes != bytes) {
        begin_new_block(m, address, bytes);
        return;
    }
    count_block(m, block, taken_branch(m, address));
    if (m->cycles >= m->deadline) {
        meet_deadline(m, address);
    }
}

#endif
