/* timer_harness.c: the timers of an ATmega328P without its core: the test gives the cycle, writes and reads. */
#include <stdarg.h>

#include "avr_timer_model.h"

#include "harness.h"

static avr_t *avr;
static uint64_t now, high[6], low[6]; /* of each output: how often it was set and cleared */

static void quiet(avr_t *a, const int level, const char *format, va_list arguments) {
    (void)a;
    (void)level;
    (void)format;
    (void)arguments;
}

static void on_output(avr_irq_t *irq, uint32_t value, void *parameter) {
    size_t which = (size_t)(uintptr_t)parameter;
    (void)irq;
    (value & 1u ? high : low)[which]++;
}

/* A new chip at cycle 0. */
static uint64_t fresh(const uint64_t *n) {
    (void)n;
    avr_global_logger_set(quiet);
    avr = avr_make_mcu_by_name("atmega328p");
    avr_init(avr);
    memset(timers, 0, sizeof timers);
    timers_open(avr);
    memset(high, 0, sizeof high);
    memset(low, 0, sizeof low);
    for (size_t i = 0; i < 3; i++) {
        for (size_t which = 0; which < 2; which++) {
            avr_irq_register_notify(&timers[i].model->io.irq[TIMER_IRQ_OUT_COMP + which], on_output,
                                    (void *)(uintptr_t)(2 * (size_t)(timers[i].model->name - '0') + which));
        }
    }
    avr->flash[0] = 0x00; /* OUT: it writes at the end of its one cycle */
    avr->flash[1] = 0xB8;
    now = 0;
    return 0;
}

static void go(uint64_t cycle) {
    avr->cycle = cycle;
    avr_cycle_timer_process(avr);
}

static uint64_t at(const uint64_t *n) {
    now = n[0];
    go(now);
    return 0;
}

static uint64_t put(const uint64_t *n) {
    size_t io = (size_t)AVR_DATA_TO_IO(n[0]);
    avr->cycle = now - 1;
    if (avr->io[io].w.c != NULL) {
        avr->io[io].w.c(avr, (avr_io_addr_t)n[0], (uint8_t)n[1], avr->io[io].w.param);
    } else {
        avr->data[n[0]] = (uint8_t)n[1];
    }
    go(now);
    return 0;
}

static uint64_t get(const uint64_t *n) {
    size_t io = (size_t)AVR_DATA_TO_IO(n[0]);
    return avr->io[io].r.c != NULL ? avr->io[io].r.c(avr, (avr_io_addr_t)n[0], avr->io[io].r.param)
                                   : avr->data[n[0]];
}

/* Flags are cleared, as by a write to TIFRn. */
static uint64_t clear(const uint64_t *n) {
    timers_look(avr, false);
    avr->data[n[0]] &= (uint8_t)~n[1];
    timers_look(avr, true);
    return 0;
}

static uint64_t highs(const uint64_t *n) {
    return high[n[0]];
}

static uint64_t lows(const uint64_t *n) {
    return low[n[0]];
}

int main(int argc, char **argv) {
    static const struct operation operations[] = {{"fresh", fresh}, {"at", at},       {"put", put},
                                                  {"get", get},     {"clear", clear}, {"highs", highs},
                                                  {"lows", lows}};
    (void)argc;
    return SERVE(operations, argv);
}
