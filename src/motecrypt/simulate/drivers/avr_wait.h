/* SPDX-License-Identifier: GPL-3.0-or-later -- part of the drivers that link libsimavr.
 * avr_wait.h: a loop that only waits is not stepped to its end.
 *
 * After one round, the loop is followed once more. If it only read, and left all registers and flags as it
 * found them, then it does the same again and again until something else acts: a timer, the line, an interrupt.
 * Nothing does before the next event, so the rounds up to it are skipped with their cycles, and the last one
 * is stepped. What is read must not change by itself: a loop that reads registers which libsimavr computes on
 * reading, such as a timer's count, is not skipped.
 */
#ifndef MOTECRYPT_AVR_WAIT_H
#define MOTECRYPT_AVR_WAIT_H

#include <simavr/avr_uart.h>
#include <simavr/sim_avr.h>
#include <simavr/sim_io.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "avr_guard.h"
#include "bounds.h"

enum {
    WAIT_INSTRUCTIONS = 32, /* of one round */
    WAIT_HOPELESS = 20,     /* times that a loop was refused, after which it is left alone */
    WAIT_UARTS = 4,
    REGISTERS = 32
};

static struct {
    uint8_t refused[GUARD_LPM_BYTES / 2]; /* loops that do more than wait, by their last instruction */
    avr_io_addr_t status[WAIT_UARTS];     /* of the UARTs: it changes with events alone, though it has a handler */
    uint64_t cycles;                      /* of all skipped rounds */
} wait_loops;

/* Whether a byte of the data space changes by stores and events alone. */
static bool wait_holds_still(const avr_t *avr, uint32_t address) {
    if (address < REGISTERS || address >= REGISTERS + MAX_IOs) {
        return address <= avr->ramend;
    }
    for (int i = 0; i < WAIT_UARTS; i++) {
        if (wait_loops.status[i] == address) {
            return true;
        }
    }
    return avr->io[AVR_DATA_TO_IO(address)].r.c == NULL;
}

static inline uint32_t wait_pointer(const avr_t *avr, unsigned low) {
    return (uint32_t)(avr->data[low] | avr->data[low + 1] << 8);
}

/* Whether the instruction at `pc` changes nothing but registers and flags, and reads what holds still. */
static bool wait_only_looks(const avr_t *avr, avr_flashaddr_t pc) {
    uint32_t op = opcode_at(avr, pc);
    if (op == 0 || (op & 0xFF00) == 0x0100 || (op >= 0x0400 && op < 0x8000)) { /* NOP, MOVW, two operands */
        return true;
    }
    if ((op & 0xF800) == 0xF800) { /* BLD, BST, SBRC, SBRS */
        return (op & 8) == 0;
    }
    if (op >= 0xE000 || (op & 0xF000) == 0xC000) { /* LDI, branches; RJMP */
        return true;
    }
    if ((op & 0xFE00) == 0x9400) { /* COM ... ROR, DEC */
        return ((1u << (op & 15)) & 0x04EF) != 0;
    }
    if ((op & 0xFE00) == 0x9600) { /* ADIW, SBIW */
        return true;
    }
    if ((op & 0xD200) == 0x8000) { /* LDD */
        return wait_holds_still(avr, wait_pointer(avr, op & 8 ? R_YL : R_ZL) +
                                         ((op >> 8 & 0x20) | (op >> 7 & 0x18) | (op & 7)));
    }
    if ((op & 0xFE0F) == 0x900C) { /* LD X */
        return wait_holds_still(avr, wait_pointer(avr, R_XL));
    }
    if ((op & 0xFE0F) == 0x9000) { /* LDS */
        return wait_holds_still(avr, opcode_at(avr, pc + 2));
    }
    if ((op & 0xF800) == 0xB000) { /* IN */
        return wait_holds_still(avr, REGISTERS + ((op & 15) | (op >> 5 & 0x30)));
    }
    if ((op & 0xFD00) == 0x9900) { /* SBIC, SBIS */
        return wait_holds_still(avr, REGISTERS + (op >> 3 & 0x1F));
    }
    return false;
}

/* Whether the loop that ends at `tail` was refused so often that it is only stepped. */
static inline bool wait_is_hopeless(avr_flashaddr_t tail) {
    return wait_loops.refused[tail / 2 % COUNT_OF(wait_loops.refused)] >= WAIT_HOPELESS;
}

/* The cycle of the next event, at most `until`. */
static uint64_t wait_next(const avr_t *avr, uint64_t until) {
    const avr_cycle_timer_slot_t *event = avr->cycle_timers.timer;
    return event != NULL ? least(event->when, until) : until;
}

/* Where the jump or branch at `pc` leads when it is taken; nowhere where it is neither. */
static avr_flashaddr_t wait_target(const avr_t *avr, avr_flashaddr_t pc) {
    uint32_t op = opcode_at(avr, pc);
    if ((op & 0xF000) == 0xC000) { /* RJMP */
        return pc + 2 + 2 * (op & 0x0FFF) - (op & 0x0800 ? 0x2000 : 0);
    }
    if (op >= 0xF000 && op < 0xF800) { /* BRBS, BRBC */
        return pc + 2 + (op >> 2 & 0xFE) - (op & 0x0200 ? 0x100 : 0);
    }
    return UINT32_MAX;
}

/* After a step from `tail` to where the chip is now, not beyond it. `until`: the cycle at which the driver looks around. */
static void wait_round(avr_t *avr, avr_flashaddr_t tail, uint64_t until) {
    avr_flashaddr_t head = avr->pc, pc;
    uint8_t *refused = &wait_loops.refused[tail / 2 % COUNT_OF(wait_loops.refused)];
    uint8_t registers[REGISTERS], flags[sizeof avr->sreg];
    uint64_t begun = avr->cycle, next = wait_next(avr, until), more;
    int left = WAIT_INSTRUCTIONS;
    if (*refused || avr->interrupt_state != 0 || wait_target(avr, tail) != head) {
        return; /* the last: an interrupt, or the end of a function */
    }
    memcpy(registers, avr->data, sizeof registers);
    memcpy(flags, avr->sreg, sizeof flags);
    do {
        pc = avr->pc;
        if (avr->cycle >= next || pc < head || pc > tail) {
            return; /* it has ended, or something else may have acted */
        }
        if (left-- == 0 || !wait_only_looks(avr, pc)) {
            *refused = true;
            return;
        }
        avr->run(avr);
    } while (pc != tail || avr->pc != head);
    if (avr->cycle >= next || wait_next(avr, until) != next || avr->interrupt_state != 0) {
        return;
    }
    if (memcmp(registers, avr->data, sizeof registers) != 0 || memcmp(flags, avr->sreg, sizeof flags) != 0) {
        *refused = true;
        return;
    }
    more = (next - 1 - avr->cycle) / (avr->cycle - begun) * (avr->cycle - begun);
    avr->cycle += more;
    wait_loops.cycles += more;
}

static void wait_open(avr_t *avr) {
    avr_io_addr_t *status = wait_loops.status;
    for (avr_io_t *io = avr->io_port; io != NULL; io = io->next) {
        if (strcmp(io->kind, "uart") == 0 && status < wait_loops.status + WAIT_UARTS) {
            *status++ = ((avr_uart_t *)io)->rxc.raised.reg;
        }
    }
}

#endif
