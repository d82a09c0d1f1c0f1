/* SPDX-License-Identifier: GPL-3.0-or-later -- part of the drivers that link libsimavr.
 * avr_step.h: one instruction, with the timing of the ATmega328P's datasheet (DS40002061B)
 * where libsimavr 1.6 differs. It replaces libsimavr's own step.
 *
 *   7.7    the instruction after SEI, RETI or a write that sets I runs before a pending interrupt: that one only
 *   7.7.1  an interrupt takes four cycles to begin, and four more when it ends a sleep; five each where the program
 *          counter has 22 bits (ATmega2560: DS40002211A, 7.8.1)
 *   10     SLEEP sleeps only while SE is set; with an interrupt pending it sleeps and wakes immediately
 *   7.7    an interrupt that is enabled while its flag is set is taken; writing a one clears a flag, that one only
 *
 * And what an instruction does, by the instruction set manual (DS40002198), where libsimavr is wrong: it takes ADIW
 * and SBIW with some constants for instructions of two words when they are skipped, and carries out codes that
 * the chip does not have.
 */
#ifndef MOTECRYPT_AVR_STEP_H
#define MOTECRYPT_AVR_STEP_H

#include <simavr/sim_avr.h>
#include <simavr/sim_core.h>
#include <simavr/avr_watchdog.h>
#include <simavr/sim_cycle_timers.h>
#include <simavr/sim_interrupts.h>
#include <simavr/sim_irq.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "avr_codes.h"
#include "avr_guard.h"
#include "bounds.h"

enum {
    INTERRUPT_CYCLES = 4, /* and one more where the program counter has 22 bits */
    IDLE_CYCLES = 1000, /* of a sleep that no timer ends: the driver looks at its line between */
    OPCODE_SLEEP = 0x9588,
    OPCODE_SBI = 0x9A00,
    FLAGS_ABOVE = 3, /* TIFR0 ... PCIFR, EIFR at 0x35 to 0x3C on every chip with SMCR: their upper four bits */
    SMCR = 0x53,
    SLEEP_ENABLE = 1,
    WDTCSR = 0x60,
    WATCHDOG_RESETS = 1 << 3,
    ENABLES = 32 /* registers with interrupt enable bits */
};

DEFINE_FIFO(avr_int_vector_p, avr_int_pending);

static struct {
    uint64_t interrupts; /* taken since the beginning */
    uint64_t limit;      /* the cycle beyond which no sleep and no wait leads */
    int interrupted;     /* by the instruction just run */
    int has_smcr;
    const avr_watchdog_t *watchdog; /* NULL where the chip has none */
    void (*on_flags)(avr_t *avr, bool after); /* the firmware clears flags or enables interrupts; or NULL */
} core;

static inline void tell_of_flags(avr_t *avr, bool after) {
    if (core.on_flags != NULL) {
        core.on_flags(avr, after);
    }
}

/* To begin an interrupt, and again to wake. */
static inline unsigned interrupt_cycles(const avr_t *avr) {
    return INTERRUPT_CYCLES + (avr->address_size > 2);
}

/* Removes `vector` from the interrupts that wait; libsimavr leaves a cleared one among them. */
static inline void forget_pending(avr_t *avr, avr_int_vector_t *vector) {
    avr_int_pending_t *waiting = &avr->interrupts.pending;
    for (unsigned left = avr_int_pending_get_read_size(waiting); left > 0; left--) {
        avr_int_vector_p one = avr_int_pending_read(waiting);
        if (one != vector) {
            avr_int_pending_write(waiting, one);
        }
    }
    vector->pending = 0;
}

/* The pending interrupt that comes first: the one with the lowest address. Those that were switched off or
 * cleared meanwhile are dropped; switched on again, they come back (step_on_enable). */
static avr_int_vector_t *next_interrupt(avr_t *avr) {
    avr_int_pending_t *waiting = &avr->interrupts.pending;
    avr_int_vector_t *first = NULL;
    for (unsigned left = avr_int_pending_get_read_size(waiting); left > 0; left--) {
        avr_int_vector_p one = avr_int_pending_read(waiting);
        if (!one->pending || !avr_regbit_get(avr, one->enable)) {
            one->pending = 0;
            continue;
        }
        avr_int_pending_write(waiting, one);
        if (first == NULL || one->vector < first->vector) {
            first = one;
        }
    }
    return first;
}

/* As the interrupt begins, the watchdog's WDIE is cleared where a reset comes next (11.9.2). libsimavr clears it in any
 * mode. */
static void clear_interrupt(avr_t *avr, avr_int_vector_t *vector) {
    bool stays = core.watchdog != NULL && vector == &core.watchdog->watchdog && !avr_regbit_get(avr, core.watchdog->wde);
    avr_clear_interrupt(avr, vector);
    if (stays) {
        avr_regbit_set(avr, vector->enable);
    }
}

static void begin_interrupt(avr_t *avr, avr_int_vector_t *vector) {
    avr_int_table_p table = &avr->interrupts;
    forget_pending(avr, vector);
    _avr_push_addr(avr, avr->pc);
    avr_sreg_set(avr, S_I, 0);
    avr->pc = vector->vector * avr->vector_size;
    avr->cycle += interrupt_cycles(avr);
    avr_raise_irq(vector->irq + AVR_INT_IRQ_RUNNING, 1);
    avr_raise_irq(table->irq + AVR_INT_IRQ_RUNNING, vector->vector);
    if (table->running_ptr < COUNT_OF(table->running)) {
        table->running[table->running_ptr++] = vector;
    }
    clear_interrupt(avr, vector);
    core.interrupts++;
    core.interrupted = true;
}

static inline int sleep_is_enabled(const avr_t *avr) {
    return !core.has_smcr || (avr->data[SMCR] & SLEEP_ENABLE);
}

/* After an instruction, when an interrupt may be taken or they were switched on by it. `refused`: it was a SLEEP
 * that libsimavr has passed over, because an interrupt waits. */
static void look_for_interrupt(avr_t *avr, int refused) {
    avr_int_vector_t *vector;
    if (avr->interrupt_state < 0) { /* switched on just now: one more instruction */
        avr->interrupt_state = (int8_t)avr_has_pending_interrupts(avr);
        return;
    }
    vector = next_interrupt(avr);
    if (vector == NULL) {
        avr->interrupt_state = 0;
        avr->state = refused ? cpu_Sleeping : avr->state; /* the one that waited was switched off or cleared */
        return;
    }
    avr->cycle += refused ? interrupt_cycles(avr) : 0;
    begin_interrupt(avr, vector);
}

/* The core sleeps: on to the next event, which may wake it. */
static void doze(avr_t *avr) {
    avr_cycle_timer_slot_p first = avr->cycle_timers.timer;
    avr_cycle_count_t until = first != NULL ? first->when : avr->cycle + IDLE_CYCLES;
    if (!sleep_is_enabled(avr)) {
        avr->state = cpu_Running;
        return;
    }
    if (!avr->sreg[S_I] && !(core.has_smcr && (avr->data[WDTCSR] & WATCHDOG_RESETS))) {
        avr->state = cpu_Done; /* nothing can wake it */
        return;
    }
    avr->cycle = most(avr->cycle, least(until, core.limit));
    avr_cycle_timer_process(avr);
    avr->cycle += avr->state == cpu_Running ? interrupt_cycles(avr) : 0;
}

/* The instruction at the program counter; the address of the next. A code that the chip lacks crashes it
 * there. */
static inline avr_flashaddr_t step_one(avr_t *avr) {
    avr_flashaddr_t pc = avr->pc, next;
    if (code_is_lacking(opcode_at(avr, pc))) {
        avr->state = cpu_Crashed;
        return pc;
    }
    next = avr_run_one(avr);
    if (next == pc + SKIPPED_TWO && code_skips(opcode_at(avr, pc)) && !code_has_two_words(opcode_at(avr, pc + 2))) {
        next -= 2; /* ADIW or SBIW: libsimavr has skipped the instruction after it, too */
        avr->cycle--;
    }
    return next;
}

static inline void step(avr_t *avr) {
    const avr_cycle_timer_pool_t *timers = &avr->cycle_timers;
    avr_flashaddr_t pc = avr->pc, next = pc;
    int dozed = avr->state == cpu_Sleeping;
    if (!dozed) {
        next = step_one(avr);
    }
    if (timers->timer != NULL && timers->timer->when <= avr->cycle) {
        avr_cycle_timer_process(avr);
    }
    avr->pc = next;
    if (avr->state == cpu_Sleeping) {
        dozed = true;
        doze(avr);
    }
    if (avr->interrupt_state != 0 && avr->state == cpu_Running) {
        look_for_interrupt(avr, !dozed && opcode_at(avr, pc) == OPCODE_SLEEP && sleep_is_enabled(avr));
    }
}

/* In the place of libsimavr's own, which its watchdog replaces for one call to reset the chip. */
static void step_run(avr_t *avr) {
    step(avr);
}

/* --- enabled after the event ------------------------------------------------------------------------- */

static struct enable {
    avr_io_addr_t address;
    avr_io_write_t write;
    void *parameter;
} enables[ENABLES];

static void step_on_enable(avr_t *avr, avr_io_addr_t address, uint8_t value, void *parameter) {
    const struct enable *enable = parameter;
    uint8_t before = avr->data[address];
    tell_of_flags(avr, false);
    if (enable->write != NULL) {
        enable->write(avr, address, value, enable->parameter);
    } else {
        avr->data[address] = value;
    }
    for (int i = 0; i < avr->interrupts.vector_count; i++) {
        avr_int_vector_t *vector = avr->interrupts.vector[i];
        if (vector->enable.reg == address && !((before >> vector->enable.bit) & 1) &&
            avr_regbit_get(avr, vector->enable) && avr_regbit_get(avr, vector->raised) && !vector->pending) {
            avr_raise_interrupt(avr, vector);
        }
    }
    tell_of_flags(avr, true);
}

/* Puts our handler before libsimavr's own of every register with interrupt enable bits. */
static void step_watch_enables(avr_t *avr) {
    size_t used = 0;
    for (int i = 0; i < avr->interrupts.vector_count; i++) {
        const avr_int_vector_t *vector = avr->interrupts.vector[i];
        size_t io = (size_t)AVR_DATA_TO_IO(vector->enable.reg);
        if (vector->enable.reg == 0 || vector->raised.reg == 0 || used == ENABLES ||
            avr->io[io].w.c == step_on_enable) {
            continue;
        }
        enables[used] = (struct enable){vector->enable.reg, avr->io[io].w.c, avr->io[io].w.param};
        avr->io[io].w.c = step_on_enable;
        avr->io[io].w.param = &enables[used];
        used++;
    }
}

/* A flag is cleared by writing a one to it, and no other is (13.2, 14.9.7); SBI writes its own bit alone. libsimavr sets
 * the flags of pins instead, and clears all of a timer's. */
static void step_on_flags(avr_t *avr, avr_io_addr_t address, uint8_t value, void *parameter) {
    uint16_t op = opcode_at(avr, avr->pc);
    uint8_t cleared = (op & 0xFF00) == OPCODE_SBI ? (uint8_t)(1u << (op & 7)) : value;
    (void)parameter;
    tell_of_flags(avr, false);
    avr->data[address] &= (uint8_t)~cleared;
    for (int i = 0; i < avr->interrupts.vector_count; i++) {
        avr_int_vector_t *vector = avr->interrupts.vector[i];
        if (vector->raised.reg == address && ((cleared >> vector->raised.bit) & 1) && vector->pending) {
            forget_pending(avr, vector);
        }
    }
    tell_of_flags(avr, true);
}

/* In the place of whatever handler there is of the registers that hold nothing but flags: PCIFR, EIFR, TIFRn. */
static void step_watch_flags(avr_t *avr) {
    for (int i = 0; i < avr->interrupts.vector_count; i++) {
        avr_io_addr_t flags = avr->interrupts.vector[i]->raised.reg;
        if (flags >> 4 == FLAGS_ABOVE && core.has_smcr) {
            avr->io[AVR_DATA_TO_IO(flags)].w.c = step_on_flags;
        }
    }
}

/* Classic chips and ATtinys keep SE in MCUCR, which libsimavr leaves alone; there SLEEP always sleeps. */
static int chip_has_smcr(const avr_t *avr) {
    static const char *const without[] = {"atmega8", "atmega16", "atmega32", "atmega64", "atmega128", "atmega162"};
    for (size_t i = 0; i < COUNT_OF(without); i++) {
        if (strcmp(avr->mmcu, without[i]) == 0) {
            return 0;
        }
    }
    return strncmp(avr->mmcu, "attiny", 6) != 0;
}

static const avr_watchdog_t *watchdog_of(const avr_t *avr) {
    for (const avr_io_t *io = avr->io_port; io != NULL; io = io->next) {
        if (strcmp(io->kind, "watchdog") == 0) {
            return (const avr_watchdog_t *)io;
        }
    }
    return NULL;
}

/* After every other handler of the chip's registers is in its place. */
static void step_open(avr_t *avr) {
    core.watchdog = watchdog_of(avr);
    core.limit = UINT64_MAX;
    core.has_smcr = chip_has_smcr(avr);
    codes_open(avr);
    step_watch_enables(avr);
    step_watch_flags(avr);
    avr->run = step_run;
}

#endif
