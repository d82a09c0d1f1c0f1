/* SPDX-License-Identifier: GPL-3.0-or-later -- part of the drivers that link libsimavr.
 * avr_timer_model.h: a timer that is stopped keeps its count, and one that is set goes on from exactly there
 * (ATmega328P datasheet DS40002061B, 15.4 and 16.4). libsimavr 1.6 reads a stopped timer as 0, takes the highest
 * count for 0, and scales a count by one too little, so that a timer overflows up to one count early.
 */
#ifndef MOTECRYPT_AVR_TIMER_MODEL_H
#define MOTECRYPT_AVR_TIMER_MODEL_H

#include <simavr/avr_timer.h>
#include <simavr/sim_avr.h>
#include <simavr/sim_cycle_timers.h>
#include <simavr/sim_io.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { TIMERS_MAX = 6, CLOCK_SELECT = 7, TIMER_EVENTS = 4 /* the overflow and three compare matches */ };

struct timer {
    avr_timer_t *model;
    avr_io_addr_t control; /* TCCRnB */
    uint16_t count;        /* while it stands still */
    avr_io_write_t write_control, write_count;
    avr_io_read_t read_count;
    void *control_parameter, *count_parameter;
};

static struct timer timers[TIMERS_MAX];

static uint16_t timer_count(avr_t *avr, struct timer *timer) {
    const avr_timer_t *model = timer->model;
    uint8_t low = timer->read_count(avr, model->r_tcnt, timer->count_parameter);
    return (uint16_t)(low | (model->r_tcnth ? avr->data[model->r_tcnth] << 8 : 0));
}

/* A running timer's events, as far from now as they are from `count`. libsimavr has just placed them, almost. */
static void timer_place(avr_t *avr, avr_timer_t *model, uint16_t count) {
    uint64_t exact = (uint64_t)count * model->cs_div_value, placed = avr->cycle - model->tov_base;
    avr_cycle_timer_slot_t moved[TIMER_EVENTS];
    int moves = 0;
    if (model->tov_cycles <= 1 || count > model->tov_top) {
        return;
    }
    model->tov_base = avr->cycle - exact;
    for (avr_cycle_timer_slot_p slot = avr->cycle_timers.timer; slot != NULL; slot = slot->next) {
        if (slot->param == model && moves < TIMER_EVENTS) {
            moved[moves++] = *slot;
        }
    }
    while (moves-- > 0) {
        uint64_t when = moved[moves].when - exact + placed;
        avr_cycle_timer_cancel(avr, moved[moves].timer, model);
        if (when > avr->cycle) {
            avr_cycle_timer_register(avr, when - avr->cycle, moved[moves].timer, model);
        }
    }
}

static void timer_set(avr_t *avr, struct timer *timer, uint16_t count) {
    avr_timer_t *model = timer->model;
    if (model->r_tcnth) {
        avr->data[model->r_tcnth] = (uint8_t)(count >> 8);
    }
    timer->write_count(avr, model->r_tcnt, (uint8_t)count, timer->count_parameter);
    timer_place(avr, model, count);
}

static void timer_on_control(avr_t *avr, avr_io_addr_t address, uint8_t value, void *parameter) {
    struct timer *timer = parameter;
    int ran = (avr->data[address] & CLOCK_SELECT) != 0, runs = (value & CLOCK_SELECT) != 0;
    if (ran && !runs) {
        timer->count = timer_count(avr, timer);
    }
    timer->write_control(avr, address, value, timer->control_parameter);
    if (!ran && runs && timer->count != 0) {
        timer_set(avr, timer, timer->count);
    }
}

static void timer_on_write(avr_t *avr, avr_io_addr_t address, uint8_t value, void *parameter) {
    struct timer *timer = parameter;
    (void)address;
    timer->count = (uint16_t)(value | (timer->model->r_tcnth ? avr->data[timer->model->r_tcnth] << 8 : 0));
    timer_set(avr, timer, timer->count);
}

static uint8_t timer_on_read(avr_t *avr, avr_io_addr_t address, void *parameter) {
    struct timer *timer = parameter;
    if (avr->data[timer->control] & CLOCK_SELECT) {
        return timer->read_count(avr, address, timer->count_parameter);
    }
    if (timer->model->r_tcnth) {
        avr->data[timer->model->r_tcnth] = (uint8_t)(timer->count >> 8);
    }
    return avr->data[address] = (uint8_t)timer->count;
}

/* Puts these handlers before libsimavr's own, which it would not let be replaced by its interface. */
static void timers_open(avr_t *avr) {
    int used = 0;
    for (avr_io_t *io = avr->io_port; io != NULL && used < TIMERS_MAX; io = io->next) {
        struct timer *timer = &timers[used];
        avr_timer_t *model = (avr_timer_t *)io;
        size_t control, count;
        if (strcmp(io->kind, "timer") != 0) {
            continue;
        }
        control = (size_t)AVR_DATA_TO_IO(model->cs[0].reg);
        count = (size_t)AVR_DATA_TO_IO(model->r_tcnt);
        *timer = (struct timer){model,
                                model->cs[0].reg,
                                0,
                                avr->io[control].w.c,
                                avr->io[count].w.c,
                                avr->io[count].r.c,
                                avr->io[control].w.param,
                                avr->io[count].w.param};
        if (timer->write_control && timer->write_count && timer->read_count) {
            avr->io[control].w.c = timer_on_control;
            avr->io[control].w.param = timer;
            avr->io[count].w.c = timer_on_write;
            avr->io[count].r.c = timer_on_read;
            avr->io[count].w.param = avr->io[count].r.param = timer;
            used++;
        }
    }
}

#endif
