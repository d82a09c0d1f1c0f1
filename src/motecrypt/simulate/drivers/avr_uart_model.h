/* SPDX-License-Identifier: GPL-3.0-or-later -- part of the drivers that link libsimavr.
 * avr_uart_model.h: the UART's transmitter by the ATmega328P's datasheet (DS40002061B, 20.6, 20.11.1): a shift register
 * and a data register before it. UDRE says that the data register is free, which it is while the first byte goes out;
 * TXC that both are empty; what is written while UDRE is 0 is lost. libsimavr 1.6 says UDRE when a byte has gone.
 */
#ifndef MOTECRYPT_AVR_UART_MODEL_H
#define MOTECRYPT_AVR_UART_MODEL_H

#include <simavr/avr_uart.h>
#include <simavr/sim_avr.h>
#include <simavr/sim_cycle_timers.h>
#include <simavr/sim_interrupts.h>
#include <simavr/sim_io.h>
#include <simavr/sim_irq.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "avr_step.h"

enum { TRANSMITTERS_MAX = 4 };

static struct transmitter {
    avr_uart_t *model;
    bool shifts, holds; /* a byte goes out; another one waits in the data register */
    avr_io_write_t write_control;
    void *control_parameter;
    void (*reset)(avr_io_t *io);
} transmitters[TRANSMITTERS_MAX];

/* UDRE is a state: while it is 1 its interrupt comes again and again. */
static void transmitter_is_free(avr_t *avr, struct transmitter *t) {
    if (!t->holds && avr_regbit_get(avr, t->model->txen)) {
        avr_raise_interrupt(avr, &t->model->udrc);
    }
}

static void transmitter_is_full(avr_t *avr, struct transmitter *t) {
    forget_pending(avr, &t->model->udrc);
    avr_regbit_clear(avr, t->model->udrc.raised); /* which libsimavr leaves set */
}

/* The shift register is empty. */
static avr_cycle_count_t transmitter_on_end(avr_t *avr, avr_cycle_count_t when, void *parameter) {
    struct transmitter *t = parameter;
    if (t->holds) {
        t->holds = false;
        transmitter_is_free(avr, t);
        return when + t->model->cycles_per_byte;
    }
    t->shifts = false;
    avr_raise_interrupt(avr, &t->model->txc);
    return 0;
}

static void transmitter_on_data(avr_t *avr, avr_io_addr_t address, uint8_t value, void *parameter) {
    struct transmitter *t = parameter;
    (void)address;
    if (!avr_regbit_get(avr, t->model->txen) || t->holds) {
        return;
    }
    avr_raise_irq(t->model->io.irq + UART_IRQ_OUTPUT, value);
    if (t->shifts) {
        t->holds = true;
        transmitter_is_full(avr, t);
    } else {
        t->shifts = true;
        avr_cycle_timer_register(avr, t->model->cycles_per_byte, transmitter_on_end, t);
        transmitter_is_free(avr, t);
    }
}

/* UCSRnB: libsimavr raises UDRE when its interrupt is enabled, even if the data register is full. */
static void transmitter_on_control(avr_t *avr, avr_io_addr_t address, uint8_t value, void *parameter) {
    struct transmitter *t = parameter;
    t->write_control(avr, address, value, t->control_parameter);
    if (t->holds) {
        transmitter_is_full(avr, t);
    } else {
        transmitter_is_free(avr, t);
    }
}

static void transmitter_on_reset(avr_io_t *io) {
    for (int i = 0; i < TRANSMITTERS_MAX; i++) {
        struct transmitter *t = &transmitters[i];
        if (t->model != NULL && &t->model->io == io) {
            avr_cycle_timer_cancel(io->avr, transmitter_on_end, t);
            t->shifts = t->holds = false;
            t->reset(io);
            return;
        }
    }
}

static void uarts_open(avr_t *avr) {
    struct transmitter *t = transmitters;
    for (avr_io_t *io = avr->io_port; io != NULL && t < transmitters + TRANSMITTERS_MAX; io = io->next) {
        avr_uart_t *model = (avr_uart_t *)io;
        size_t data, control;
        if (strcmp(io->kind, "uart") != 0 || model->udrc.vector == 0) { /* a LIN controller has no UDRE */
            continue;
        }
        data = (size_t)AVR_DATA_TO_IO(model->r_udr);
        control = (size_t)AVR_DATA_TO_IO(model->udrc.enable.reg);
        *t = (struct transmitter){model, false, false, avr->io[control].w.c, avr->io[control].w.param, io->reset};
        avr->io[data].w.c = transmitter_on_data;
        avr->io[data].w.param = t;
        avr->io[control].w.c = transmitter_on_control;
        avr->io[control].w.param = t;
        io->reset = transmitter_on_reset;
        t++;
    }
}

#endif
