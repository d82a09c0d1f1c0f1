/* SPDX-License-Identifier: GPL-2.0-only -- part of arm.c, which links Unicorn.
 * arm_machine.h: the machine that arm.c runs, and how its cycles are counted. It contains no chip registers
 * and no command line options.
 */
#ifndef MOTECRYPT_ARM_MACHINE_H
#define MOTECRYPT_ARM_MACHINE_H

#include <inttypes.h>
#include <stdarg.h>
#include <unicorn/unicorn.h>

#include "arm_cache.h"
#include "arm_chip.h"
#include "arm_nor.h"
#include "arm_pipe.h"
#include "arm_pipeline.h"
#include "arm_sd.h"

enum { BLOCK_SLOTS = 1 << 15, MEMORIES = 4, ACCESSES_A_BLOCK = 64 };
enum { COSTS = (int)PIPELINE_COST_COUNT > (int)THUMB_CLASS_COUNT ? (int)PIPELINE_COST_COUNT : (int)THUMB_CLASS_COUNT };

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
    uint8_t needs_look; /* of a free run: any of these four is not 0 */
    uint8_t waits;      /* enum block_waits */
    /* of a core with a pipeline model (arm_mainline.h) */
    uint8_t last_bytes;   /* of its last instruction */
    uint8_t always_taken; /* it ends with a branch that has no condition */
    uint8_t runs_on;      /* it ends without a branch: the engine cut the code here */
    uint8_t splits;       /* it begins with a 32-bit instruction in two words */
    uint8_t joined_known;
    int16_t joined; /* cycles more when the one before it runs on into it */
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

/* Where the firmware's code runs, and its bytes in the file. */
struct code_range {
    uint32_t begin, bytes;
    const uint8_t *data;
};

struct machine {
    uint64_t cycles, instructions;
    uint64_t deadline;                                   /* in core cycles */
    void (*at_deadline)(struct machine *m, uint32_t at); /* NULL: a fault */
    void (*evict)(struct machine *m, struct block *); /* before a block gives its place to another; or NULL */
    struct block *current;
    struct block before; /* the current one, where another has its place */
    struct block blocks[BLOCK_SLOTS];
    uc_engine *uc;
    struct memory memories[MEMORIES];
    unsigned memory_count;
    uint32_t cost[COSTS]; /* of ARMv6-M: by enum thumb_class; with a pipeline model: by enum pipeline_cost */
    bool has_pipeline;
    uint32_t bus_read_extra, bus_write_extra, io_port_saves; /* cycles on top of the instruction's own */
    uint64_t max_cycles;                                     /* per request */
    int cache_on, cache_cold, trace;
    uint32_t miss_cycles;
    uint32_t flash_base, vectors, stack_limit, mark, simulated;
    struct cache cache;
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
    (void)unused;
    uc_emu_stop(m->uc);
}

/* The kind of fault that the next `finish` reports, for readers that act on it. */
static void fault_is(struct machine *m, const char *kind) {
    if (m->ending == NULL) {
        m->fault_kind = kind;
    }
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
        walk->step = pipeline_next(walk->code, following, &walk->pipeline, m->cost);
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
 * ARMv6-M; or though the unit for them is not modelled here. */
static void refuse(struct machine *m, const struct walk *walk) {
    if (!m->has_pipeline && walk->instruction.bytes == 2 && thumb2_only_name(walk->code, 0) != NULL) {
        end_undefined(m, walk->at);
    } else if (m->has_pipeline && walk->instruction.class == THUMB2_float) {
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
        block->moves_sp |= walk.instruction.writes_sp && pushed == 0;
        block->last = last_of(walk.code, &walk.instruction);
        block->is_empty_loop = bytes == 2 && walk.code == 0xE7FEu; /* B to itself */
        block->extra = taken_cycles(m, &walk);
        block->always_taken = walk.step.always_taken;
        block->runs_on = m->has_pipeline && !walk.step.is_branch;
        block->last_bytes = walk.instruction.bytes;
    }
    block->stack_bytes = (uint32_t)deepest;
    block->stack_left = depth;
    block->needs_look = deepest != 0 || depth != 0 || block->moves_sp || block->is_empty_loop;
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
    if (m->at_deadline != NULL) {
        m->at_deadline(m, address);
    } else {
        fault_is(m, "silent");
        finish(m, "fault", "no answer within %llu cycles: the firmware is at 0x%x",
               (unsigned long long)m->max_cycles, address);
    }
}

static __attribute__((noinline)) void begin_new_block(struct machine *m, uint32_t address, uint32_t bytes) {
    struct block *block = block_at(m, address);
    uint32_t taken = taken_branch(m, address); /* before the current block may give its place to this one */
    measure_block(m, block, address, bytes);
    count_block(m, block, taken);
    if (m->cycles >= m->deadline) {
        meet_deadline(m, address);
    }
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

static const int register_ids[] = {UC_ARM_REG_R0, UC_ARM_REG_R1, UC_ARM_REG_R2,  UC_ARM_REG_R3,
                                   UC_ARM_REG_R4, UC_ARM_REG_R5, UC_ARM_REG_R6,  UC_ARM_REG_R7,
                                   UC_ARM_REG_R8, UC_ARM_REG_R9, UC_ARM_REG_R10, UC_ARM_REG_R11,
                                   UC_ARM_REG_R12, UC_ARM_REG_SP, UC_ARM_REG_LR, UC_ARM_REG_PC};

/* The first address that `access`, of the instruction at `pc`, touches; before that instruction has run. */
static uint32_t access_address(const struct machine *m, const struct thumb_access *access, uint32_t pc) {
    uint32_t address = (uint32_t)access->offset;
    if (access->base == THUMB_PC) {
        address += (pc + 4) & ~3u;
    } else {
        address += register_value(m, register_ids[access->base]);
    }
    return access->index < 0 ? address
                             : address + (register_value(m, register_ids[access->index]) << access->shift);
}

/* Where the current block has come to. Unicorn keeps no program counter inside a block (its hooks on every
 * instruction would, at a tenth of the speed), but the registers are right: the access being served is the
 * load or store of the block whose operands give its address; of several such, the one whose turn it is. */
static uint32_t serving_pc(const struct machine *m) {
    struct walk walk = {.next = m->current->address};
    uint32_t found = m->current->address, matches = 0;
    while (walk_on(m, m->current, &walk)) {
        if (walk.access.kind == (m->access.is_write ? THUMB_WRITES : THUMB_READS) &&
            access_address(m, &walk.access, walk.at) == m->access.address) {
            found = walk.at;
            if (++matches == m->access.turn) {
                break;
            }
        }
    }
    return found;
}

/* Cycles (and instructions) of the current block that follow the access: the block was counted as a whole. */
static uint32_t ahead(const struct machine *m, uint32_t *instructions) {
    struct walk walk = {.next = m->current->address};
    uint32_t cycles = 0, from = serving_pc(m);
    *instructions = 0;
    while (walk_on(m, m->current, &walk)) {
        if (walk.at >= from) {
            cycles += walk.cycles;
            ++*instructions;
        }
    }
    return cycles;
}

/* Every access to a register of the chip begins here. Returns 1 when it repeats the one before. */
static int serve(struct machine *m, uint32_t address, int is_write) {
    struct access *access = &m->access;
    int again = access->address == address && access->is_write == is_write;
    uint32_t key = address | (is_write ? 1u : 0u); /* registers are words: bit 0 is free */
    if (access->run != m->instructions) {
        access->run = m->instructions;
        access->served_count = 0;
    }
    access->turn = 1;
    for (unsigned i = 0; i < access->served_count; i++) {
        access->turn += access->served[i] == key;
    }
    if (access->served_count < ACCESSES_A_BLOCK) {
        access->served[access->served_count++] = key;
    }
    access->address = address;
    access->is_write = is_write;
    return again;
}

/* Time as the board's own timers see it: the core's cycles and those it waits for the flash. */
static uint64_t board_cycles(void *context) {
    struct machine *m = context;
    uint32_t instructions;
    return m->cycles - ahead(m, &instructions) + m->cache.misses * m->miss_cycles;
}

#endif
