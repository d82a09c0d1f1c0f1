/* SPDX-License-Identifier: GPL-3.0-or-later -- part of the drivers that link libsimavr.
 * avr_eeprom_model.h: the EEPROM takes its time (ATmega328P datasheet DS40002061B, 8.4 and 8.6), which libsimavr
 * 1.6 lacks: reading stops the core for four cycles, starting a write for two; a byte is busy 3.4 ms, or 1.8
 * ms where it is only erased or only written; until then EEPE reads 1, the address stays, no other access
 * starts, and the ready interrupt waits. It replaces libsimavr's handler of EECR.
 */
#ifndef MOTECRYPT_AVR_EEPROM_MODEL_H
#define MOTECRYPT_AVR_EEPROM_MODEL_H

#include <simavr/avr_eeprom.h>
#include <simavr/sim_avr.h>
#include <simavr/sim_interrupts.h>
#include <simavr/sim_io.h>
#include <stdint.h>
#include <string.h>

#include "avr_guard.h"
#include "avr_step.h"
#include "bounds.h"

enum {
    EEPROM_READ_HALT = 4,
    EEPROM_WRITE_HALT = 2,
    EEPROM_MASTER_WINDOW = 4,    /* cycles from EEMPE to EEPE */
    EEPROM_BOTH_US = 3400,       /* table 8-1: erase and write in one */
    EEPROM_HALF_US = 1800,       /* erase only, write only */
    EERE = 1,
    EEPE = 1 << 1,
    EEMPE = 1 << 2,
    EERIE = 1 << 3,
    EEPM = 3 << 4,
    EEPM_ERASE = 1 << 4,
    EEPM_WRITE = 2 << 4,
    OPCODE_RJMP_BACK_2 = 0xCFFE, /* to the instruction before it */
    WAIT_LOOP_CYCLES = 3         /* SBIC that does not skip, RJMP */
};

static struct {
    avr_eeprom_t *model;
    uint64_t ready_at;     /* the cycle at which the current byte is done; 0 if there is none */
    uint64_t master_until; /* by then EEPE must be set */
    /* Called with the rounds that a waiting loop at `pc` skipped; each is an RJMP and the SBIC after it. */
    void (*on_rounds)(avr_t *avr, avr_flashaddr_t pc, uint64_t rounds);
} eeprom;

/* What the instruction in work takes beyond its first cycle: SBI, ST and STS write in their second, OUT in its
 * only one. */
static uint64_t end_of_write(const avr_t *avr) {
    uint16_t op = opcode_at(avr, avr->pc);
    return avr->cycle + ((op & 0xF800) == 0xB800 ? 1u : 2u);
}

static void eeprom_offer_interrupt(avr_t *avr) {
    avr_int_vector_t *ready = &eeprom.model->ready;
    if (avr_regbit_get(avr, ready->enable) && eeprom.ready_at == 0) {
        avr_raise_interrupt(avr, ready);
    } else if (ready->pending) {
        forget_pending(avr, ready);
    }
}

/* Ready stays so, and the interrupt comes again when its handler has ended. */
static avr_cycle_count_t eeprom_offer_again(avr_t *avr, avr_cycle_count_t when, void *parameter) {
    (void)when;
    (void)parameter;
    eeprom_offer_interrupt(avr);
    return 0;
}

static void eeprom_on_running(avr_irq_t *irq, uint32_t value, void *parameter) {
    (void)irq;
    if (value != 0) {
        avr_cycle_timer_register(parameter, 1, eeprom_offer_again, NULL);
    }
}

static avr_cycle_count_t eeprom_done(avr_t *avr, avr_cycle_count_t when, void *parameter) {
    (void)when;
    (void)parameter;
    eeprom.ready_at = 0;
    avr->data[eeprom.model->r_eecr] &= (uint8_t)~EEPE;
    eeprom_offer_interrupt(avr);
    return 0;
}

static avr_cycle_count_t eeprom_close_window(avr_t *avr, avr_cycle_count_t when, void *parameter) {
    (void)when;
    (void)parameter;
    avr->data[eeprom.model->r_eecr] &= (uint8_t)~EEMPE;
    return 0;
}

/* The byte that the address registers name; beyond the EEPROM its upper bits do not count. */
static uint8_t *eeprom_byte(const avr_t *avr) {
    const avr_eeprom_t *model = eeprom.model;
    uint32_t address = avr->data[model->r_eearl] | (model->r_eearh ? avr->data[model->r_eearh] << 8 : 0);
    return &model->eeprom[address & (model->size - 1u)];
}

static void eeprom_start(avr_t *avr, uint8_t mode) {
    uint8_t *byte = eeprom_byte(avr), data = avr->data[eeprom.model->r_eedr];
    uint32_t busy_us = mode == EEPM_ERASE || mode == EEPM_WRITE ? EEPROM_HALF_US : EEPROM_BOTH_US;
    *byte = mode == EEPM_ERASE ? 0xFF : mode == EEPM_WRITE ? *byte & data : data;
    eeprom.ready_at = end_of_write(avr) + (uint64_t)avr->frequency * busy_us / 1000000;
    avr_cycle_timer_register(avr, eeprom.ready_at - avr->cycle, eeprom_done, NULL);
    avr->cycle += EEPROM_WRITE_HALT;
}

static void eeprom_on_control(avr_t *avr, avr_io_addr_t address, uint8_t value, void *parameter) {
    uint8_t before = avr->data[address], kept = eeprom.ready_at != 0 ? EEPM : 0;
    uint8_t control = (uint8_t)((before & kept) | (value & (EEPM | EERIE) & ~kept) | (before & (EEPE | EEMPE)));
    (void)parameter;
    if ((value & EEPE) && eeprom.ready_at == 0 && (before & EEMPE) && end_of_write(avr) <= eeprom.master_until) {
        avr->data[address] = control = (uint8_t)((control & ~EEMPE) | EEPE);
        eeprom_start(avr, control & EEPM);
    } else if ((value & EEMPE) && !(before & EEMPE) && !(value & EEPE)) {
        control |= EEMPE;
        eeprom.master_until = end_of_write(avr) + EEPROM_MASTER_WINDOW;
        avr_cycle_timer_register(avr, eeprom.master_until - avr->cycle, eeprom_close_window, NULL);
    }
    avr->data[address] = control;
    if ((value & EERE) && eeprom.ready_at == 0) {
        avr->data[eeprom.model->r_eedr] = *eeprom_byte(avr);
        avr->cycle += EEPROM_READ_HALT;
    }
    eeprom_offer_interrupt(avr);
}

/* The address cannot be changed during a write. */
static void eeprom_on_address(avr_t *avr, avr_io_addr_t address, uint8_t value, void *parameter) {
    (void)parameter;
    if (eeprom.ready_at == 0) {
        avr->data[address] = value;
    }
}

/* "1: sbic EECR, EEPE; rjmp 1b" does the same thing every three cycles until the next event: the rounds up to it
 * are skipped in one step, and the last one is run. */
static uint8_t eeprom_on_look(avr_t *avr, avr_io_addr_t address, void *parameter) {
    const avr_cycle_timer_slot_t *event = avr->cycle_timers.timer;
    uint16_t wait = (uint16_t)(0x9900 | AVR_DATA_TO_IO(address) << 3 | 1);
    (void)parameter;
    if (eeprom.ready_at != 0 && event != NULL && avr->interrupt_state == 0 && opcode_at(avr, avr->pc) == wait &&
        opcode_at(avr, avr->pc + 2) == OPCODE_RJMP_BACK_2) {
        uint64_t until = least(event->when, core.limit);
        uint64_t rounds = (most(until, avr->cycle + 1) - avr->cycle - 1) / WAIT_LOOP_CYCLES;
        avr->cycle += rounds * WAIT_LOOP_CYCLES;
        if (rounds != 0 && eeprom.on_rounds != NULL) {
            eeprom.on_rounds(avr, avr->pc, rounds);
        }
    }
    return avr->data[address];
}

/* A byte in work is finished even when the chip is reset; the registers are not kept. */
static void eeprom_on_reset(avr_io_t *io) {
    (void)io;
    if (eeprom.ready_at > eeprom.model->io.avr->cycle) {
        avr_t *avr = eeprom.model->io.avr;
        avr->data[eeprom.model->r_eecr] = EEPE;
        avr_cycle_timer_register(avr, eeprom.ready_at - avr->cycle, eeprom_done, NULL);
    } else {
        eeprom.ready_at = 0;
    }
}

/* Before step_open. A chip without an EEPROM is left as it is. */
static void eeprom_open(avr_t *avr) {
    avr_io_t *io = avr->io_port;
    avr_eeprom_t *model;
    while (io != NULL && strcmp(io->kind, "eeprom") != 0) {
        io = io->next;
    }
    if (io == NULL) {
        return;
    }
    eeprom.model = model = (avr_eeprom_t *)io;
    io->reset = eeprom_on_reset;
    avr->io[AVR_DATA_TO_IO(model->r_eecr)].w.c = eeprom_on_control;
    avr_register_io_read(avr, model->r_eecr, eeprom_on_look, NULL);
    avr_register_io_write(avr, model->r_eearl, eeprom_on_address, NULL);
    if (model->r_eearh) {
        avr_register_io_write(avr, model->r_eearh, eeprom_on_address, NULL);
    }
    avr_irq_register_notify(model->ready.irq + AVR_INT_IRQ_RUNNING, eeprom_on_running, avr);
}

#endif
