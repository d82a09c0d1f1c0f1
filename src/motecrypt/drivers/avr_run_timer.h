/* SPDX-License-Identifier: GPL-3.0-or-later -- part of avr_run.c, which links libsimavr.
 * avr_run_timer.h: a timer that is stopped keeps its count (ATmega328P datasheet DS40002061B, 15.4 and 16.4),
 * which libsimavr 1.6 forgets: it reads 0. Firmware that stops a timer to read it depends on this.
 */
#ifndef MOTECRYPT_AVR_RUN_TIMER_H
#define MOTECRYPT_AVR_RUN_TIMER_H

#include <simavr/sim_avr.h>
#include <stddef.h>
#include <stdint.h>

enum { TIMERS = 3, CLOCK_SELECT = 7 };

struct stopped_timer {
    avr_io_addr_t control, low, high; /* TCCRnB, TCNTn; high is 0 for 8 bits */
    uint16_t count;                   /* while it stands still */
    avr_io_write_t write_control, write_count;
    avr_io_read_t read_count;
    void *control_parameter, *count_parameter;
};

static struct stopped_timer timers[TIMERS] = {
    {0x45, 0x46, 0, 0, NULL, NULL, NULL, NULL, NULL},
    {0x81, 0x84, 0x85, 0, NULL, NULL, NULL, NULL, NULL},
    {0xB1, 0xB2, 0, 0, NULL, NULL, NULL, NULL, NULL},
};

static uint16_t timer_count(avr_t *avr, struct stopped_timer *timer) {
    uint8_t low = timer->read_count(avr, timer->low, timer->count_parameter);
    return (uint16_t)(low | (timer->high ? avr->data[timer->high] << 8 : 0));
}

static void timer_set(avr_t *avr, struct stopped_timer *timer, uint16_t count) {
    if (timer->high) {
        avr->data[timer->high] = (uint8_t)(count >> 8);
    }
    timer->write_count(avr, timer->low, (uint8_t)count, timer->count_parameter);
}

static void timer_on_control(avr_t *avr, avr_io_addr_t address, uint8_t value, void *parameter) {
    struct stopped_timer *timer = parameter;
    int ran = (avr->data[timer->control] & CLOCK_SELECT) != 0, runs = (value & CLOCK_SELECT) != 0;
    if (ran && !runs) {
        timer->count = timer_count(avr, timer);
    }
    timer->write_control(avr, address, value, timer->control_parameter);
    if (!ran && runs && timer->count != 0) {
        timer_set(avr, timer, timer->count);
    }
}

static void timer_on_write(avr_t *avr, avr_io_addr_t address, uint8_t value, void *parameter) {
    struct stopped_timer *timer = parameter;
    timer->count = (uint16_t)(value | (timer->high ? avr->data[timer->high] << 8 : 0));
    timer->write_count(avr, address, value, timer->count_parameter);
}

static uint8_t timer_on_read(avr_t *avr, avr_io_addr_t address, void *parameter) {
    struct stopped_timer *timer = parameter;
    (void)address;
    if (avr->data[timer->control] & CLOCK_SELECT) {
        return timer->read_count(avr, timer->low, timer->count_parameter);
    }
    if (timer->high) {
        avr->data[timer->high] = (uint8_t)(timer->count >> 8);
    }
    return avr->data[timer->low] = (uint8_t)timer->count;
}

/* Puts these handlers before libsimavr's own, which it would not let be replaced by its interface. */
static void timers_open(avr_t *avr) {
    for (int i = 0; i < TIMERS; i++) {
        struct stopped_timer *timer = &timers[i];
        size_t control = (size_t)AVR_DATA_TO_IO(timer->control), count = (size_t)AVR_DATA_TO_IO(timer->low);
        timer->write_control = avr->io[control].w.c;
        timer->control_parameter = avr->io[control].w.param;
        timer->write_count = avr->io[count].w.c;
        timer->read_count = avr->io[count].r.c;
        timer->count_parameter = avr->io[count].w.param;
        if (timer->write_control && timer->write_count && timer->read_count) {
            avr->io[control].w.c = timer_on_control;
            avr->io[control].w.param = timer;
            avr->io[count].w.c = timer_on_write;
            avr->io[count].r.c = timer_on_read;
            avr->io[count].w.param = avr->io[count].r.param = timer;
        }
    }
}

#endif
