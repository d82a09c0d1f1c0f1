/* engine_speed.c: counts a firmware's cycles inside QEMU, as a plugin of its translator (TCG).
 *
 * SPDX-License-Identifier: GPL-2.0-only (QEMU loads it); the rest of the project is MIT.
 *
 *   qemu-system-arm ... -plugin file=THIS,elf=FILE,report=FILE,mode=MODE,marks=ADDRESS:CODE[,CLASS=CYCLES]...
 *       [,cache=BYTES:WAYS:LINE][,bus_write_extra=CYCLES]
 *
 * engine_speed.py compares it with drivers/arm.c, whose cost table and cache model it shares. The report gets a
 * line for each region between two stores to ADDRESS by the function at CODE: cycles (the cache's misses not
 * among them), instructions, misses. Modes:
 *   idle    nothing is counted: what a plugin costs by being there
 *   add     every block adds its cost in translated code; taken branches are not counted, so the sum is low
 *   call    every block calls a function, which adds the block's cost and the branch that led to it
 *   mixed   every block adds its cost in translated code and calls only where the block before it did not
 *           run on to it; needs version 2 of the interface or later (QEMU 9)
 *   cache   as call, and every instruction and every read calls, for the flash cache
 * Debian has no header of QEMU's plugin interface: what is used of it is declared here, from QEMU's manual
 * ("QEMU TCG Plugins"). Functions that only some versions have are weak.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arm_cache.h"
#include "arm_thumb.h"
#include "elf.h"

/* ---- QEMU's plugin interface, versions 1 to 4 ---- */

struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_plugin_scoreboard;

struct qemu_plugin_u64 { /* one counter of each processor */
    struct qemu_plugin_scoreboard *score;
    size_t offset;
};

/* Reads and writes are asked for together: QEMU 7.2, asked for reads alone, reports the writes. */
enum { WITHOUT_REGISTERS = 0, READS_AND_WRITES = 3, ADD_U64 = 0, STORE_U64 = 1, NOT_EQUAL = 3 };

typedef void translated_function(uint64_t id, struct qemu_plugin_tb *tb);
typedef void executed_function(unsigned processor, void *user);
typedef void accessed_function(unsigned processor, uint32_t info, uint64_t address, void *user);

extern void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, translated_function *function);
extern void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb, executed_function *function,
                                                 int flags, void *user);
extern void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, executed_function *function,
                                                   int flags, void *user);
extern void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn, accessed_function *function,
                                             int flags, int kind, const void *user);
extern bool qemu_plugin_mem_is_store(uint32_t info);
extern size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
extern struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t which);
extern uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);

/* version 1 alone */
extern void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *tb, int operation, void *counter,
                                                     uint64_t value) __attribute__((weak));
/* version 2 and later */
extern struct qemu_plugin_scoreboard *qemu_plugin_scoreboard_new(size_t bytes) __attribute__((weak));
extern void *qemu_plugin_scoreboard_find(struct qemu_plugin_scoreboard *score, unsigned processor)
    __attribute__((weak));
extern void qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(struct qemu_plugin_tb *tb, int operation,
                                                              struct qemu_plugin_u64 counter, uint64_t value)
    __attribute__((weak));
extern void qemu_plugin_register_vcpu_tb_exec_cond_cb(struct qemu_plugin_tb *tb, executed_function *function,
                                                      int flags, int condition,
                                                      struct qemu_plugin_u64 counter, uint64_t value,
                                                      void *user) __attribute__((weak));

__attribute__((visibility("default"))) extern int qemu_plugin_version;
int qemu_plugin_version = PLUGIN_VERSION; /* by the compiler's command line: what this QEMU takes */

struct qemu_info; /* not looked at */
__attribute__((visibility("default"))) extern int
qemu_plugin_install(uint64_t id, const struct qemu_info *info, int argc, char **argv);

/* ---- the machine ---- */

enum { FLASH_BYTES = 256 * 1024, BLOCK_SLOTS = FLASH_BYTES / 2, MARK_CODE_BYTES = 16 };
enum mode { IDLE, ADD, CALL, MIXED, CACHE, MODE_COUNT };

static const char *const mode_names[MODE_COUNT] = {"idle", "add", "call", "mixed", "cache"};

struct block {
    uint32_t address, next;
    uint32_t cycles, instructions;
    uint32_t extra;      /* cycles more when the block that runs next is another one: a taken branch */
    struct block *older; /* another one from the same address, translated before */
};

/* The store of a mark: what was counted of its block and lies ahead, and what of that QEMU counts again. */
struct mark {
    struct block rest, again;
};

/* What translated code writes to, as well as functions: QEMU's own memory from version 2 on. */
struct counters {
    uint64_t cycles, instructions;
    uint64_t expected; /* mode mixed: the address that runs next if nothing is to be added; odd: any */
};

static struct {
    enum mode mode;
    uint8_t flash[FLASH_BYTES];
    uint32_t cost[THUMB_CLASS_COUNT];
    uint32_t mark, mark_code, bus_write_extra;
    uint32_t mark_end; /* of the block that the mark's store was counted with */
    struct cache cache;
    FILE *report;
    struct block nowhere;
    struct block *blocks[BLOCK_SLOTS]; /* by address / 2 */
    struct block *current;
    struct counters own, *counters;
    struct qemu_plugin_scoreboard *score;
    int in_region;
    struct counters begin;
    uint64_t begin_misses;
} machine;

static void fail(const char *what, const char *which) {
    fprintf(stderr, "engine_speed: %s: %s\n", which, what);
    exit(1);
}

static struct thumb_instruction instruction_at(uint32_t address) {
    const uint8_t *code = &machine.flash[address];
    if (address > FLASH_BYTES - 4) {
        fail("code runs outside the flash", "the firmware");
    }
    return thumb_decode((uint16_t)(code[0] | code[1] << 8), (uint16_t)(code[2] | code[3] << 8));
}

/* ---- while it runs ---- */

static void on_block(unsigned processor, void *user) {
    struct block *block = user;
    (void)processor;
    if (machine.current->next != block->address) {
        machine.counters->cycles += machine.current->extra;
    }
    machine.current = block;
    machine.counters->cycles += block->cycles;
    machine.counters->instructions += block->instructions;
}

static void on_another_block(unsigned processor, void *user) {
    (void)processor;
    (void)user;
    if ((machine.counters->expected & 1u) == 0) {
        machine.counters->cycles += machine.cost[THUMB_branch_if_taken];
    }
}

static void on_fetch(unsigned processor, void *user) {
    uint32_t address = (uint32_t)(uintptr_t)user;
    (void)processor;
    cache_access(&machine.cache, address & ~1u);
    if (address & 1u) { /* an instruction of 4 bytes */
        cache_access(&machine.cache, (address & ~1u) + 2);
    }
}

static void on_read(unsigned processor, uint32_t info, uint64_t address, void *user) {
    (void)processor;
    (void)user;
    if (address < FLASH_BYTES && !qemu_plugin_mem_is_store(info)) {
        cache_access(&machine.cache, (uint32_t)address);
    }
}

static void take_off(struct counters *counters, const struct block *block) {
    counters->cycles -= block->cycles;
    counters->instructions -= block->instructions;
}

/* A mark's time is the beginning of its store: the rest of its block was added too early. */
static void on_store(unsigned processor, uint32_t info, uint64_t address, void *user) {
    const struct mark *mark = user;
    struct counters now = *machine.counters;
    (void)processor;
    if (address != machine.mark || !qemu_plugin_mem_is_store(info)) {
        return;
    }
    take_off(&now, &mark->rest);
    take_off(machine.counters, &mark->again);
    machine.counters->cycles += machine.bus_write_extra;
    machine.in_region = !machine.in_region;
    if (machine.in_region) {
        machine.begin = now;
        if (machine.mode == CACHE) {
            cache_flush(&machine.cache);
        }
        machine.begin_misses = machine.cache.misses;
    } else {
        fprintf(machine.report, "%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", now.cycles - machine.begin.cycles,
                now.instructions - machine.begin.instructions, machine.cache.misses - machine.begin_misses);
        fflush(machine.report);
    }
}

/* ---- when a block is translated ---- */

static struct block *measure(uint32_t address, uint32_t end, struct block *block) {
    struct thumb_instruction instruction = {THUMB_alu, 0, 2, 0};
    *block = (struct block){.address = address, .next = end};
    for (uint32_t at = address; at < end; at += instruction.bytes) {
        instruction = instruction_at(at);
        block->cycles += thumb_cycles(&instruction, machine.cost);
        block->instructions++;
    }
    block->extra = instruction.class == THUMB_branch_if ? machine.cost[THUMB_branch_if_taken] : 0;
    return block;
}

/* The block from `address` to `end`. It stays: QEMU may translate the same code again. */
static struct block *block_of(uint32_t address, uint32_t end) {
    struct block **slot = &machine.blocks[address / 2 % BLOCK_SLOTS], *block = *slot;
    while (block != NULL && block->next != end) {
        block = block->older;
    }
    if (block == NULL) {
        block = malloc(sizeof *block);
        if (block == NULL) {
            fail("finds no memory", "a block");
        }
        measure(address, end, block);
        block->older = *slot;
        *slot = block;
    }
    return block;
}

static struct qemu_plugin_u64 counter(size_t offset) {
    return (struct qemu_plugin_u64){machine.score, offset};
}

static void add(struct qemu_plugin_tb *tb, size_t offset, uint64_t value) {
    if (machine.score != NULL) {
        qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(tb, ADD_U64, counter(offset), value);
    } else {
        qemu_plugin_register_vcpu_tb_exec_inline(tb, ADD_U64, (char *)machine.counters + offset, value);
    }
}

/* Where a block goes when nothing is to be added for its last instruction; odd where only a run tells. */
static uint32_t expected_after(const struct block *block) {
    uint32_t last = block->address;
    struct thumb_instruction instruction = instruction_at(last);
    while (last + instruction.bytes < block->next) {
        last += instruction.bytes;
        instruction = instruction_at(last);
    }
    switch (instruction.class) {
    case THUMB_branch:
    case THUMB_branch_link:
    case THUMB_branch_exchange:
    case THUMB_pop_pc:
    case THUMB_write_pc:
        return 1;
    default:
        return block->next;
    }
}

static void count_block(struct qemu_plugin_tb *tb, struct block *block) {
    if (machine.mode == CALL || machine.mode == CACHE) {
        qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, WITHOUT_REGISTERS, block);
        return;
    }
    if (machine.mode == MIXED) {
        size_t expected = offsetof(struct counters, expected);
        qemu_plugin_register_vcpu_tb_exec_cond_cb(tb, on_another_block, WITHOUT_REGISTERS, NOT_EQUAL,
                                                  counter(expected), block->address, NULL);
        qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(tb, STORE_U64, counter(expected),
                                                          expected_after(block));
    }
    add(tb, offsetof(struct counters, cycles), block->cycles);
    add(tb, offsetof(struct counters, instructions), block->instructions);
}

/* The mark whose store is at `address`, in a block up to `end`. From QEMU 9 on a block that meets a device is
 * left there: the store runs alone, without the block's own calls, and what follows it runs as a block anew. */
static const struct mark *mark_at(uint32_t address, uint32_t end, bool alone) {
    struct mark *mark = malloc(sizeof *mark);
    if (mark == NULL) {
        fail("finds no memory", "a mark");
    }
    if (!alone || machine.mark_end == 0) {
        machine.mark_end = end;
    }
    measure(address, machine.mark_end, &mark->rest);
    measure(end, machine.mark_end, &mark->again);
    return mark;
}

static void on_translation(uint64_t id, struct qemu_plugin_tb *tb) {
    size_t count = qemu_plugin_tb_n_insns(tb);
    uint32_t address = (uint32_t)qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, 0));
    struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, count - 1);
    uint32_t end = (uint32_t)qemu_plugin_insn_vaddr(insn);
    (void)id;
    if (machine.mode == IDLE) {
        return;
    }
    end += instruction_at(end).bytes;
    count_block(tb, block_of(address, end));
    for (size_t i = 0; i < count; i++) {
        struct thumb_instruction instruction;
        insn = qemu_plugin_tb_get_insn(tb, i);
        address = (uint32_t)qemu_plugin_insn_vaddr(insn);
        instruction = instruction_at(address);
        if (address - machine.mark_code < MARK_CODE_BYTES && instruction.class == THUMB_store) {
            qemu_plugin_register_vcpu_mem_cb(insn, on_store, WITHOUT_REGISTERS, READS_AND_WRITES,
                                             mark_at(address, end, count == 1));
        }
        if (machine.mode == CACHE) {
            qemu_plugin_register_vcpu_insn_exec_cb(insn, on_fetch, WITHOUT_REGISTERS,
                                                   (void *)(uintptr_t)(address | (instruction.bytes == 4)));
            qemu_plugin_register_vcpu_mem_cb(insn, on_read, WITHOUT_REGISTERS, READS_AND_WRITES, NULL);
        }
    }
}

/* ---- the command line ---- */

static const char *store_segment(void *context, const struct elf_segment *segment) {
    (void)context;
    if (segment->load_address > FLASH_BYTES || segment->bytes > FLASH_BYTES - segment->load_address) {
        return "has a segment outside the flash";
    }
    memcpy(machine.flash + segment->load_address, segment->data, segment->bytes);
    return NULL;
}

static void load(const char *path) {
    struct elf_file elf;
    const char *problem = elf_open(&elf, path, ELF_MACHINE_ARM);
    problem = problem != NULL ? problem : elf_load(&elf, store_segment, NULL);
    if (problem != NULL) {
        fail(problem, path);
    }
}

static void numbers(const char *text, uint32_t *out, unsigned count) {
    const char *at = text;
    for (unsigned i = 0; i < count; i++) {
        char *end;
        out[i] = (uint32_t)strtoul(at, &end, 0);
        if (end == at || *end != (i + 1 < count ? ':' : '\0')) {
            fail("is a wrong number", text);
        }
        at = end + 1;
    }
}

/* The index of `text`'s first `length` characters among `names`; `count` when it is none. */
static unsigned index_of(const char *text, size_t length, const char *const *names, unsigned count) {
    unsigned i = 0;
    while (i < count && (strncmp(text, names[i], length) != 0 || names[i][length] != '\0')) {
        i++;
    }
    return i;
}

static void set_option(const char *option) {
    const char *value = strchr(option, '=');
    size_t length = value != NULL ? (size_t)(value++ - option) : 0;
    unsigned class = index_of(option, length, thumb_class_names, THUMB_CLASS_COUNT);
    uint32_t three[3];
    if (length == 0) {
        fail("is no KEY=VALUE", option);
    } else if (class < THUMB_CLASS_COUNT) {
        numbers(value, &machine.cost[class], 1);
    } else if (strncmp(option, "elf=", 4) == 0) {
        load(value);
    } else if (strncmp(option, "report=", 7) == 0) {
        machine.report = fopen(value, "w");
    } else if (strncmp(option, "marks=", 6) == 0) {
        numbers(value, three, 2);
        machine.mark = three[0];
        machine.mark_code = three[1];
    } else if (strncmp(option, "bus_write_extra=", 16) == 0) {
        numbers(value, &machine.bus_write_extra, 1);
    } else if (strncmp(option, "mode=", 5) == 0) {
        machine.mode = (enum mode)index_of(value, strlen(value), mode_names, MODE_COUNT);
    } else if (strncmp(option, "cache=", 6) == 0) {
        numbers(value, three, 3);
        if (cache_init(&machine.cache, three[0], three[1], three[2]) != 0) {
            fail("must be powers of two", option);
        }
    } else {
        fail("is no option", option);
    }
}

/* The counters can be found only once there is a processor. */
static void on_first_block(uint64_t id, struct qemu_plugin_tb *tb) {
    if (machine.score != NULL && machine.counters == NULL) {
        machine.counters = qemu_plugin_scoreboard_find(machine.score, 0);
        machine.counters->expected = 1;
    }
    on_translation(id, tb);
}

int qemu_plugin_install(uint64_t id, const struct qemu_info *info, int argc, char **argv) {
    (void)info;
    machine.current = &machine.nowhere;
    for (int i = 0; i < argc; i++) {
        set_option(argv[i]);
    }
    if (machine.report == NULL || machine.mode == MODE_COUNT || machine.cost[0] == 0) {
        fail("needs a report, a mode and the classes' cycles", "the command line");
    }
    if (machine.mode == MIXED && qemu_plugin_register_vcpu_tb_exec_cond_cb == NULL) {
        fail("needs a later version of QEMU", "mode=mixed");
    }
    if (qemu_plugin_register_vcpu_tb_exec_inline == NULL) {
        machine.score = qemu_plugin_scoreboard_new(sizeof(struct counters));
    } else {
        machine.counters = &machine.own;
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_first_block);
    return 0;
}
