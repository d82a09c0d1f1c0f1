/* avr_run.c: run any AVR firmware in libsimavr as a board would, and report what it cost.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later (it links libsimavr); the rest of the project is MIT.
 *
 *   avr_run --mcu M --clock HZ --image FILE [OPTION...]
 *
 *   memory  [--base ADDRESS] [--start ADDRESS] [--data FILE] [--data-end ADDRESS] [--eeprom FILE]
 *   limits  [--max-cycles N] [--until TEXT] [--max-output N]
 *   line    [--stamps] [--real] [--input] [--port PATH | --pty PATH [--board] | --lockstep]
 *   others  [--adc MILLIVOLTS] [--bare] [--profile FILE --functions FILE] [--notes FILE]
 *           [--store ADDRESS]... registers that only store a value; with these, others that
 *           nothing models are reported
 *           [--events DESCRIPTOR]; --leak-...: leak.h
 *
 * The image is the flash's content from --base on, --data an image of the EEPROM. Output goes to standard
 * output and, where one is named, to a serial port or a new pseudo-terminal; input comes from there, or with
 * --input from standard input. --board resets the chip when the pseudo-terminal is opened, as the UNO's USB
 * bridge does. The events descriptor gets one JSON object a line: notes on what is not modelled, and the end.
 *
 * Corrections of libsimavr 1.6, by the ATmega328P's datasheet (DS40002061B): interrupts and sleep (avr_step.h), the
 * EEPROM's time (avr_eeprom_model.h), a byte on the line has a parity bit only where it is switched on (20.5),
 * the UART's two registers (avr_uart_model.h), timers and SPI (avr_timer_model.h, avr_bus_model.h).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "avr_bus_model.h"
#include "avr_chip.h"
#include "avr_eeprom_model.h"
#include "avr_guard.h"
#include "avr_leak.h"
#include "avr_rounds.h"
#include "avr_run_board.h"
#include "avr_run_line.h"
#include "avr_run_lockstep.h"
#include "avr_run_profile.h"
#include "avr_run_watch.h"
#include "avr_timer_model.h"
#include "avr_uart_model.h"
#include "avr_stacks.h"
#include "avr_step.h"
#include "avr_run_unmodelled.h"
#include "avr_wait.h"
#include "bounds.h"
#include "sandbox.h"
#include "stack_told.h"

enum { EXIT_USAGE = 2, EXIT_FAULT = 3, JUMP_TO_SELF = 0xCFFF, REGISTER_STORES = 4 };

static struct {
    uint64_t max_cycles;
    int real, bare, lockstep;
    uint16_t data_end;
    FILE *events;
} options;

static struct run run;
static struct line line;
static struct uart uart;
static struct board board;
static struct profile profile;
static volatile sig_atomic_t stopping;

static void on_signal(int number) {
    (void)number;
    stopping = true;
}

static void note(const char *what) {
    fprintf(options.events, "{\"event\":\"note\",\"detail\":\"%s\",\"cycle\":%" PRIu64 "}\n", what,
            (uint64_t)run.avr->cycle);
}

static void finish(const char *kind, const char *format, ...) {
    va_list arguments;
    line_flush(&line);
    watch_tell(note);
    board_save_eeprom(&board, run.avr);
    profile_end(&profile, run.avr);
    touched_tell(&unmodelled.touched, name_unmodelled, NULL, options.events);
    fprintf(options.events, "{\"event\":\"%s\",\"detail\":\"", kind);
    va_start(arguments, format);
    vfprintf(options.events, format, arguments);
    va_end(arguments);
    fprintf(options.events, "\",\"cycle\":%" PRIu64 ",\"pc\":%u,", (uint64_t)run.avr->cycle, (unsigned)run.avr->pc);
    print_stack(options.events, run.has_several_stacks, (uint32_t)(run.avr->ramend - run.least_sp));
    fprintf(options.events, "\"interrupts\":%" PRIu64 ",\"resets\":%" PRIu64 ",\"waited\":%" PRIu64 "}\n",
            core.interrupts, board.resets, wait_loops.cycles);
    exit(strcmp(kind, "fault") == 0 ? EXIT_FAULT : 0);
}

/* --- running --------------------------------------------------------------------------------------- */

static uint16_t stack_pointer(void) {
    return (uint16_t)(run.avr->data[R_SPL] | run.avr->data[R_SPH] << 8);
}

/* The stack pointer is below all that it was: a frame, or another stack. */
static void watch_stack(avr_flashaddr_t pc, uint16_t sp) {
    enum sp_load load = sp_load_at(run.avr, pc);
    if (load == SP_HALF) {
        return;
    }
    if (load == SP_LOADED && !sp_is_computed(run.avr, pc) && run.least_sp != run.avr->ramend) { /* not start-up code */
        run.has_several_stacks = true;
        run.least_sp = 0;
        return;
    }
    run.least_sp = sp;
    if (sp < options.data_end) {
        finish("fault", "the stack ran into the data: stack pointer 0x%x, data end at 0x%x, at 0x%x", sp,
               options.data_end, (unsigned)pc);
    }
}

static void check_state(int state, avr_flashaddr_t pc) {
    if (state == cpu_Crashed) {
        char why[CODE_CRASH_BYTES];
        code_crash(run.avr, pc, why, sizeof why);
        finish("fault", "%s", why);
    }
    if (state == cpu_Done) {
        finish("sleep", "it sleeps with interrupts off");
    }
    if (run.avr->pc == pc && !run.avr->sreg[S_I] && opcode_at(run.avr, pc) == JUMP_TO_SELF && !board.wdt_on) {
        finish("stop", "it has ended: an empty loop with interrupts off");
    }
}

static inline int run_one(avr_t *avr) {
    avr->run(avr);
    return avr->state;
}

/* As run_one, without a call where the chip's step is ours: it is, except for one call of the watchdog's. */
static inline int run_ours(avr_t *avr) {
    if (avr->run != step_run) {
        return run_one(avr);
    }
    step(avr);
    return avr->state;
}

static inline int run_watched(avr_t *avr, avr_flashaddr_t pc) {
    int state = run_ours(avr);
    uint16_t sp = stack_pointer();
    if (sp < run.least_sp) {
        watch_stack(pc, sp);
    }
    return state;
}

/* After an instruction that led back, slept or stopped; steps on while a round is recorded. */
static void look_around(avr_t *avr, avr_flashaddr_t pc, int state) {
    for (;;) {
        if (state != cpu_Running || avr->pc == pc) {
            check_state(state, pc);
        }
        if (rounds.recording) {
            rounds_record(avr, pc, run.until);
        }
        if (avr->pc <= pc && state == cpu_Running && !rounds.recording && !wait_is_hopeless(pc)) {
            wait_round(avr, pc, run.until);
            rounds_begin(avr, pc, run.until);
        }
        if (!rounds.recording || avr->cycle >= run.until) {
            return;
        }
        pc = avr->pc;
        state = run_watched(avr, pc);
    }
}

/* A millisecond or so of simulated time, instruction by instruction. */
static void run_slice(void) {
    avr_t *avr = run.avr;
    rounds.recording = false; /* a round does not go on beyond the slice that it began in */
    while (avr->cycle < run.until) {
        avr_flashaddr_t pc = avr->pc;
        int state = run_watched(avr, pc);
        if (avr->pc <= pc || state != cpu_Running) {
            look_around(avr, pc, state);
        }
    }
}

static void run_slice_bare(void) {
    while (run.avr->cycle < run.until) {
        if (run_one(run.avr) > cpu_Sleeping) {
            check_state(cpu_Crashed, run.avr->pc);
        }
    }
}

static void run_slice_profiled(void) {
    avr_t *avr = run.avr;
    while (avr->cycle < run.until) {
        avr_flashaddr_t pc = avr->pc;
        avr_cycle_count_t before = avr->cycle;
        int state;
        uint16_t sp;
        core.interrupted = 0;
        state = run_one(avr);
        sp = stack_pointer();
        profile_step(&profile, avr, pc, avr->cycle - before, core.interrupted);
        if (sp < run.least_sp) {
            watch_stack(pc, sp);
        }
        if (state != cpu_Running || avr->pc == pc) {
            check_state(state, pc);
        }
        if (rounds.recording) {
            rounds_record(avr, pc, run.until);
        }
        if (avr->pc <= pc && state == cpu_Running && !rounds.recording && !options.bare) {
            rounds_begin(avr, pc, run.until);
        }
    }
}

/* Until the place where recording begins; from there, all its runs. */
static void run_slice_leaking(void) {
    const char *problem;
    while (run.avr->cycle < run.until && run.avr->pc != leak.from) {
        avr_flashaddr_t pc = run.avr->pc;
        int state = run_watched(run.avr, pc);
        if (state != cpu_Running || run.avr->pc == pc) {
            check_state(state, pc);
        }
    }
    if (run.avr->pc == leak.from) {
        problem = avr_leak_all(run.avr);
        finish(problem != NULL ? "fault" : "recorded", "%s at 0x%x", problem != NULL ? problem : "all runs",
               (unsigned)run.avr->pc);
    }
}

static void on_loop(avr_t *avr, uint64_t made) {
    profile_loop(&profile, avr, made);
}

static void on_rounds(avr_t *avr, avr_flashaddr_t pc, uint64_t rounds) {
    (void)avr;
    profile_rounds(&profile, pc, rounds);
}

static void end_if_over(void) {
    if (line.seen_until) {
        finish("until", "found the --until text");
    }
    if (line.flooded) {
        finish("flood", "more than %" PRIu64 " bytes came from the UART", line.max_output);
    }
    if (stopping) {
        finish("stopped", "stopped by a signal");
    }
    if (run.avr->cycle >= options.max_cycles) {
        finish("limit", "time limit reached");
    }
}

static void run_all(uint64_t clock_hz) {
    uint64_t step = clock_hz / (options.lockstep ? 100 : 1000), granted = 0;
    struct pace pace;
    pace_start(&pace, run.avr->cycle, clock_hz);
    for (;;) {
        while (options.lockstep && (run.avr->cycle >= granted || line.output_end > 0)) {
            if (!lockstep_wait(&line, options.events, run.avr->cycle, &granted)) {
                finish("stopped", "no more time is granted");
            }
            uart_look(&uart);
        }
        run.until = least(run.avr->cycle + step, options.max_cycles);
        if (options.lockstep) {
            run.until = least(run.until, granted);
        }
        core.limit = run.until;
        if (leak.on) {
            run_slice_leaking();
        } else if (profile.on) {
            run_slice_profiled();
        } else if (options.bare) {
            run_slice_bare();
        } else {
            run_slice();
        }
        end_if_over();
        board_look(&board, run.avr);
        watch_tell(note);
        if (!options.lockstep) {
            uart_look(&uart);
        }
        if (line.vanished) {
            finish("gone", "the port has vanished");
        }
        if (line.opened && board.resets_on_open) {
            board_reset(&board, run.avr);
            uart_reset(&uart);
            profile_reset(&profile, run.avr);
        }
        if (options.real) {
            pace_wait(&pace, run.avr->cycle);
        }
    }
}

/* --- the command line ------------------------------------------------------------------------------ */

static void fail(const char *what, const char *which) {
    fprintf(stderr, "avr_run: %s%s%s\n", what, which ? ": " : "", which ? which : "");
    exit(EXIT_USAGE);
}

static void quiet(avr_t *avr, const int level, const char *format, va_list arguments) {
    (void)avr;
    (void)level;
    (void)format;
    (void)arguments;
}

static void make_chip(const char *mcu, uint64_t clock_hz, const char *image, uint32_t base, uint32_t start) {
    run.avr = chip_make(mcu);
    if (run.avr == NULL) {
        fail("libsimavr does not know the chip", mcu);
    }
    if (!avr_guard(run.avr)) {
        fail("no memory for the chip", mcu);
    }
    run.avr->frequency = (uint32_t)clock_hz;
    run.avr->vcc = run.avr->avcc = run.avr->aref = 5000;
    if (!board_load(run.avr->flash, run.avr->flashend + 1u, base, image)) {
        fail("cannot be loaded", image);
    }
    run.avr->reset_pc = start;
    run.avr->pc = start;
    run.least_sp = run.avr->ramend;
    timers_open(run.avr);
    uarts_open(run.avr);
    buses_open(run.avr);
    eeprom_open(run.avr);
    wait_open(run.avr);
}

int main(int argc, char **argv) {
    const char *mcu = "", *image = NULL, *data = NULL, *port = NULL, *pty = NULL, *functions = NULL,
               *notes = NULL;
    uint64_t clock_hz = 0;
    uint32_t base = 0, start = 0;
    uint16_t stores[REGISTER_STORES];
    size_t store_count = 0;
    options.max_cycles = UINT64_MAX;
    options.events = stderr;
    line.max_output = UINT64_MAX;
    for (int i = 1; i < argc; i++) {
        const char *key = argv[i];
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        int *flag = strcmp(key, "--stamps") == 0  ? &line.stamps
                    : strcmp(key, "--real") == 0  ? &options.real
                    : strcmp(key, "--bare") == 0  ? &options.bare
                    : strcmp(key, "--input") == 0 ? &line.reads_input
                    : strcmp(key, "--board") == 0 ? &board.resets_on_open
                    : strcmp(key, "--lockstep") == 0 ? &options.lockstep
                    : strcmp(key, "--leak-detail") == 0 ? &leak.detail
                                                  : NULL;
        if (flag != NULL) {
            *flag = true;
            continue;
        }
        if (strncmp(key, "--leak-", 7) == 0) {
            if (!leak_option(key, value)) {
                fail("is wrong", key);
            }
        } else if (strcmp(key, "--mcu") == 0) {
            mcu = value;
        } else if (strcmp(key, "--clock") == 0) {
            clock_hz = strtoull(value, NULL, 0);
        } else if (strcmp(key, "--image") == 0) {
            image = value;
        } else if (strcmp(key, "--base") == 0) {
            base = (uint32_t)strtoul(value, NULL, 0);
        } else if (strcmp(key, "--start") == 0) {
            start = (uint32_t)strtoul(value, NULL, 0);
        } else if (strcmp(key, "--data") == 0) {
            data = value;
        } else if (strcmp(key, "--data-end") == 0) {
            options.data_end = (uint16_t)strtoul(value, NULL, 0);
        } else if (strcmp(key, "--max-cycles") == 0) {
            options.max_cycles = strtoull(value, NULL, 0);
        } else if (strcmp(key, "--until") == 0) {
            line.until = value;
        } else if (strcmp(key, "--max-output") == 0) {
            line.max_output = strtoull(value, NULL, 0);
        } else if (strcmp(key, "--port") == 0) {
            port = value;
        } else if (strcmp(key, "--pty") == 0) {
            pty = value;
        } else if (strcmp(key, "--eeprom") == 0) {
            board.eeprom_path = value;
        } else if (strcmp(key, "--adc") == 0) {
            board.millivolts = value;
        } else if (strcmp(key, "--profile") == 0) {
            profile.path = value;
        } else if (strcmp(key, "--functions") == 0) {
            functions = value;
        } else if (strcmp(key, "--store") == 0 && store_count < REGISTER_STORES) {
            stores[store_count++] = (uint16_t)strtoul(value, NULL, 0);
        } else if (strcmp(key, "--notes") == 0) {
            notes = value;
        } else if (strcmp(key, "--events") == 0) {
            options.events = fdopen(atoi(value), "w");
        } else {
            fail("unknown option", key);
        }
        i++;
    }
    if (image == NULL || clock_hz == 0 || options.events == NULL) {
        fail("needs --image, --clock and open events", NULL);
    }
    setlinebuf(options.events);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    signal(SIGINT, on_signal);
    signal(SIGTERM, on_signal);
    signal(SIGPIPE, SIG_IGN);
    avr_global_logger_set(quiet);
    make_chip(mcu, clock_hz, image, base, start);
    if (!board_open(&board, run.avr, data)) {
        fail(board.trouble, board.eeprom_path ? board.eeprom_path : data);
    }
    if (notes != NULL && !watch_open(run.avr, notes)) {
        fail("is not a list of notes", notes);
    }
    uart_open(&uart, &line, run.avr, &run.until);
    uart.each_byte = options.lockstep;
    if (line_open(&line, port, pty) != 0) {
        fail(strerror(errno), port ? port : pty);
    }
    if (profile.path != NULL && !profile_open(&profile, run.avr, functions)) {
        fail("cannot be read", functions);
    }
    if (leak.on && !leak_open()) {
        fail("recording needs --leak-input, --leak-output and a --leak-limit", NULL);
    }
    if (line.is_pty) {
        fprintf(options.events, "{\"event\":\"port\",\"detail\":\"%s\"}\n", line.name);
    }
    eeprom.on_rounds = on_rounds;
    rounds.alone = profile.on;
    rounds.on_rounds = profile.on ? on_loop : NULL;
    step_open(run.avr);
    core.on_flags = timers_look;
    if (!options.bare && store_count != 0) {
        unmodelled_open(run.avr, stores, store_count);
    }
    sandbox_enter("avr_run");
    run_all(clock_hz);
    return 0;
}
