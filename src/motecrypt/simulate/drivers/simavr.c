/* simavr.c: run one AVR firmware in libsimavr and count its cycles.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later (it links libsimavr); the rest of the project is MIT.
 *
 *   simavr --mcu M --clock HZ --mark ADDRESS [--simulated ADDRESS] [--line ADDRESS]
 *          [--data-end ADDRESS] [--max-cycles N] [--events DESCRIPTOR] [--restarts DESCRIPTOR] [--trace] [--dump FILE] ELF
 *
 * Standard input and output are the firmware's UART, or of a chip without one the register of --line: a byte written
 * there is sent; while bit 1 of the register of --simulated is 1 a byte has come and is read there, and a write to that
 * register asks for the next. The events descriptor gets one JSON object a line:
 * a region between two marks, a fault, or the end. The driver works in lock-step: once the firmware
 * has sent a whole frame (0x7e ends it) for each that it was sent, it blocks on standard input, so
 * simulated time depends on what is sent and never on when. There, a byte at the restarts descriptor starts the
 * firmware again, from the chip's first state (restart.h).
 *
 * --trace follows every instruction between marks: deepest stack pointer, and a digest of the program
 * counters and data addresses, so that two runs with equal digests took the same branches and touched
 * the same memory. --dump writes those to a file. It does not depend on ciphers.
 *
 * The ELF file is read here (elf.h): libsimavr's own reader obeys a section of the file that names files to
 * write. What the firmware can reach is bounded by avr_guard.h and sandbox.h.
 */
#include <inttypes.h>
#include <simavr/avr_eeprom.h>
#include <simavr/avr_uart.h>
#include <simavr/sim_avr.h>
#include <simavr/sim_irq.h>
#include <simavr/sim_time.h>
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
#include "avr_stacks.h"
#include "avr_step.h"
#include "avr_timer_model.h"
#include "elf.h"
#include "restart.h"
#include "sandbox.h"

enum { LINE_CAME = 2 };
enum { BURST = 4096, MAX_OUTPUT = 1 << 16, FRAME_END = 0x7e, AVR_ELF_EEPROM = 0x810000 };

static struct {
    avr_t *avr;
    avr_irq_t *uart_in;
    avr_io_addr_t line, simulated; /* 0: none */
    FILE *events;
    FILE *dump;
    const char *fault_kind; /* "stack", "silent" or "flood"; NULL: another fault */
    uint64_t max_cycles;    /* per request */
    uint64_t request_cycle; /* when the last input was read */
    uint64_t output_since_input;
    size_t input_at, input_end;
    uint8_t input[BUFSIZ];
    int frame_open;      /* bytes since the last delimiter */
    int request_open;    /* the same of what came in */
    unsigned unanswered; /* whole frames to go out before lock-step may block: one for each that came in, at least one */
    /* the timed region */
    int in_region;
    int trace;
    uint64_t begin_cycle, digest, instructions;
    uint16_t begin_sp, deepest_sp, data_end;
} sim;

static void finish(const char *kind, const char *format, ...) {
    va_list arguments;
    fprintf(sim.events, "{\"event\":\"%s\",\"kind\":\"%s\",\"detail\":\"", kind,
            sim.fault_kind ? sim.fault_kind : "");
    va_start(arguments, format);
    vfprintf(sim.events, format, arguments);
    va_end(arguments);
    if (sim.fault_kind != NULL && strcmp(sim.fault_kind, "stack") == 0) {
        fprintf(sim.events, "\",\"stack_pointer\":%u,\"stack_limit\":%u", sim.deepest_sp, sim.data_end);
    } else {
        fprintf(sim.events, "\"");
    }
    fprintf(sim.events, ",\"cycle\":%" PRIu64 ",\"pc\":%u}\n", sim.avr ? (uint64_t)sim.avr->cycle : 0,
            sim.avr ? (unsigned)sim.avr->pc : 0);
    exit(strcmp(kind, "end") == 0 ? 0 : 3);
}

static uint16_t pair(int low) {
    return (uint16_t)(sim.avr->data[low] | (sim.avr->data[low + 1] << 8));
}

/* --- marks ---------------------------------------------------------------------------------------- */

static void on_mark(avr_t *avr, avr_io_addr_t address, uint8_t value, void *parameter) {
    (void)parameter;
    avr->data[address] = value;
    if (value) {
        sim.in_region = true;
        sim.begin_cycle = avr->cycle;
        sim.begin_sp = sim.deepest_sp = pair(R_SPL);
        sim.digest = UINT64_C(0xcbf29ce484222325);
        sim.instructions = 0;
    } else if (sim.in_region) {
        sim.in_region = 0;
        fprintf(sim.events, "{\"event\":\"region\",\"cycles\":%" PRIu64, (uint64_t)avr->cycle - sim.begin_cycle);
        if (sim.trace) {
            fprintf(sim.events, ",\"stack\":%u,\"trace\":\"%016" PRIx64 "\",\"instructions\":%" PRIu64,
                    (unsigned)(sim.begin_sp - sim.deepest_sp), sim.digest, sim.instructions);
        }
        fputs("}\n", sim.events);
        if (sim.dump) {
            fputs("end\n", sim.dump);
            fflush(sim.dump);
        }
    }
}

/* --- the trace ------------------------------------------------------------------------------------ */

/* The digest is a polynomial in this factor, modulo 2^64, over a hash of each instruction: every instruction
 * changes it,
 * and repetitions can be added in one step. */
static const uint64_t trace_factor = UINT64_C(0x5851f42d4c957f2d);

static inline uint64_t spread(uint64_t value) {
    value *= UINT64_C(0x9e3779b97f4a7c15);
    return value ^ value >> 32;
}

/* Z with RAMPZ above it, on chips with more than 64 KB of flash. */
static int32_t far_z(void) {
    return (sim.avr->rampz ? sim.avr->data[sim.avr->rampz] << 16 : 0) | pair(30);
}

/* The data or program (plus 0x10000) address that the instruction `op` is about to touch, or -1.
 * Encodings: AVR Instruction Set Manual DS40002198. Push and pop follow from the program counter. */
static int32_t address_of(uint16_t op, uint16_t next) {
    uint16_t displacement = (uint16_t)(((op >> 8) & 0x20) | ((op >> 7) & 0x18) | (op & 7));
    if ((op & 0xd000) == 0x8000) { /* ld or st with displacement from Y or Z */
        return pair(op & 8 ? 28 : 30) + displacement;
    }
    if (op == 0x95c8) { /* lpm r0, Z */
        return 0x10000 + pair(30);
    }
    if (op == 0x95d8) { /* elpm r0, Z */
        return 0x10000 + far_z();
    }
    if ((op & 0xfc00) != 0x9000) {
        return -1;
    }
    switch (op & 0xf) { /* lds, sts; ld or st with increment or decrement; lpm, elpm */
    case 0x0:
        return next;
    case 0x1:
        return pair(30);
    case 0x2:
        return pair(30) - 1;
    case 0x4:
    case 0x5:
        return op & 0x200 ? -1 : 0x10000 + pair(30);
    case 0x6:
    case 0x7:
        return op & 0x200 ? -1 : 0x10000 + far_z();
    case 0x9:
        return pair(28);
    case 0xa:
        return pair(28) - 1;
    case 0xc:
    case 0xd:
        return pair(26);
    case 0xe:
        return pair(26) - 1;
    default:
        return -1;
    }
}

static inline int32_t touched_by(avr_flashaddr_t pc) {
    uint16_t op = opcode_at(sim.avr, pc);
    int may_touch = (op & 0xd000) == 0x8000 || (op & 0xf000) == 0x9000;
    return may_touch ? address_of(op, opcode_at(sim.avr, pc + 2)) : -1;
}

static inline uint64_t traced(avr_flashaddr_t pc, int32_t address) {
    return spread(((uint64_t)pc << 32) | (uint32_t)address);
}

static inline void trace_instruction(avr_flashaddr_t pc) {
    int32_t address = touched_by(pc);
    sim.digest = sim.digest * trace_factor + traced(pc, address);
    sim.instructions++;
    if (sim.dump) {
        fprintf(sim.dump, "%x %x\n", (unsigned)pc, (unsigned)address);
    }
}

/* The skipped rounds of a waiting loop (avr_eeprom_model.h), an RJMP and the instruction that it leads to in
 * each round, are traced as if they had been stepped: a round turns the digest d into d * factor + added, and
 * two such
 * steps combine into one. */
static void trace_rounds(avr_t *avr, avr_flashaddr_t pc, uint64_t rounds) {
    uint64_t factor = trace_factor * trace_factor;
    uint64_t added = traced(pc + 2, touched_by(pc + 2)) * trace_factor + traced(pc, touched_by(pc));
    (void)avr;
    if (!sim.trace || !sim.in_region) {
        return;
    }
    sim.instructions += 2 * rounds;
    for (uint64_t line = 0; sim.dump && line < rounds; line++) {
        fprintf(sim.dump, "%x %x\n%x %x\n", (unsigned)pc + 2, (unsigned)touched_by(pc + 2), (unsigned)pc,
                (unsigned)touched_by(pc));
    }
    for (; rounds > 0; rounds >>= 1) {
        if (rounds & 1) {
            sim.digest = sim.digest * factor + added;
        }
        added += added * factor;
        factor *= factor;
    }
}

static inline void watch_stack(avr_flashaddr_t pc) {
    uint16_t sp = pair(R_SPL);
    if (sp < sim.deepest_sp && sp_load_at(sim.avr, pc) != SP_HALF) {
        sim.deepest_sp = sp;
        if (sp < sim.data_end) {
            sim.fault_kind = "stack";
            finish("fault", "the stack ran into the data: stack pointer 0x%x, data end at 0x%x", sp, sim.data_end);
        }
    }
}

/* --- the UART ------------------------------------------------------------------------------------- */

/* Resets the firmware's limits of output and cycles. */
static void next_request(void) {
    sim.output_since_input = 0;
    sim.request_cycle = sim.avr->cycle;
}

static void on_uart_out(avr_irq_t *irq, uint32_t value, void *parameter) {
    (void)irq;
    (void)parameter;
    putc((uint8_t)value, firmware_line);
    if (++sim.output_since_input > MAX_OUTPUT) {
        sim.fault_kind = "flood";
        finish("fault", "the firmware floods its UART: more than %d bytes without being asked", MAX_OUTPUT);
    }
    if ((uint8_t)value != FRAME_END) {
        sim.frame_open = true;
    } else if (sim.frame_open) {
        sim.frame_open = 0;
        if (sim.unanswered > 0 && --sim.unanswered > 0) {
            next_request();
        }
    }
}

/* A chip without a UART: the next byte, if one has come and the firmware has read the one before. */
static void give_byte(void) {
    uint8_t *state = &sim.avr->data[sim.simulated];
    if ((*state & LINE_CAME) == 0 && sim.input_at < sim.input_end) {
        sim.avr->data[sim.line] = sim.input[sim.input_at++];
        *state |= LINE_CAME;
    }
}

static void on_line_written(avr_t *avr, avr_io_addr_t address, uint8_t value, void *parameter) {
    (void)avr;
    (void)address; /* what is read there is a byte that has come: it stays */
    on_uart_out(NULL, value, parameter);
}

static void on_line_taken(avr_t *avr, avr_io_addr_t address, uint8_t value, void *parameter) {
    (void)parameter;
    avr->data[address] = (uint8_t)((value & ~LINE_CAME) | 1u);
    give_byte();
}

/* The receiver is empty: the next byte begins. So a byte comes when the one before has been read, and none is
 * lost, however fast the firmware has set its line. */
static void on_room(avr_irq_t *irq, uint32_t value, void *parameter) {
    (void)irq;
    (void)parameter;
    if (sim.line != 0) {
        give_byte();
    } else if (value && sim.input_at < sim.input_end) {
        avr_raise_irq(sim.uart_in, sim.input[sim.input_at++]);
    }
}

static avr_cycle_count_t first_byte(avr_t *avr, avr_cycle_count_t when, void *parameter) {
    (void)avr;
    (void)when;
    on_room(NULL, sim.input_at == 0, parameter);
    return 0;
}

static void read_input(void) {
    ssize_t n;
    fflush(firmware_line);
    if (restart_descriptor) {
        restart_or_input();
    }
    n = read(0, sim.input, sizeof sim.input);
    if (n <= 0) {
        finish("end", "input closed");
    }
    sim.input_at = 0;
    sim.input_end = (size_t)n;
    sim.unanswered = 0;
    for (size_t at = 0; at < sim.input_end; at++) {
        sim.unanswered += sim.input[at] == FRAME_END && sim.request_open;
        sim.request_open = sim.input[at] != FRAME_END;
    }
    sim.unanswered += sim.unanswered == 0;
    next_request();
    avr_cycle_timer_register(sim.avr, 1, first_byte, NULL);
}

static void connect_uart(void) {
    uint32_t flags = 0; /* no text of libsimavr's own, and no sleep where the firmware polls */
    const avr_uart_t *uart = chip_uart(sim.avr);
    char name = uart != NULL ? uart->name : '0';
    if (sim.line != 0) {
        avr_register_io_write(sim.avr, sim.line, on_line_written, NULL);
        avr_register_io_write(sim.avr, sim.simulated, on_line_taken, NULL);
        return;
    }
    avr_ioctl(sim.avr, AVR_IOCTL_UART_SET_FLAGS(name), &flags);
    sim.uart_in = avr_io_getirq(sim.avr, AVR_IOCTL_UART_GETIRQ(name), UART_IRQ_INPUT);
    avr_irq_register_notify(avr_io_getirq(sim.avr, AVR_IOCTL_UART_GETIRQ(name), UART_IRQ_OUTPUT), on_uart_out,
                            NULL);
    avr_irq_register_notify(avr_io_getirq(sim.avr, AVR_IOCTL_UART_GETIRQ(name), UART_IRQ_OUT_XON), on_room, NULL);
}

/* --- running -------------------------------------------------------------------------------------- */

static int over_deadline(void) {
    return sim.avr->cycle - sim.request_cycle > sim.max_cycles;
}

static inline int run_one(void) {
    if (sim.avr->run == step_run) {
        step(sim.avr);
    } else { /* the watchdog's, for one call */
        sim.avr->run(sim.avr);
    }
    return sim.avr->state;
}

static int run_burst(void) {
    int state = cpu_Running;
    for (int i = 0; i < BURST && state != cpu_Done && state != cpu_Crashed; i++) {
        state = run_one();
        if (sim.trace && sim.in_region) {
            break;
        }
    }
    return state;
}

static int run_traced(void) {
    int state = cpu_Running;
    while (sim.in_region && state != cpu_Done && state != cpu_Crashed && !over_deadline()) {
        avr_flashaddr_t pc = sim.avr->pc;
        trace_instruction(pc);
        state = run_one();
        watch_stack(pc);
    }
    return state;
}

static void run(void) {
    for (;;) {
        int state = sim.trace && sim.in_region ? run_traced() : run_burst();
        unsigned pc = (unsigned)sim.avr->pc;
        if (state == cpu_Crashed) {
            char why[CODE_CRASH_BYTES];
            code_crash(sim.avr, pc, why, sizeof why);
            finish("fault", "%s", why);
        }
        if (state == cpu_Done) {
            finish("fault", "the firmware stopped: it sleeps with interrupts off at 0x%x", pc);
        }
        if (over_deadline()) {
            sim.fault_kind = "silent";
            finish("fault", "no answer within %" PRIu64 " cycles: the firmware is at 0x%x", sim.max_cycles, pc);
        }
        if (sim.unanswered == 0 && sim.input_at >= sim.input_end) {
            read_input();
        }
    }
}

/* What avr-ld puts at 0x810000 is for the EEPROM; beyond are fuses, lock bits and the signature. */
static const char *store_segment(void *context, const struct elf_segment *segment) {
    avr_t *avr = context;
    uint64_t end = (uint64_t)segment->load_address + segment->bytes;
    if (segment->load_address >= AVR_ELF_EEPROM) {
        avr_eeprom_desc_t part = {(uint8_t *)(uintptr_t)segment->data, segment->load_address - AVR_ELF_EEPROM,
                                  segment->bytes};
        if (segment->load_address - AVR_ELF_EEPROM <= avr->e2end) {
            avr_ioctl(avr, AVR_IOCTL_EEPROM_SET, &part);
        }
        return NULL;
    }
    if (end > avr->flashend + UINT64_C(1)) {
        return "does not fit in the flash";
    }
    memcpy(avr->flash + segment->load_address, segment->data, segment->bytes);
    return NULL;
}

/* Of libsimavr's complaints the first: a firmware may cause one with each instruction. Without its colours. */
static void quiet(avr_t *avr, const int level, const char *format, va_list arguments) {
    static int told;
    char text[512];
    (void)avr;
    if (level != LOG_ERROR || told) {
        return;
    }
    told = true;
    vsnprintf(text, sizeof text, format, arguments);
    for (char *at = text; *at != '\0'; at++) {
        if (*at == '\033') { /* the colour ends with m */
            at += strcspn(at, "m");
            if (*at == '\0') {
                break;
            }
        } else if (*at >= ' ' && *at <= '~') {
            fputc(*at, stderr);
        }
    }
    fputc('\n', stderr);
}

int main(int argc, char **argv) {
    const char *mcu = "", *elf = NULL;
    unsigned long clock_hz = 0, mark = 0, simulated = 0;
    sim.max_cycles = UINT64_C(400000000);
    sim.events = stderr;
    sim.unanswered = 1; /* its greeting */
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a killed parent leaves no simulator running */
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (argv[i][0] != '-') {
            elf = argv[i];
            continue;
        }
        if (strcmp(argv[i], "--trace") == 0) {
            sim.trace = true;
            continue;
        }
        if (strcmp(argv[i], "--mcu") == 0) {
            mcu = value;
        } else if (strcmp(argv[i], "--clock") == 0) {
            clock_hz = strtoul(value, NULL, 0);
        } else if (strcmp(argv[i], "--mark") == 0) {
            mark = strtoul(value, NULL, 0);
        } else if (strcmp(argv[i], "--simulated") == 0) {
            simulated = strtoul(value, NULL, 0);
        } else if (strcmp(argv[i], "--line") == 0) {
            sim.line = (avr_io_addr_t)strtoul(value, NULL, 0);
        } else if (strcmp(argv[i], "--data-end") == 0) {
            sim.data_end = (uint16_t)strtoul(value, NULL, 0);
        } else if (strcmp(argv[i], "--max-cycles") == 0) {
            sim.max_cycles = strtoull(value, NULL, 0);
        } else if (strcmp(argv[i], "--events") == 0) {
            sim.events = fdopen(atoi(value), "w");
        } else if (strcmp(argv[i], "--restarts") == 0) {
            restart_descriptor = atoi(value);
        } else if (strcmp(argv[i], "--dump") == 0) {
            sim.dump = fopen(value, "w");
        } else {
            fprintf(stderr, "simavr: unknown option %s\n", argv[i]);
            return 2;
        }
        i++;
    }
    setlinebuf(sim.events);
    struct elf_file file;
    const char *problem = elf ? elf_open(&file, elf, ELF_MACHINE_AVR) : "is not named";
    avr_global_logger_set(quiet);
    if (problem) {
        finish("fault", "the firmware's file %s", problem);
    }
    sim.avr = chip_make(mcu);
    if (!sim.avr) {
        finish("fault", "libsimavr does not know the chip %s", mcu);
    }
    sim.avr->log = LOG_ERROR;
    sim.avr->frequency = (uint32_t)clock_hz;
    problem = avr_guard(sim.avr) ? elf_load(&file, store_segment, sim.avr) : "finds no memory";
    if (problem) {
        finish("fault", "the firmware's file %s", problem);
    }
    if (mark) {
        avr_register_io_write(sim.avr, (avr_io_addr_t)mark, on_mark, NULL);
    }
    if (simulated && simulated <= sim.avr->ramend) {
        sim.avr->data[simulated] |= 1;
        sim.simulated = (avr_io_addr_t)simulated;
    }
    connect_uart();
    timers_open(sim.avr);
    buses_open(sim.avr);
    eeprom_open(sim.avr);
    eeprom.on_rounds = trace_rounds;
    step_open(sim.avr);
    core.on_flags = timers_look;
    restart_point();
    sandbox_enter("simavr");
    run();
    return 0;
}
