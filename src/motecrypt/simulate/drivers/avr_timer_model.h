/* SPDX-License-Identifier: GPL-3.0-or-later -- part of the drivers that link libsimavr.
 * avr_timer_model.h: the timers of 8 and 16 bits, by the ATmega328P's datasheet (DS40002061B, chapters 14, 15
 * and 17). It replaces the counting of libsimavr 1.6, which lacks phase correct PWM and half of the other
 * modes, restarts a timer when its mode changes, and reads a stopped one as 0. libsimavr still does external
 * clocks (a pin, or timer 2's crystal) and input capture.
 *
 * A timer's way is cut into slopes: up from a count to a limit, or down to 0. Within one, the count and what
 * happens follow from the cycle alone. A flag that is set already and interrupts nobody needs no event.
 */
#ifndef MOTECRYPT_AVR_TIMER_MODEL_H
#define MOTECRYPT_AVR_TIMER_MODEL_H

#include <simavr/avr_ioport.h>
#include <simavr/avr_timer.h>
#include <simavr/sim_avr.h>
#include <simavr/sim_cycle_timers.h>
#include <simavr/sim_io.h>
#include <simavr/sim_irq.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "avr_codes.h"
#include "avr_guard.h"
#include "bounds.h"

enum {
    TIMERS_MAX = 6,
    TIMER_CONTROLS = 3, /* TCCRnA, TCCRnB and ASSR hold the mode and the clock */
    TIMER_AHEAD = 16,   /* more events than a period has */
    OUT_TOGGLES = 1,    /* COMnx, tables 14-2 to 14-4 */
    OUT_CLEARS = 2,
    OUT_SETS = 3
};

enum timer_kind { TIMER_NORMAL, TIMER_CTC, TIMER_FAST, TIMER_PHASE, TIMER_PHASE_FREQUENCY };
enum timer_top { TOP_IS_OCRA, TOP_IS_ICR, TOP_IS_MAX }; /* else the number itself */

struct timer_mode {
    enum timer_kind kind;
    uint16_t top;
};

struct timer_place { /* a register's handler of libsimavr's */
    avr_io_addr_t address;
    avr_io_write_t write;
    void *parameter;
};

struct timer {
    avr_timer_t *model;
    struct timer_place controls[TIMER_CONTROLS], compares[AVR_TIMER_COMP_COUNT], capture, count;
    avr_io_read_t read_count;
    void *read_parameter;
    void (*reset)(avr_io_t *io);
    struct timer_mode mode;
    bool outside;                           /* clocked from elsewhere: libsimavr's */
    uint32_t divider;                       /* cycles of a count; 0: it is stopped */
    uint64_t base, done;                    /* the cycle at which the slope began; up to which all has happened */
    uint32_t from, limit;                   /* its first count, and where it ends */
    bool falls, turned;                     /* turned: it began where the slope before ended */
    bool blocked;                           /* TCNT was written: its first count matches nothing (14.5.2) */
    uint16_t compare[AVR_TIMER_COMP_COUNT]; /* what is compared; with PWM, OCRnx is a buffer */
};

static struct timer timers[TIMERS_MAX];

/* --- where it is ------------------------------------------------------------------------------------------ */

static uint16_t timer_register(const avr_t *avr, avr_io_addr_t low, avr_io_addr_t high) {
    return (uint16_t)(avr->data[low] | (high ? avr->data[high] << 8 : 0));
}

static uint32_t timer_max(const struct timer *t) {
    return t->model->r_tcnth ? 0xFFFF : 0xFF;
}

static uint32_t timer_top(const struct timer *t) {
    switch (t->mode.top) {
    case TOP_IS_OCRA:
        return t->compare[AVR_TIMER_COMPA];
    case TOP_IS_ICR:
        return timer_register(t->model->io.avr, t->model->r_icr, t->model->r_icrh);
    case TOP_IS_MAX:
        return timer_max(t);
    default:
        return t->mode.top;
    }
}

static bool timer_has_two_slopes(const struct timer *t) {
    return t->mode.kind >= TIMER_PHASE;
}

static bool timer_buffers(const struct timer *t) {
    return t->mode.kind >= TIMER_FAST;
}

/* Counts of the slope. The turning points belong to the slope that begins there. */
static uint64_t timer_length(const struct timer *t) {
    return t->falls ? t->from : most(1, (uint64_t)t->limit - t->from + (timer_has_two_slopes(t) ? 0 : 1));
}

/* At a cycle within the slope. */
static uint32_t timer_count(const struct timer *t, uint64_t cycle) {
    uint32_t steps = t->divider ? (uint32_t)((cycle - t->base) >> __builtin_ctz(t->divider)) : 0; /* a power of 2 */
    return t->falls ? t->from - steps : t->from + steps;
}

/* Continues from `count`. A count beyond the top runs up to the maximum and wraps. */
static void timer_slope(struct timer *t, uint64_t cycle, uint32_t count, bool falls) {
    uint32_t top = timer_top(t);
    t->base = cycle;
    t->from = count;
    t->limit = count <= top ? top : timer_max(t);
    t->falls = timer_has_two_slopes(t) && (falls ? count != 0 : count == t->limit && count != 0);
}

static void timer_rests(struct timer *t) {
    t->outside = t->turned = t->blocked = false;
    t->divider = 0;
    t->mode = (struct timer_mode){TIMER_NORMAL, TOP_IS_MAX};
    memset(t->compare, 0, sizeof t->compare);
    timer_slope(t, 0, 0, false);
}

/* --- what happens ----------------------------------------------------------------------------------------- */

/* Raises a flag; whether anybody could see it. `dry`: only the question. */
static bool timer_flag(avr_t *avr, avr_int_vector_t *vector, bool dry) {
    bool seen = vector->vector != 0 && (!avr_regbit_get(avr, vector->raised) || avr_regbit_get(avr, vector->enable));
    if (seen && !dry) {
        avr_raise_interrupt(avr, vector);
    }
    return seen;
}

static bool timer_output(avr_t *avr, struct timer *t, int which, int level, bool dry) {
    avr_timer_comp_t *comp = &t->model->comp[which];
    if (!dry && level == OUT_TOGGLES && comp->com_pin.reg) {
        avr_raise_irq(&t->model->io.irq[TIMER_IRQ_OUT_COMP + which],
                      AVR_IOPORT_OUTPUT | !avr_regbit_get(avr, comp->com_pin));
    } else if (!dry && level != OUT_TOGGLES) {
        avr_raise_irq(&t->model->io.irq[TIMER_IRQ_OUT_COMP + which], level == OUT_SETS);
    }
    return true;
}

/* What COMnx asks for at a match or, where `bottom`, at the beginning of a period of fast PWM. */
static bool timer_pin(avr_t *avr, struct timer *t, int which, bool bottom, bool dry) {
    int asked = avr_regbit_get(avr, t->model->comp[which].com);
    bool against = bottom || (timer_has_two_slopes(t) && t->falls); /* the other level than at a match on the way up */
    if (asked == 0 || (bottom && (t->mode.kind != TIMER_FAST || asked == OUT_TOGGLES))) {
        return false;
    }
    if (asked == OUT_TOGGLES) {
        return (!timer_buffers(t) || (which == AVR_TIMER_COMPA && t->mode.top <= TOP_IS_ICR)) &&
               timer_output(avr, t, which, OUT_TOGGLES, dry);
    }
    return timer_output(avr, t, which, (asked == OUT_SETS) != against ? OUT_SETS : OUT_CLEARS, dry);
}

static void timer_take_buffers(const avr_t *avr, struct timer *t) {
    for (int i = 0; i < AVR_TIMER_COMP_COUNT; i++) {
        const avr_timer_comp_t *comp = &t->model->comp[i];
        t->compare[i] = comp->r_ocr ? timer_register(avr, comp->r_ocr, comp->r_ocrh) : 0;
    }
}

/* The cycle at which compare `i` sets its flag in this slope, one count after the match (14.8); 0: it does not. */
static uint64_t timer_match(const struct timer *t, int i) {
    uint32_t at = t->compare[i];
    uint64_t steps = t->falls ? (uint64_t)t->from - at : (uint64_t)at - t->from;
    if (!t->model->comp[i].r_ocr || steps >= timer_length(t) || (t->blocked && steps == 0)) {
        return 0;
    }
    return t->base + (steps + 1) * t->divider;
}

static uint64_t timer_end(const struct timer *t) {
    return t->base + timer_length(t) * t->divider;
}

/* The next cycle at which anything happens, after what has. */
static uint64_t timer_next(const struct timer *t) {
    uint64_t next = timer_end(t), turn = t->base + t->divider;
    if (t->turned && turn > t->done) {
        next = least(next, turn);
    }
    for (int i = 0; i < AVR_TIMER_COMP_COUNT; i++) {
        uint64_t match = timer_match(t, i);
        next = match > t->done ? least(next, match) : next;
    }
    return next;
}

/* A count after a turning point: TOV at the bottom, ICF at the top where ICR is it, and the compares are taken over at
 * the top, or for both frequencies at the bottom (15.9.4, 15.9.5, figure 15-12). */
static bool timer_at_turn(avr_t *avr, struct timer *t, uint64_t cycle, bool dry) {
    bool seen = false;
    if (!t->falls) {
        seen = timer_flag(avr, &t->model->overflow, dry);
    } else if (t->mode.top == TOP_IS_ICR) {
        seen = timer_flag(avr, &t->model->icr, dry);
    }
    if (t->falls == (t->mode.kind == TIMER_PHASE)) {
        timer_take_buffers(avr, t);
        if (!t->falls) {
            uint32_t count = timer_count(t, cycle);
            timer_slope(t, cycle, count, false);
            t->turned = false;
        }
    }
    return seen;
}

/* The end of a slope where there is only one: back to 0. */
static bool timer_at_top(avr_t *avr, struct timer *t, bool dry) {
    bool seen = false;
    if (t->limit == timer_max(t) || (t->mode.kind == TIMER_FAST && t->limit == timer_top(t))) {
        seen = timer_flag(avr, &t->model->overflow, dry);
    }
    if (t->mode.top == TOP_IS_ICR && t->limit == timer_top(t)) {
        seen |= timer_flag(avr, &t->model->icr, dry);
    }
    if (t->mode.kind == TIMER_FAST) {
        timer_take_buffers(avr, t);
        for (int i = 0; i < AVR_TIMER_COMP_COUNT; i++) {
            seen |= t->model->comp[i].r_ocr && timer_pin(avr, t, i, true, dry);
        }
    }
    return seen;
}

/* All that happens at `cycle`, which timer_next has named; whether anybody could see it. */
static bool timer_happen(avr_t *avr, struct timer *t, uint64_t cycle, bool dry) {
    bool seen = false, ends = cycle == timer_end(t), at_turn = t->turned && cycle == t->base + t->divider;
    for (int i = 0; i < AVR_TIMER_COMP_COUNT; i++) {
        if (timer_match(t, i) == cycle) {
            seen |= timer_flag(avr, &t->model->comp[i].interrupt, dry);
            seen |= timer_pin(avr, t, i, false, dry);
        }
    }
    t->done = cycle;
    if (at_turn) {
        seen |= timer_at_turn(avr, t, cycle, dry);
    }
    if (ends) {
        bool two = timer_has_two_slopes(t), falls = two && !t->falls;
        if (!two) {
            seen |= timer_at_top(avr, t, dry);
        }
        timer_slope(t, cycle, falls ? t->limit : 0, falls);
        t->turned = two;
        t->blocked = false;
    }
    return seen;
}

/* Whole periods in which nothing is seen need not be followed one by one. */
static void timer_skip(struct timer *t, uint64_t cycle) {
    uint64_t length = timer_length(t) * t->divider;
    if (!timer_has_two_slopes(t) && t->from == 0 && cycle > t->base + 2 * length) {
        t->base += (cycle - t->base - length) / length * length;
        t->done = t->base;
        t->blocked = false;
    }
}

static void timer_follow(avr_t *avr, struct timer *t, uint64_t cycle) {
    while (t->divider && timer_next(t) <= cycle) {
        timer_happen(avr, t, timer_next(t), false);
        if (timer_next(t) <= cycle && cycle - t->done > TIMER_AHEAD * (uint64_t)t->divider) {
            timer_skip(t, cycle);
        }
    }
    t->done = most(t->done, cycle);
}

/* The next cycle at which something is seen; 0: never, with the present settings. */
static uint64_t timer_seen_next(avr_t *avr, const struct timer *t) {
    struct timer copy = *t;
    for (int i = 0; copy.divider && i < TIMER_AHEAD; i++) {
        uint64_t next = timer_next(&copy);
        if (timer_happen(avr, &copy, next, true)) {
            return next;
        }
    }
    return 0;
}

static avr_cycle_count_t timer_event(avr_t *avr, avr_cycle_count_t when, void *parameter) {
    struct timer *t = parameter;
    timer_follow(avr, t, when);
    return timer_seen_next(avr, t);
}

/* After anything that changes its way or who sees it. */
static void timer_expect(avr_t *avr, struct timer *t) {
    uint64_t next = timer_seen_next(avr, t);
    if (next > avr->cycle) {
        avr_cycle_timer_register(avr, next - avr->cycle, timer_event, t);
    } else {
        avr_cycle_timer_cancel(avr, timer_event, t);
    }
}

/* An edge of the pin, before libsimavr sees it: what it captures is worked out from these fields. */
static void timer_on_edge(avr_irq_t *irq, uint32_t value, void *parameter) {
    struct timer *t = parameter;
    avr_t *avr = t->model->io.avr;
    (void)irq;
    (void)value;
    if (!t->outside) {
        timer_follow(avr, t, avr->cycle);
        t->model->tov_base = avr->cycle - timer_count(t, avr->cycle);
        t->model->tov_top = UINT16_MAX;
        t->model->tov_cycles = (uint64_t)UINT16_MAX + 1;
    }
}

/* Before flags are cleared or interrupts enabled by the firmware, and after. */
static void timers_look(avr_t *avr, bool after) {
    for (int i = 0; i < TIMERS_MAX && timers[i].model != NULL; i++) {
        if (after) {
            timer_expect(avr, &timers[i]);
        } else {
            timer_follow(avr, &timers[i], avr->cycle);
        }
    }
}

/* When the instruction that accesses a register of the timer does so. libsimavr counts its cycles afterwards. */
static uint64_t timer_read_at(const avr_t *avr) {
    return avr->cycle + code_access_cycles(opcode_at(avr, avr->pc)) - 1;
}

static uint64_t timer_write_at(const avr_t *avr) {
    return avr->cycle + code_access_cycles(opcode_at(avr, avr->pc));
}

/* --- its registers ---------------------------------------------------------------------------------------- */

static struct timer_mode timer_mode_of(avr_t *avr, avr_timer_t *model) {
    static const struct timer_mode eight[8] = {
        {TIMER_NORMAL, TOP_IS_MAX}, {TIMER_PHASE, 0xFF},       {TIMER_CTC, TOP_IS_OCRA},   {TIMER_FAST, 0xFF},
        {TIMER_NORMAL, TOP_IS_MAX}, {TIMER_PHASE, TOP_IS_OCRA}, {TIMER_NORMAL, TOP_IS_MAX}, {TIMER_FAST, TOP_IS_OCRA},
    };
    static const struct timer_mode sixteen[16] = {
        {TIMER_NORMAL, TOP_IS_MAX},          {TIMER_PHASE, 0xFF},
        {TIMER_PHASE, 0x1FF},                {TIMER_PHASE, 0x3FF},
        {TIMER_CTC, TOP_IS_OCRA},            {TIMER_FAST, 0xFF},
        {TIMER_FAST, 0x1FF},                 {TIMER_FAST, 0x3FF},
        {TIMER_PHASE_FREQUENCY, TOP_IS_ICR}, {TIMER_PHASE_FREQUENCY, TOP_IS_OCRA},
        {TIMER_PHASE, TOP_IS_ICR},           {TIMER_PHASE, TOP_IS_OCRA},
        {TIMER_CTC, TOP_IS_ICR},             {TIMER_NORMAL, TOP_IS_MAX},
        {TIMER_FAST, TOP_IS_ICR},            {TIMER_FAST, TOP_IS_OCRA},
    };
    unsigned number = avr_regbit_get_array(avr, model->wgm, COUNT_OF(model->wgm));
    return model->r_tcnth ? sixteen[number & 15] : eight[number & 7];
}

static const struct timer_place *timer_place_of(const struct timer *t, avr_io_addr_t address) {
    for (int i = 0; i < TIMER_CONTROLS; i++) {
        if (t->controls[i].address == address) {
            return &t->controls[i];
        }
    }
    for (int i = 0; i < AVR_TIMER_COMP_COUNT; i++) {
        if (t->compares[i].address == address) {
            return &t->compares[i];
        }
    }
    return &t->capture;
}

static bool timer_is_outside(avr_t *avr, avr_timer_t *model) {
    uint8_t clock = avr_regbit_get_array(avr, model->cs, COUNT_OF(model->cs));
    return avr_regbit_get(avr, model->as2) ||
           (clock != 0 && model->ext_clock_pin.reg && model->cs_div[clock] == AVR_TIMER_EXTCLK_CHOOSE);
}

/* Changes to or from a clock that libsimavr counts: informs it, and removes its events when the timer
 * returns. */
static void timer_hand_over(avr_t *avr, struct timer *t, avr_io_addr_t address, uint8_t value, uint8_t before) {
    const struct timer_place *place = timer_place_of(t, address);
    avr->data[address] = before;
    place->write(avr, address, value, place->parameter);
    for (avr_cycle_timer_slot_p slot = avr->cycle_timers.timer, next; slot != NULL && !t->outside; slot = next) {
        next = slot->next;
        if (slot->param == t->model) {
            avr_cycle_timer_cancel(avr, slot->timer, t->model);
        }
    }
}

/* A write to TCCRnA or TCCRnB: the count continues from its value. */
static void timer_on_control(avr_t *avr, avr_io_addr_t address, uint8_t value, void *parameter) {
    struct timer *t = parameter;
    avr_timer_t *model = t->model;
    struct timer_mode mode = t->mode;
    uint32_t count, divider = t->divider;
    uint8_t clock, before = avr->data[address];
    bool was_outside = t->outside;
    uint64_t at = timer_write_at(avr);
    timer_follow(avr, t, at);
    count = timer_count(t, at);
    avr->data[address] = value;
    t->outside = timer_is_outside(avr, model);
    if (t->outside || was_outside) {
        timer_hand_over(avr, t, address, value, before);
    }
    clock = avr_regbit_get_array(avr, model->cs, COUNT_OF(model->cs));
    t->mode = timer_mode_of(avr, model);
    t->divider = clock && !t->outside ? 1u << model->cs_div[clock] : 0;
    model->mode.top = t->mode.top == TOP_IS_ICR ? avr_timer_wgm_reg_icr : avr_timer_wgm_reg_constant;
    if (t->divider != divider || t->mode.kind != mode.kind || t->mode.top != mode.top) {
        if (!timer_buffers(t)) {
            timer_take_buffers(avr, t);
        }
        timer_slope(t, at, count, t->falls);
        t->turned = t->blocked = false;
    }
    timer_expect(avr, t);
}

/* OCRnx or ICRn, whose high byte is written before the low one. */
static void timer_on_compare(avr_t *avr, avr_io_addr_t address, uint8_t value, void *parameter) {
    struct timer *t = parameter;
    const struct timer_place *place = timer_place_of(t, address);
    uint64_t at;
    if (t->outside && place->write != NULL) {
        place->write(avr, address, value, place->parameter);
        return;
    }
    at = timer_write_at(avr);
    timer_follow(avr, t, at);
    avr->data[address] = value;
    if (!timer_buffers(t) || t->divider == 0) {
        timer_take_buffers(avr, t);
    }
    if (timer_top(t) != t->limit && !t->falls) {
        uint64_t part = t->divider ? (at - t->base) % t->divider : 0;
        bool same = at - part == t->base; /* the count at which the slope began */
        timer_slope(t, at - part, timer_count(t, at), false);
        t->turned &= same;
        t->blocked &= same;
    }
    timer_expect(avr, t);
}

static void timer_on_write(avr_t *avr, avr_io_addr_t address, uint8_t value, void *parameter) {
    struct timer *t = parameter;
    if (t->outside) {
        t->count.write(avr, address, value, t->count.parameter);
        return;
    }
    timer_follow(avr, t, timer_write_at(avr));
    avr->data[address] = value;
    timer_slope(t, timer_write_at(avr), timer_register(avr, t->model->r_tcnt, t->model->r_tcnth), t->falls);
    t->turned = false;
    t->blocked = true;
    timer_expect(avr, t);
}

static uint8_t timer_on_read(avr_t *avr, avr_io_addr_t address, void *parameter) {
    struct timer *t = parameter;
    uint32_t count;
    if (t->outside) {
        return t->read_count(avr, address, t->read_parameter);
    }
    timer_follow(avr, t, timer_read_at(avr));
    count = timer_count(t, timer_read_at(avr));
    if (t->model->r_tcnth) {
        avr->data[t->model->r_tcnth] = (uint8_t)(count >> 8);
    }
    return avr->data[address] = (uint8_t)count;
}

/* The chip is reset: its registers are 0, and the timer is stopped. */
static void timer_on_reset(avr_io_t *io) {
    for (int i = 0; i < TIMERS_MAX; i++) {
        struct timer *t = &timers[i];
        if (&t->model->io == io) {
            t->reset(io);
            timer_rests(t);
            return;
        }
    }
}

/* --- in the place of libsimavr's handlers, which it would not let be replaced by its interface -------------- */

static struct timer_place timer_replace(avr_t *avr, avr_io_addr_t address, avr_io_write_t write, void *parameter) {
    size_t io = (size_t)AVR_DATA_TO_IO(address);
    struct timer_place place = {address, avr->io[io].w.c, avr->io[io].w.param};
    avr->io[io].w.c = write;
    avr->io[io].w.param = parameter;
    return place;
}

static void timer_open(avr_t *avr, struct timer *t, avr_timer_t *model) {
    size_t io = (size_t)AVR_DATA_TO_IO(model->r_tcnt);
    *t = (struct timer){.model = model};
    timer_rests(t);
    t->controls[0] = timer_replace(avr, model->cs[0].reg, timer_on_control, t);
    if (model->wgm[0].reg && model->wgm[0].reg != model->cs[0].reg) {
        t->controls[1] = timer_replace(avr, model->wgm[0].reg, timer_on_control, t);
    }
    if (model->as2.reg) {
        t->controls[2] = timer_replace(avr, model->as2.reg, timer_on_control, t);
    }
    for (int i = 0; i < AVR_TIMER_COMP_COUNT; i++) {
        if (model->comp[i].r_ocr) {
            t->compares[i] = timer_replace(avr, model->comp[i].r_ocr, timer_on_compare, t);
        }
    }
    if (model->r_icr) {
        t->capture = timer_replace(avr, model->r_icr, timer_on_compare, t);
    }
    t->read_count = avr->io[io].r.c;
    t->read_parameter = avr->io[io].r.param;
    t->count = timer_replace(avr, model->r_tcnt, timer_on_write, t);
    avr->io[io].r.c = timer_on_read;
    avr->io[io].r.param = t;
    avr_irq_register_notify(&model->io.irq[TIMER_IRQ_IN_ICP], timer_on_edge, t);
    t->reset = model->io.reset;
    model->io.reset = timer_on_reset;
}

/* Whether it is one that this model knows: others, as the ATmega32U4's of 10 bits, stay libsimavr's. */
static bool timer_is_known(const avr_t *avr, const avr_timer_t *model) {
    return model->cs[0].reg != 0 && model->r_tcnt != 0 && model->wgm_op[0].kind == avr_timer_wgm_normal &&
           model->wgm_op[0].size == (model->r_tcnth ? 16 : 8) && avr->io[AVR_DATA_TO_IO(model->cs[0].reg)].w.c != NULL;
}

static void timers_open(avr_t *avr) {
    int used = 0;
    for (avr_io_t *io = avr->io_port; io != NULL && used < TIMERS_MAX; io = io->next) {
        if (strcmp(io->kind, "timer") == 0 && timer_is_known(avr, (avr_timer_t *)io)) {
            timer_open(avr, &timers[used++], (avr_timer_t *)io);
        }
    }
}

#endif
