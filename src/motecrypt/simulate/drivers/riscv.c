/* riscv.c: run one firmware for a RISC-V core of 32 bits and count its cycles.
 *
 * SPDX-License-Identifier: MIT
 *
 *   riscv --core sifive-e31 --chip FE310-G002 --cycles alu=1,load=1,... --ram BASE:BYTES --flash BASE:BYTES
 *       --mark ADDRESS [--simulated ADDRESS] [--stack-limit ADDRESS] [--predictor BTB:BHT:RAS]
 *       [--cache BYTES:WAYS:LINE] [--miss-cycles N] [--cold] [--max-cycles N] [--events DESCRIPTOR]
 *       [--restarts DESCRIPTOR] [--trace] [--dump FILE] ELF
 *   riscv ... --free [--max-seconds S] [--until TEXT] [--max-output N] [--stamps] [--real] [--input]
 *       [--port PATH | --pty PATH] [--profile FILE --functions FILE] [--leak-...: leak.h] ELF
 *
 * Standard input and output are the firmware's UART; the events descriptor gets one JSON object a line: a
 * region between two marks, a fault, or the end (as of all drivers; arm.c explains the options that both
 * have). The first
 * --ram is the fastest to use. All figures come from the device's descriptor or the caller; this program
 * counts and holds no costs of its own.
 *
 * The instructions are executed here and not by Unicorn, which the ARM driver uses: Unicorn 2.1.4 has no core
 * with sixteen registers (RV32E), does not know the compressed instructions of WCH's chips, and reports no
 * branch before the next block begins, while a predictor's state changes with each. Tests compare every
 * instruction with Unicorn.
 */
#define _GNU_SOURCE /* fdopen, poll, openpty, setlinebuf, vasprintf */
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "bounds.h"
#include "elf.h"
#include "overflow.h"
#include "restart.h"
#include "riscv_free.h"
#include "riscv_leak.h"
#include "sandbox.h"

enum { EXIT_USAGE = 2 };

static const struct riscv_core cores[] = {
    {"sifive-e31", RISCV_I | RISCV_M | RISCV_A | RISCV_C, false},
    {"qingke-v2a", RISCV_I | RISCV_C | RISCV_E | RISCV_XW, false},
    {"esp32c3", RISCV_I | RISCV_M | RISCV_C, false},
};

static struct machine machine;
static struct {
    const char *port, *pty, *functions;
    uint32_t simulated;
} names; /* from the command line */

/* ---- what the chip's registers ask for ---- */

static uint64_t now(void *context) {
    return ((struct machine *)context)->cycles;
}

/* The firmware looks whether a byte has come. It waits when it does nothing but look: its last access was the
 * same one. Then this program waits too. */
static int uart_has_input(void *context) {
    struct machine *m = context;
    enum pipe_input input;
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
    m->deadline = m->cycles + m->max_cycles;
    return input == PIPE_INPUT;
}

static uint8_t uart_read(void *context) {
    return free_run.on ? free_take(context) : pipe_take(&((struct machine *)context)->pipe);
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
        m->deadline = m->cycles + m->max_cycles; /* an answer, and the next request is there */
    }
}

/* ---- the command line ---- */

static void fail(const char *what, const char *which) {
    fprintf(stderr, "riscv: %s %s\n", which, what);
    exit(EXIT_USAGE);
}

/* Reads `count` numbers separated by colons; all must be there. */
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
    bool given[RISCV_COST_COUNT] = {false};
    for (char *item = strtok(text, ","); item != NULL; item = strtok(NULL, ",")) {
        char *equals = strchr(item, '=');
        unsigned i = 0;
        while (i < RISCV_COST_COUNT && equals != NULL &&
               (strncmp(item, riscv_cost_names[i], (size_t)(equals - item)) != 0 ||
                riscv_cost_names[i][equals - item] != '\0')) {
            i++;
        }
        if (equals == NULL || i == RISCV_COST_COUNT) {
            fail("is not a cost of instructions", item);
        }
        numbers(equals + 1, item, &m->cost[i], 1);
        given[i] = true;
    }
    for (unsigned i = 0; i < RISCV_COST_COUNT; i++) {
        if (!given[i]) {
            fail("has no cycles", riscv_cost_names[i]);
        }
        if (m->cost[i] > UINT8_MAX || (i == RISCV_COST_fetch_ahead && m->cost[i] >= RISCV_FETCH_RING)) {
            fail("has too many cycles", riscv_cost_names[i]);
        }
    }
    for (unsigned i = RISCV_COST_alu; i <= RISCV_COST_store; i++) {
        if (m->cost[i] == 0 && strstr(riscv_cost_names[i], "_result") == NULL) {
            fail("needs at least one cycle", riscv_cost_names[i]);
        }
    }
}

static void add_memory(struct machine *m, const char *text, const char *key, bool is_flash) {
    uint32_t range[2];
    struct riscv_memory *memory = &m->memories[m->memory_count];
    numbers(text, key, range, 2);
    if (m->memory_count++ == RISCV_MEMORIES || range[1] < 4 || (range[1] & 3u) != 0) {
        fail("must be BASE:BYTES, a multiple of four bytes", key);
    }
    *memory = (struct riscv_memory){
        range[0], range[1], is_flash, malloc(range[1]), calloc(range[1] / 2, sizeof(struct riscv_step)),
        false,    NULL};
    if (memory->data == NULL || memory->steps == NULL) {
        fail("finds no memory", key);
    }
    memset(memory->data, is_flash ? 0xFF : 0, memory->bytes); /* erased flash reads as ones */
}

/* The chip's further addresses of its memories. */
static void add_twins(struct machine *m) {
    for (unsigned i = 0; i < RISCV_TWINS && m->chip.model->twins[i].of != 0; i++) {
        const struct riscv_twin *twin = &m->chip.model->twins[i];
        struct riscv_memory *memory = memory_at(m, twin->of, 1), *added = &m->memories[m->memory_count];
        if (memory == NULL || memory->twin != NULL || m->memory_count == RISCV_MEMORIES) {
            continue;
        }
        *added = *memory;
        added->base = twin->base;
        added->steps = calloc(memory->bytes / 2, sizeof(struct riscv_step));
        added->twin = memory;
        memory->twin = added;
        m->memory_count++;
        if (added->steps == NULL) {
            fail("finds no memory", "a memory's second address");
        }
    }
}

static void set_core(struct machine *m, const char *name) {
    for (size_t i = 0; i < COUNT_OF(cores); i++) {
        if (strcmp(cores[i].name, name) == 0) {
            m->core = &cores[i];
            return;
        }
    }
    fail("is not a core that this driver supports", name);
}

static void set_predictor(struct machine *m, const char *text, const char *key) {
    uint32_t three[3];
    numbers(text, key, three, 3);
    if (three[0] == 0 || three[0] > RISCV_BTB_MAX || three[1] == 0 || three[1] > RISCV_BHT_MAX ||
        three[2] == 0 || three[2] > RISCV_RAS_MAX) {
        fail("must be entries of BTB:BHT:RAS, at most 64:1024:16", key);
    }
    m->predictor.btb_entries = three[0];
    m->predictor.bht_entries = three[1];
    m->predictor.ras_entries = three[2];
}

static void set_option(struct machine *m, const char *key, char *text) {
    uint32_t three[3];
    if (strcmp(key, "--core") == 0) {
        set_core(m, text);
    } else if (strcmp(key, "--chip") == 0) {
        m->chip.model = riscv_chip_model_of(text);
        if (m->chip.model == NULL) {
            fail("is not a chip that this driver models", text);
        }
    } else if (strcmp(key, "--cycles") == 0) {
        set_costs(m, text);
    } else if (strcmp(key, "--flash") == 0) {
        add_memory(m, text, key, true);
    } else if (strcmp(key, "--ram") == 0) {
        add_memory(m, text, key, false);
    } else if (strcmp(key, "--mark") == 0) {
        numbers(text, key, &m->mark, 1);
    } else if (strcmp(key, "--simulated") == 0) {
        numbers(text, key, &names.simulated, 1);
    } else if (strcmp(key, "--stack-limit") == 0) {
        numbers(text, key, &m->stack_limit, 1);
    } else if (strcmp(key, "--predictor") == 0) {
        set_predictor(m, text, key);
    } else if (strcmp(key, "--cache") == 0) {
        numbers(text, key, three, 3);
        if (cache_init(&m->cache, three[0], three[1], three[2]) != 0) {
            fail("must be BYTES:WAYS:LINE, powers of two", key);
        }
        m->cache_on = true;
    } else if (strcmp(key, "--miss-cycles") == 0) {
        numbers(text, key, &m->miss_cycles, 1);
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
        profile.path = text;
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
        } else if (strcmp(argv[i], "--stamps") == 0) {
            free_run.line.stamps = true;
        } else if (strcmp(argv[i], "--leak-detail") == 0) {
            leak.detail = true;
        } else if (strcmp(argv[i], "--input") == 0) {
            free_run.line.reads_input = true;
        } else if (i + 1 < argc) {
            set_option(m, argv[i], argv[i + 1]);
            i++;
        } else {
            fail("needs a value", argv[i]);
        }
    }
    if (elf == NULL || m->core == NULL || m->chip.model == NULL || m->cost[RISCV_COST_alu] == 0 ||
        m->memory_count == 0 || m->memories[0].is_flash || m->pipe.events == NULL) {
        fail("needs --core, --chip, --cycles, --ram before --flash, an ELF file and open events",
             "the command line");
    }
    return elf;
}

/* ---- running ---- */

static const char *store_segment(void *context, const struct elf_segment *segment) {
    struct riscv_memory *memory = memory_at(context, segment->load_address, segment->bytes);
    if (memory == NULL) {
        return "has a segment outside the device's memories";
    }
    memcpy(memory->data + (segment->load_address - memory->base), segment->data, segment->bytes);
    return NULL;
}

static void run(struct machine *m, uint32_t entry) {
    m->pc = entry;
    m->last_read = m->reserved = 1;
    riscv_predictor_begin(&m->predictor, false);
    riscv_fetch_restart(&m->fetch, entry / 4, 0, m->cost);
    if (profile.on) {
        shadow_begin(&profile.shadow, 0, 0, 0);
    }
    if (leak.on) {
        m->before_step = riscv_leak_from;
    }
    if (m->trace || free_run.on) {
        run_looking(m);
    } else if (m->cache_on || m->cost[RISCV_COST_fetch_word] != 0) {
        if (riscv_results_come_late(m->cost)) {
            run_fetching(m);
        } else {
            run_fetching_alone(m);
        }
    } else {
        run_plain(m);
    }
    if (m->ending == riscv_leak_reached) {
        const char *problem = riscv_leak_all(m);
        m->ending = NULL;
        finish(m, problem != NULL ? "fault" : "recorded", "%s", problem != NULL ? problem : "all runs");
    }
}

int main(int argc, char **argv) {
    struct machine *m = &machine;
    struct elf_file elf;
    struct chip_outside outside = {now, uart_has_input, uart_read, uart_write, NULL, m, NULL};
    const char *path, *problem;
    signal(SIGPIPE, SIG_IGN);
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a killed parent leaves no simulator running */
    m->max_cycles = UINT64_C(4000000000);
    m->pipe.events = stderr;
    free_run.max_seconds = 1e300;
    free_run.line.max_output = UINT64_MAX;
    path = parse(m, argc, argv);
    add_twins(m);
    setlinebuf(m->pipe.events);
    problem = elf_open(&elf, path, ELF_MACHINE_RISCV);
    problem = problem != NULL ? problem : elf_load(&elf, store_segment, m);
    if (problem != NULL) {
        fail(problem, path);
    }
    m->deadline = m->max_cycles;
    if (leak.on && !leak_open()) {
        fail("needs --leak-input, --leak-output and a --leak-limit", "recording");
    }
    if (free_run.on) {
        outside.uart_sender_flags = free_waiting;
        if (!free_open(m, names.port, names.pty, names.functions)) {
            return EXIT_USAGE;
        }
    }
    if (!riscv_chip_reset(&m->chip, &outside, names.simulated)) {
        fail("finds no memory", "registers");
    }
    restart_point();
    sandbox_enter("riscv");
    run(m, elf.entry);
    if (free_run.on) {
        return free_end(m);
    }
    fprintf(m->pipe.events, "{\"event\":\"%s\",\"kind\":\"%s\",\"detail\":\"%s\",", m->ending,
            m->fault_kind != NULL ? m->fault_kind : "", m->detail);
    print_overflow(m->pipe.events, m->fault_kind, m->fault_sp, m->stack_limit);
    fprintf(m->pipe.events,
            "\"cycle\":%" PRIu64 ",\"instructions\":%" PRIu64 ",\"cache_misses\":%" PRIu64
            ",\"clock_hz\":%.0f,\"baud\":%.0f}\n",
            m->cycles, m->instructions, m->cache.misses, m->chip.model->hz(&m->chip), m->chip.model->baud(&m->chip));
    return strcmp(m->ending, "end") == 0 ? 0 : EXIT_FAILURE;
}
