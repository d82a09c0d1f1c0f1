/* SPDX-License-Identifier: MIT
 * arm_rp2040_events.h: when something happens in RP2040 by itself, and the interrupts that follow: alarms, conversions,
 * transfers, the UART's line, SysTick, the watchdog. It does not depend on the CPU: the caller passes the time in cycles.
 * Source: RP2040 datasheet, 2.3.2 (interrupts), 2.5.3.1 (requests of the DMA).
 */
#ifndef MOTECRYPT_ARM_RP2040_EVENTS_H
#define MOTECRYPT_ARM_RP2040_EVENTS_H

#include "arm_rp2350_map.h"

/* Numbers of interrupts: RP2040 datasheet, 2.3.2; RP2350 datasheet, 3.2. */
struct rp2040_irqs {
    unsigned timer, usb, dma, sio[SIO_CORES], uart0, adc;
};

static const struct rp2040_irqs rp2040_irqs = {.usb = 5, .dma = 11, .sio = {15, 16}, .uart0 = 20, .adc = 22};
static const struct rp2040_irqs rp2350_irqs = {.usb = 14, .dma = 10, .sio = {25, 25}, .uart0 = 33, .adc = 35};
enum { RP2350_IRQ_BELL = 26 };

enum { DREQ_UART0_TX = 20, DREQ_UART0_RX = 21, DREQ_ADC = 36 };

/* ---- what the DMA reaches ---- */

static inline const struct chip_window *rp2040_window_of(uint32_t address) {
    for (size_t i = 0; i < COUNT_OF(rp2040_windows); i++) {
        if (address - rp2040_windows[i].base < rp2040_windows[i].bytes) {
            return &rp2040_windows[i];
        }
    }
    return NULL;
}

static inline const struct chip_window *rp2350_window_of(uint32_t address) {
    for (size_t i = 0; i < COUNT_OF(rp2350_free_windows); i++) {
        if (address - rp2350_free_windows[i].base < rp2350_free_windows[i].bytes) {
            return &rp2350_free_windows[i];
        }
    }
    return NULL;
}

static inline uint32_t rp2040_bus_read(void *context, uint32_t address, uint32_t bytes) {
    struct rp2040 *chip = context;
    const struct chip_window *window = chip->is_rp2350 ? rp2350_window_of(address) : rp2040_window_of(address);
    const uint8_t *memory = window == NULL ? chip->outside.memory(chip->outside.context, address, bytes) : NULL;
    uint32_t value = 0;
    if (memory != NULL) {
        for (uint32_t i = bytes; i > 0; i--) {
            value = value << 8 | memory[i - 1];
        }
    } else if (window != NULL && window->kind != CHIP_IO_PORT && window->kind != CHIP_CORE) {
        value = (chip->is_rp2350 ? rp2350_read : rp2040_read)(chip, window, address) >> 8 * (address & 3u);
    }
    return value;
}

static inline void rp2040_bus_write(void *context, uint32_t address, uint32_t bytes, uint32_t value) {
    struct rp2040 *chip = context;
    const struct chip_window *window = chip->is_rp2350 ? rp2350_window_of(address) : rp2040_window_of(address);
    uint8_t *memory = window == NULL && address >> 28 > 1 ? chip->outside.memory(chip->outside.context, address, bytes) : NULL;
    if (memory != NULL) {
        for (uint32_t i = 0; i < bytes; i++) {
            memory[i] = (uint8_t)(value >> 8 * i);
        }
        if (chip->outside.wrote != NULL) {
            chip->outside.wrote(chip->outside.context, address, bytes);
        }
    } else if (window != NULL && window->kind != CHIP_IO_PORT && window->kind != CHIP_CORE) {
        (chip->is_rp2350 ? rp2350_write : rp2040_write)(chip, window, address, value * (bytes == 1 ? 0x01010101u : bytes == 2 ? 0x00010001u : 1u));
    }
}

static inline bool rp2040_dma_ready(void *context, uint32_t request) {
    struct rp2040 *chip = context;
    switch (request) {
    case DREQ_UART0_TX:
        return !(rp2040_uart_flags(chip) & 0x20u);
    case DREQ_UART0_RX:
        return !(rp2040_uart_flags(chip) & 0x10u);
    case DREQ_ADC:
        return chip->adc.count != 0;
    default:
        return false; /* of parts that are not modelled */
    }
}

static inline uint64_t rp2040_dma_ready_at(void *context, uint32_t request, uint64_t now) {
    struct rp2040 *chip = context;
    if (rp2040_dma_ready(context, request)) {
        return now + 1;
    }
    return request == DREQ_UART0_TX || request == DREQ_UART0_RX ? chip->outside.uart_changes_at(chip->outside.context)
                                                                : UINT64_MAX; /* the converter's is an event of its own */
}

static inline struct dma_bus rp2040_bus(struct rp2040 *chip) {
    return (struct dma_bus){chip, rp2040_bus_read, rp2040_bus_write, rp2040_dma_ready, rp2040_dma_ready_at};
}

/* ---- time ---- */

/* The first cycle at which one of the dividers has given so many ticks; UINT64_MAX, for ticks or the cycle: never. */
static inline uint64_t rp2040_cycle_of(struct rp2040 *chip, unsigned whose, uint64_t ticks) {
    return ticks == UINT64_MAX ? UINT64_MAX : ticks_cycle_of(rp2040_ticks(chip, whose), ticks);
}

/* When the watchdog resets the chip. */
static inline uint64_t rp2040_watchdog_cycle(struct rp2040 *chip) {
    return rp2040_cycle_of(chip, TICKS_WATCHDOG, watchdog_next(&chip->watchdog));
}

/* When a core's SysTick makes its exception pending next. */
static inline uint64_t rp2040_systick_cycle(struct rp2040 *chip, unsigned core) {
    const struct systick *systick = &chip->nvic[core].systick;
    struct systick_clocks clocks = rp2040_clocks(chip, core);
    uint64_t now = systick_now(systick, &clocks), next;
    if (!(systick->control & SYSTICK_INTERRUPTS)) {
        return UINT64_MAX;
    }
    next = systick_next(systick, core == chip->core ? now : least(now, systick->looked)); /* the other core may be behind */
    return systick->control & SYSTICK_BY_CORE ? next : rp2040_cycle_of(chip, TICKS_CORE0 + core, next);
}

/* When the next alarm goes off, in microseconds that the chip has counted. */
static inline uint64_t rp2040_alarm_us(const struct rp2040 *chip) {
    uint64_t next = timer_next(&chip->timer);
    return next == UINT64_MAX || chip->timer.is_paused ? UINT64_MAX : next - chip->timer.ahead;
}

static inline uint64_t rp2040_lines(struct rp2040 *chip, unsigned core) {
    const struct rp2040_irqs *irqs = chip->is_rp2350 ? &rp2350_irqs : &rp2040_irqs;
    uint32_t uart = *rp2040_register(chip, RP2040_UART0 + 0x38u);
    uint64_t lines = (uint64_t)timer_interrupts(&chip->timer) << irqs->timer;
    for (unsigned line = 0; line < DMA_LINES; line++) { /* RP2040 has two */
        lines |= (uint64_t)(dma_interrupts(&chip->dma, line) != 0) << (irqs->dma + line);
    }
    lines |= (uint64_t)(usb_interrupts(&chip->usb) != 0) << irqs->usb;
    lines |= (uint64_t)(adc_interrupts(&chip->adc) != 0) << irqs->adc;
    lines |= (uint64_t)sio_interrupts(&chip->sio, core) << irqs->sio[core];
    lines |= (uint64_t)(uart != 0 && (rp2040_uart_raw(chip) & uart) != 0) << irqs->uart0;
    lines |= (uint64_t)(chip->rp2350.doorbells[core] != 0) << RP2350_IRQ_BELL;
    return lines;
}

/* Everything happens that is due at `now`. */
static inline void rp2040_advance(struct rp2040 *chip, uint64_t now) {
    struct dma_bus bus = rp2040_bus(chip);
    struct usb_line line = {chip->outside.context, chip->outside.usb_take, chip->outside.usb_give};
    uint64_t us = rp2040_time_us(chip);
    struct systick_clocks clocks = rp2040_clocks(chip, chip->core);
    usb_advance(&chip->usb, us, &line);
    timer_advance(&chip->timer, timer_shows(&chip->timer, us));
    if (chip->watchdog.control & WATCHDOG_ENABLE) {
        watchdog_advance(&chip->watchdog, rp2040_watchdog_us(chip));
    }
    adc_advance(&chip->adc, now, rp2040_conversion_cycles(chip));
    dma_advance(&chip->dma, now, &bus);
    nvic_count(&chip->nvic[chip->core], systick_now(&chip->nvic[chip->core].systick, &clocks)); /* the other core's own time may be less */
    for (unsigned core = 0; core < SIO_CORES; core++) {
        nvic_set_lines(&chip->nvic[core], rp2040_lines(chip, core));
    }
}

/* The next cycle after `now` at which something happens by itself; UINT64_MAX: nothing will. */
static inline uint64_t rp2040_next_event(struct rp2040 *chip, uint64_t now) {
    struct dma_bus bus = rp2040_bus(chip);
    uint64_t next = rp2040_cycle_of(chip, TICKS_TIMER, least(usb_next(&chip->usb), rp2040_alarm_us(chip)));
    next = least(next, rp2040_watchdog_cycle(chip));
    next = least(next, dma_next(&chip->dma, now, &bus));
    next = least(next, adc_next(&chip->adc));
    for (unsigned core = 0; core < SIO_CORES; core++) {
        next = least(next, rp2040_systick_cycle(chip, core));
    }
    if (*rp2040_register(chip, RP2040_UART0 + 0x38u) != 0) {
        next = least(next, chip->outside.uart_changes_at(chip->outside.context));
    }
    return most(next, now + 1);
}

/* Whether the chip does more without its cores: the watchdog resets it, or a transfer continues. */
static inline bool rp2040_acts_alone(struct rp2040 *chip, uint64_t now) {
    struct dma_bus bus = rp2040_bus(chip);
    return chip->watchdog.wants_reset || rp2040_watchdog_cycle(chip) != UINT64_MAX ||
           dma_next(&chip->dma, now, &bus) != UINT64_MAX;
}

/* After a reset of the whole chip: time, the watchdog's scratch registers and the reason are kept. */
static inline void rp2040_restart(struct rp2040 *chip) {
    uint32_t scratch[8];
    struct rp2040_watchdog dog = {.reason = chip->watchdog.reason};
    double seconds = rp2040_seconds(chip);
    uint64_t now = chip->outside.cycles(chip->outside.context);
    memcpy(scratch, rp2040_register(chip, RP2040_WATCHDOG + WATCHDOG_SCRATCH), sizeof scratch);
    (chip->is_rp2350 ? rp2350_reset : rp2040_reset)(chip);
    memcpy(rp2040_register(chip, RP2040_WATCHDOG + WATCHDOG_SCRATCH), scratch, sizeof scratch);
    chip->watchdog = dog;
    chip->seconds = seconds;
    chip->seconds_at_cycle = now;
    for (unsigned whose = 0; whose < TICKS; whose++) {
        chip->ticks[whose].at_cycle = now;
    }
    for (unsigned core = 0; core < SIO_CORES; core++) {
        systick_reset(&chip->nvic[core].systick, rp2040_clocks(chip, core).reference);
    }
}

#endif
