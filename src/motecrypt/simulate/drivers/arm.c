/* arm.c: run one firmware for a Cortex-M core on Unicorn and count its cycles.
 *
 * SPDX-License-Identifier: GPL-2.0-only (it links Unicorn); the rest of the project is MIT.
 *
 *   arm --core cortex-m0plus [--chip RP2040] --cycles alu=1,load=2,... --flash BASE:BYTES --ram BASE:BYTES --vectors ADDRESS
 *       --mark ADDRESS [--simulated ADDRESS] [--stack-limit ADDRESS] [--bus READ_EXTRA:WRITE_EXTRA:IO_PORT_SAVES]
 *       [--memory wait_states=2,line_bytes=8,...] [--cache BYTES:WAYS:LINE] [--miss-cycles N] [--cold] [--max-cycles N] [--events DESCRIPTOR]
 *       [--restarts DESCRIPTOR] [--trace] [--nor PROGRAM:ERASE_4K:ERASE_32K:ERASE_64K] [--sd BLOCKS:READ:WRITE]
 *       [--dump FILE] ELF
 *   arm ... --free [--max-seconds S] [--until TEXT] [--max-output N] [--stamps] [--real] [--input]
 *       [--ram-code] [--port PATH | --pty PATH] [--profile FILE --functions FILE] [--bare | --stepped] [--contention] ELF
 *       --leak-...: leak.h
 *
 * Standard input and output are the firmware's UART; the events descriptor gets one JSON object a line: a
 * region between two marks, a fault, or the end (as of all drivers). While the firmware waits for input, a byte at
 * the restarts descriptor starts it again, from the chip's first state (restart.h). With --cache, a region also
 * reports the flash cache's misses. Its cycles are the core's plus misses x miss cycles, so another
 * penalty needs no new run. --free runs any firmware without waiting for requests (arm_free.h). --cold
 * empties the cache at the beginning of every region. --nor lets the flash be erased and programmed through
 * its interface, --sd connects a card (arm_nor.h, arm_sd.h): their busy times are in core cycles, and a
 * region reports them. A mark's bits 7 to 1 label its region. All figures come from the device's descriptor
 * or the caller; this program counts and holds no costs of its own.
 */
#define _GNU_SOURCE /* fdopen, poll, openpty, setlinebuf */
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "arm_bus.h"
#include "arm_coprocessor.h"
#include "arm_exception.h"
#include "arm_free.h"
#include "arm_leak.h"
#include "arm_machine.h"
#include "arm_region.h"
#include "arm_rom.h"
#include "arm_storage.h"
#include "arm_wait.h"
#include "arm_watch.h"
#include "bounds.h"
#include "elf.h"
#include "overflow.h"
#include "restart.h"
#include "sandbox.h"
#include "stack_told.h"

enum {
    EXIT_USAGE = 2,
    EXIT_FAULT = 3,
    SITE_SLACK = 4
};

struct core_model {
    const char *name;
    int cpu;
    bool has_pipeline; /* cycles depend on the instructions before (arm_pipeline.h) */
    const char *const *cost_names;
    unsigned cost_count;
};

/* A further core is a row here and a device folder; one whose cycles follow other rules also needs a model next to
 * arm_pipeline.h. UC_MODE_MCLASS is not used: Unicorn 2.1 then emulates a Cortex-M33 for any model, which has more
 * instructions and, for a Cortex-M0, allows unaligned accesses. */
static const struct core_model core_models[] = {
    {"cortex-m0", UC_CPU_ARM_CORTEX_M0, false, thumb_class_names, THUMB_CLASS_COUNT},
    {"cortex-m0plus", UC_CPU_ARM_CORTEX_M0, false, thumb_class_names, THUMB_CLASS_COUNT},
    {"cortex-m3", UC_CPU_ARM_CORTEX_M3, true, pipeline_cost_names, PIPELINE_COST_COUNT},
    {"cortex-m4", UC_CPU_ARM_CORTEX_M4, true, pipeline_cost_names, PIPELINE_COST_COUNT},
    {"cortex-m33", UC_CPU_ARM_CORTEX_M33, true, m33_cost_names, M33_COST_COUNT},
};

static struct machine machine;

static struct {
    const char *port, *pty, *functions;
    const struct core_model *core;
} names; /* from the command line */

/* ---- what the chip's registers ask for ---- */

/* The firmware looks whether a byte has come. It waits when it does nothing but look: its last access was
 * the same one. Then this program waits too. */
static int uart_has_input(void *context) {
    struct machine *m = context;
    enum pipe_input input = PIPE_INPUT;
    if (free_run.on) {
        return free_has_input(m);
    }
    if (pipe_queued(&m->pipe)) {
        return true;
    }
    if (!m->polling) {
        return false;
    }
    input = pipe_wait(&m->pipe);
    if (input == PIPE_CLOSED) {
        finish(m, "end", "input closed");
    } else if (input == PIPE_NONE) {
        finish(m, "fault", "the firmware waits for the rest of a request");
    }
    set_slice(m, m->max_cycles);
    return input == PIPE_INPUT;
}

static uint8_t uart_read(void *context) {
    if (free_run.on) {
        return free_take(context);
    }
    return pipe_take(&((struct machine *)context)->pipe);
}

static void uart_write(void *context, uint8_t byte) {
    struct machine *m = context;
    if (free_run.on) {
        free_send(m, byte);
    } else if (pipe_put(&m->pipe, byte)) {
        fault_is(m, "flood");
        finish(m, "fault", "the firmware floods its UART: more than %d bytes without being asked",
               PIPE_MAX_FLOOD);
    } else if (byte == PIPE_FRAME_END && pipe_queued(&m->pipe)) {
        set_slice(m, m->max_cycles); /* an answer, and the next request is there */
    }
}

static void flush_flash_cache(void *context) {
    cache_flush(&((struct machine *)context)->cache);
}

/* In a free run: reports a register that is not modelled, and adds the bus's cycles to a profile. */
static void after_serving(struct machine *m, const struct chip_window *window, uint32_t address,
                          bool is_write, uint32_t value) {
    int64_t extra = window->kind == CHIP_PERIPHERAL ? (is_write ? m->bus_write_extra : m->bus_read_extra)
                    : window->kind == CHIP_IO_PORT  ? -(int64_t)m->io_port_saves
                                                      : 0;
    if (free_run.on) {
        note_access(m, address, is_write, value);
        arm_profile_bus(m, arm_profile.on ? serving_pc(m) : 0, extra);
    }
}

/* One pair of callbacks for each window of registers; the bus costs differ. */
static uint64_t read_window(uc_engine *uc, uint64_t offset, unsigned bytes, void *user) {
    struct chip_window *window = user;
    struct machine *m = &machine;
    uint32_t address = window->base + (uint32_t)offset;
    uint32_t value;
    int64_t bus;
    bool is_storage;
    int again;
    (void)uc;
    (void)bytes;
    again = serve(m, address, 0);
    order_access(m);
    m->polling = again;
    after_serving(m, window, address, false, 0);
    is_storage = storage_read(m, window, address, &value);
    if (!is_storage) {
        value = chip_read(&m->chip, window, address);
    }
    bus = window->kind == CHIP_PERIPHERAL ? m->bus_read_extra
          : window->kind == CHIP_IO_PORT  ? -(int64_t)m->io_port_saves
                                            : 0;
    if (free_run.on && m->chip.model->kind == CHIP_RP2040 && !is_storage && (window->kind == CHIP_PERIPHERAL || window->kind == CHIP_IO_PORT)) {
        wait_on(m, address, value, bus);
    }
    m->cycles += (uint64_t)bus;
    return value >> 8 * (offset & 3);
}

static void write_window(uc_engine *uc, uint64_t offset, unsigned bytes, uint64_t value, void *user) {
    struct chip_window *window = user;
    struct machine *m = &machine;
    uint32_t address = window->base + (uint32_t)offset;
    /* A narrow write reaches a register on all byte lanes (RP2040 datasheet, 2.1.4). */
    uint32_t lanes = (uint32_t)value * (bytes == 1 ? 0x01010101u : bytes == 2 ? 0x00010001u : 1u);
    (void)uc;
    serve(m, address, 1);
    order_access(m);
    after_serving(m, window, address, true, lanes);
    if (address == m->mark) {
        on_mark(m, lanes);
    }
    chip_write(&m->chip, window, address, lanes, bytes);
    storage_write(m, window, address, lanes);
    after_write(m, window, address);
    chip_written(m, window, address);
    m->cycles += window->kind == CHIP_PERIPHERAL ? m->bus_write_extra : 0;
    m->cycles -= window->kind == CHIP_IO_PORT ? m->io_port_saves : 0;
}

/* ---- the command line ---- */

static void fail(const char *what, const char *which) {
    fprintf(stderr, "arm: %s %s\n", which, what);
    exit(EXIT_USAGE);
}

static void check(uc_err error, const char *which) {
    if (error != UC_ERR_OK) {
        fail(uc_strerror(error), which);
    }
}

/* Reads up to `count` numbers separated by colons; all must be there. */
static void numbers(const char *text, const char *key, uint32_t *out, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        char *end;
        out[i] = (uint32_t)strtoul(text, &end, 0);
        if (end == text || *end != (i + 1 < count ? ':' : '\0')) {
            fail("has a wrong number", key);
        }
        text = end + 1;
    }
}

static void set_costs(struct machine *m, char *text) {
    const char *const *known = names.core->cost_names;
    unsigned count = names.core->cost_count;
    bool given[COSTS] = {false};
    for (char *item = strtok(text, ","); item != NULL; item = strtok(NULL, ",")) {
        char *equals = strchr(item, '=');
        unsigned i = 0;
        while (i < count && equals != NULL &&
               (known[i] == NULL || strncmp(item, known[i], (size_t)(equals - item)) != 0 ||
                known[i][equals - item] != '\0')) {
            i++;
        }
        if (equals == NULL || i == count) {
            fail("is not a class of instructions", item);
        }
        numbers(equals + 1, item, &m->cost[i], 1);
        given[i] = m->cost[i] != 0 || names.core->has_pipeline; /* what a pipeline adds may be nothing */
    }
    for (unsigned i = 0; i < count; i++) {
        if (known[i] != NULL && !given[i]) {
            fail("has no cycles", known[i]);
        }
    }
}

static void add_memory(struct machine *m, const char *text, const char *key, uint32_t permissions) {
    uint32_t range[2];
    struct memory *memory = &m->memories[m->memory_count];
    numbers(text, key, range, 2);
    if (m->memory_count++ == GIVEN_MEMORIES || range[1] == 0 || (range[1] & 0xFFFu) != 0) {
        fail("must be BASE:BYTES, a multiple of 4096 bytes", key);
    }
    *memory = (struct memory){range[0], range[1], malloc(range[1])};
    if (memory->data == NULL) {
        fail("finds no memory", key);
    }
    memset(memory->data, permissions & UC_PROT_WRITE ? 0 : 0xFF,
           memory->bytes); /* erased flash reads as ones */
    check(uc_mem_map_ptr(m->uc, memory->base, memory->bytes, permissions, memory->data), key);
}

static void open_core(struct machine *m, const char *name) {
    for (size_t i = 0; i < COUNT_OF(core_models); i++) {
        if (strcmp(core_models[i].name, name) == 0) {
            check(uc_open(UC_ARCH_ARM, UC_MODE_THUMB, &m->uc), name);
            check(uc_ctl_set_cpu_model(m->uc, core_models[i].cpu), name);
            names.core = &core_models[i];
            m->cpu = core_models[i].cpu;
            m->has_pipeline = core_models[i].has_pipeline;
            m->is_m33 = core_models[i].cost_names == m33_cost_names;
            return;
        }
    }
    fail("is not a core that this driver supports", name);
}

static void set_option(struct machine *m, const char *key, char *text) {
    uint32_t four[4];
    if (strcmp(key, "--core") == 0) {
        open_core(m, text);
    } else if (strcmp(key, "--chip") == 0) {
        m->chip.model = chip_model_of(text);
        if (m->chip.model == NULL) {
            fail("is not a chip that this driver models", text);
        }
    } else if (m->uc == NULL) {
        fail("must come after --core", key);
    } else if (strcmp(key, "--cycles") == 0) {
        set_costs(m, text);
    } else if (strcmp(key, "--flash") == 0) {
        m->flash_base = (uint32_t)strtoul(text, NULL, 0);
        add_memory(m, text, key, UC_PROT_READ | UC_PROT_EXEC);
    } else if (strcmp(key, "--ram") == 0) {
        add_memory(m, text, key, UC_PROT_READ | UC_PROT_WRITE);
    } else if (strcmp(key, "--vectors") == 0) {
        numbers(text, key, &m->vectors, 1);
    } else if (strcmp(key, "--mark") == 0) {
        numbers(text, key, &m->mark, 1);
    } else if (strcmp(key, "--simulated") == 0) {
        numbers(text, key, &m->simulated, 1);
    } else if (strcmp(key, "--stack-limit") == 0) {
        numbers(text, key, &m->stack_limit, 1);
    } else if (strcmp(key, "--bus") == 0) {
        numbers(text, key, four, 3);
        m->bus_read_extra = four[0];
        m->bus_write_extra = four[1];
        m->io_port_saves = four[2];
    } else if (strcmp(key, "--cache") == 0) {
        numbers(text, key, four, 3);
        if (cache_init(&m->cache, four[0], four[1], four[2]) != 0) {
            fail("must be BYTES:WAYS:LINE, powers of two", key);
        }
        m->cache_on = true;
    } else if (strcmp(key, "--memory") == 0) {
        const char *wrong = flash_figures(&m->flash, text);
        if (wrong != NULL) {
            fail("is not a figure of a flash, or does not fit the others", wrong);
        }
    } else if (strcmp(key, "--miss-cycles") == 0) {
        numbers(text, key, &m->miss_cycles, 1);
    } else if (strcmp(key, "--nor") == 0) {
        numbers(text, key, four, 4);
        if (!storage_add_nor(m, four)) {
            fail("must come after --flash, which must come before --ram", key);
        }
    } else if (strcmp(key, "--sd") == 0) {
        numbers(text, key, four, 3);
        if (!storage_add_sd(m, four)) {
            fail("finds no memory", key);
        }
    } else if (strcmp(key, "--max-cycles") == 0) {
        m->max_cycles = strtoull(text, NULL, 0);
    } else if (strcmp(key, "--events") == 0) {
        m->pipe.events = fdopen(atoi(text), "w");
    } else if (strcmp(key, "--restarts") == 0) {
        restart_descriptor = atoi(text);
    } else if (strcmp(key, "--dump") == 0) {
        m->dump = fopen(text, "w");
    } else if (strcmp(key, "--max-seconds") == 0) {
        free_run.max_seconds = strtod(text, NULL);
    } else if (strcmp(key, "--until") == 0) {
        free_run.line.until = text;
    } else if (strcmp(key, "--max-output") == 0) {
        free_run.line.max_output = strtoull(text, NULL, 0);
    } else if (strcmp(key, "--profile") == 0) {
        arm_profile.path = text;
    } else if (strcmp(key, "--functions") == 0) {
        names.functions = text;
    } else if (strcmp(key, "--port") == 0) {
        names.port = text;
    } else if (strcmp(key, "--pty") == 0) {
        names.pty = text;
    } else if (strncmp(key, "--leak-", 7) != 0 || !leak_option(key, text)) {
        fail("is not an option", key);
    }
}

static const char *parse(struct machine *m, int argc, char **argv) {
    const char *elf = NULL;
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] != '-') {
            elf = argv[i];
        } else if (strcmp(argv[i], "--trace") == 0) {
            m->trace = true;
        } else if (strcmp(argv[i], "--cold") == 0) {
            m->cache_cold = true;
        } else if (strcmp(argv[i], "--free") == 0) {
            free_run.on = true;
        } else if (strcmp(argv[i], "--real") == 0) {
            free_run.real = true;
        } else if (strcmp(argv[i], "--bare") == 0) {
            free_run.bare = true;
        } else if (strcmp(argv[i], "--contention") == 0) {
            bus.on = m->by_access = true;
        } else if (strcmp(argv[i], "--stepped") == 0) {
            free_run.stepped = true;
        } else if (strcmp(argv[i], "--stamps") == 0) {
            free_run.line.stamps = true;
        } else if (strcmp(argv[i], "--input") == 0) {
            free_run.line.reads_input = true;
        } else if (strcmp(argv[i], "--ram-code") == 0) { /* a flat file does not say which RAM has code */
            const struct memory *ram = &m->memories[1];
            check(m->memory_count < 2 ? UC_ERR_ARG : uc_mem_protect(m->uc, ram->base, ram->bytes, UC_PROT_ALL), argv[i]);
            m->ram_code[m->ram_code_count++] = (struct code_range){ram->base, ram->bytes, NULL};
        } else if (strcmp(argv[i], "--leak-detail") == 0) {
            leak.detail = true;
        } else if (i + 1 < argc) {
            set_option(m, argv[i], argv[i + 1]);
            i++;
        } else {
            fail("needs a value", argv[i]);
        }
    }
    if (elf == NULL || m->uc == NULL || m->cost[0] == 0 || m->pipe.events == NULL) {
        fail("needs --core, --cycles, an ELF file and open events", "the command line");
    }
    if (bus.on && m->chip.model->kind != CHIP_RP2040) {
        fail("is for a chip with two cores: RP2040", "--contention");
    }
    return elf;
}

/* ---- running ---- */

/* Code in RAM: the pages of a segment that the file calls executable. The rest of RAM may not run: Unicorn
 * looks for code to throw away at every store to memory that may, and a jump into data is a fault. */
static void allow_code(struct machine *m, const struct elf_segment *segment) {
    uint32_t first = segment->run_address & ~0xFFFu;
    uint32_t bytes = ((segment->run_address + segment->run_bytes + 0xFFFu) & ~0xFFFu) - first;
    if (segment->executable && first - m->flash_base >= FLASH_WINDOW && host_pointer(m, first, bytes) != NULL) {
        check(uc_mem_protect(m->uc, first, bytes, UC_PROT_ALL), "code in RAM");
        if (m->ram_code_count < COUNT_OF(m->ram_code)) {
            m->ram_code[m->ram_code_count++] = (struct code_range){first, bytes, NULL};
        }
    }
}

/* For add_sites. */
static void note_code(struct machine *m, const struct elf_segment *segment) {
    if (segment->executable && m->code_count < COUNT_OF(m->code)) {
        m->code[m->code_count++] = (struct code_range){segment->run_address, segment->bytes, segment->data};
    }
}

static const char *store_segment(void *context, const struct elf_segment *segment) {
    uint8_t *target = host_pointer(context, segment->load_address, segment->bytes);
    if (target == NULL) {
        return "has a segment outside the device's memories";
    }
    memcpy(target, segment->data, segment->bytes);
    note_code(context, segment);
    allow_code(context, segment);
    return NULL;
}

/* A function pointer as Unicorn's interface wants it; POSIX guarantees the conversion. */
#define HOOK(function) ((void *)(uintptr_t)(function))

static void add_hook(struct machine *m, int type, void *function, uint64_t begin, uint64_t end) {
    uc_hook hook;
    check(uc_hook_add(m->uc, &hook, type, function, m, begin, end), "hook");
}

static void add_site(struct machine *m, uint32_t first, uint32_t last) {
    add_hook(m, UC_HOOK_CODE, HOOK(on_site), first, last);
}

static uc_cb_hookcode_t block_function(const struct machine *m) {
    if (!free_run.on || free_run.bare) {
        return m->has_pipeline ? on_block_mainline : on_block;
    }
    if (arm_profile.on && m->cores[1].uc == NULL) { /* a profile is core 0's */
        return m->has_pipeline ? on_block_profiled_mainline : on_block_profiled;
    }
    return m->has_pipeline ? on_block_free_mainline : on_block_free;
}

/* Gives the running core's engine its registers and hooks. */
static void connect_engine(struct machine *m) {
    for (unsigned i = 0; i < m->chip.model->window_count; i++) {
        struct chip_window *window = &m->chip.model->windows[i];
        if (window->kind >= CHIP_DMA && m->attend == NULL) {
            continue; /* of a free run alone */
        }
        check(uc_mmio_map(m->uc, window->base, window->bytes, read_window, window, write_window, window),
              "registers");
    }
    if (m->flash.on) {
        check(fetch_hook_data(m) ? UC_ERR_OK : UC_ERR_NOMEM, "data of the flash");
    }
    add_hook(m, UC_HOOK_BLOCK, HOOK(m->flash.on ? on_block_fetched : block_function(m)), 1, 0);
    if (m->attend != NULL) {
        add_hook(m, UC_HOOK_CODE, HOOK(on_rom), 0, ROM_HOOKED - 1);
    }
    add_hook(m, UC_HOOK_MEM_INVALID, HOOK(on_bad_access), 1, 0);
    add_hook(m, UC_HOOK_INTR, HOOK(on_exception), 1, 0);
    if (bus.on) {
        add_hook(m, UC_HOOK_CODE, HOOK(on_bus), 1, 0);
    } else if (m->cache_on) {
        uint32_t last = m->flash_base + FLASH_WINDOW - 1;
        add_hook(m, UC_HOOK_CODE, HOOK(on_fetch), m->flash_base, last);
        add_hook(m, UC_HOOK_MEM_READ, HOOK(on_flash_read), m->flash_base, last);
    }
    if (m->trace) {
        add_hook(m, UC_HOOK_CODE, m->has_pipeline ? HOOK(on_instruction_mainline) : HOOK(on_instruction), 1, 0);
    } else if (m->has_pipeline) {
        add_sites(m, add_site);
    }
    if (leak.on) {
        add_hook(m, UC_HOOK_CODE, HOOK(on_leak_from), leak.from, leak.from);
    }
}

static void connect(struct machine *m) {
    chip_reset(&m->chip,
               &(struct chip_outside){board_cycles, uart_has_input, uart_read, uart_write, flush_flash_cache, m,
                                      free_run.on ? free_sender_flags : NULL, free_changes_at, free_usb_take, free_usb_give, memory_of, code_changed},
               m->simulated);
    if (exceptions_begin(m)) {
        m->coprocessor = run_coprocessor;
        check(map_rom(m), "boot ROM");
    }
    if (m->flash.on) {
        check(fetch_count_with(m, block_function(m)) ? UC_ERR_OK : UC_ERR_NOMEM, "memory");
    }
    cores_begin(m, connect_engine);
    connect_engine(m);
}

static void run(struct machine *m, uint32_t entry) {
    const uint8_t *vectors = host_pointer(m, m->vectors, 8);
    uint32_t sp = 0;
    uc_err error;
    if (vectors == NULL) {
        fail("are outside the memories", "the vectors");
    }
    for (int i = 3; i >= 0; i--) {
        sp = sp << 8 | vectors[i];
    }
    m->deepest_sp = stacks.top = sp;
    if (arm_profile.on) {
        shadow_begin(&arm_profile.shadow, 0, sp, 0);
    }
    if (m->stack_limit >= sp) {
        m->stack_limit = 0; /* a stack below that limit: what leaves its memory faults by itself */
    }
    check(uc_reg_write(m->uc, UC_ARM_REG_SP, &sp), "stack pointer");
    error = run_core(m, entry);
    if (arm_leak.reached) {
        const char *problem = arm_leak_all(m);
        finish(m, problem != NULL ? "fault" : "recorded", "%s", problem != NULL ? problem : "all runs");
    }
    end_core(m, error);
}

/* The end of a free run. */
static int end_free(struct machine *m) {
    line_flush(&free_run.line);
    arm_profile_end(m, &arm_profile);
    tell_unmodelled(m);
    fprintf(m->pipe.events,
            "{\"event\":\"%s\",\"detail\":\"%s\",\"cycle\":%" PRIu64 ",\"pc\":%" PRIu32 ",",
            m->ending, m->detail, m->cycles, m->current->address);
    print_stack(m->pipe.events, stacks.has_several, stacks.top - (m->core == 0 ? m->deepest_sp : m->cores[0].deepest_sp));
    fprintf(m->pipe.events,
            "\"seconds\":%.9f,\"instructions\":%" PRIu64 ",\"instructions_core1\":%" PRIu64 ",\"bus_waits\":%" PRIu64
            ",\"clock_hz\":%.0f,\"interrupts\":%" PRIu64 "}\n",
            chip_seconds(&m->chip), m->instructions, m->cores[1].instructions, bus.waits[0] + bus.waits[1],
            chip_hz(&m->chip), m->interrupts);
    return strcmp(m->ending, "fault") == 0 ? EXIT_FAULT : 0;
}

int main(int argc, char **argv) {
    struct machine *m = &machine;
    struct elf_file elf;
    const char *path, *problem;
    signal(SIGPIPE, SIG_IGN);
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a killed parent leaves no simulator running */
    m->max_cycles = UINT64_C(4000000000);
    m->current = &m->blocks[0];
    m->chip.model = &chip_models[0];
    m->pipe.events = stderr;
    free_run.max_seconds = 1e300;
    free_run.line.max_output = UINT64_MAX;
    path = parse(m, argc, argv);
    setlinebuf(m->pipe.events);
    problem = elf_open(&elf, path, ELF_MACHINE_ARM);
    problem = problem != NULL ? problem : elf_load(&elf, store_segment, m);
    if (problem != NULL) {
        fail(problem, path);
    }
    m->slice = m->deadline = m->max_cycles;
    if (free_run.on && !free_open(m, names.port, names.pty, names.functions)) {
        return EXIT_USAGE;
    }
    if (leak.on && !leak_open()) {
        fail("needs --leak-input, --leak-output and a --leak-limit", "recording");
    }
    if (free_run.on && !free_run.bare && m->chip.model->plain == &rp2350_model) {
        m->chip.model = &rp2350_free_model;
    }
    unmodelled_open(m);
    connect(m);
    restart_point();
    sandbox_enter("arm");
    run(m, elf.entry);
    if (free_run.on) {
        return end_free(m);
    }
    fprintf(m->pipe.events, "{\"event\":\"%s\",\"kind\":\"%s\",\"detail\":\"%s\",", m->ending,
            m->fault_kind != NULL ? m->fault_kind : "", m->detail);
    print_overflow(m->pipe.events, m->fault_kind, m->fault_sp, m->stack_limit);
    fprintf(m->pipe.events,
            "\"cycle\":%" PRIu64 ",\"instructions\":%" PRIu64 ",\"cache_misses\":%" PRIu64
            ",\"clock_hz\":%.0f,\"baud\":%.0f}\n",
            m->cycles, m->instructions, m->cache.misses, chip_hz(&m->chip), chip_baud(&m->chip));
    return strcmp(m->ending, "end") == 0 ? 0 : EXIT_FAULT;
}
