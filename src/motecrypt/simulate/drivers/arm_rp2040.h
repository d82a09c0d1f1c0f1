/* SPDX-License-Identifier: MIT
 * arm_rp2040.h: the registers of RP2040 that start-up code, a UART and timers need, so that firmware
 * which brings up its clocks runs unchanged; parts with a model of their own are in headers next to this one. It does not depend on the CPU: the caller passes the time in
 * cycles. Everything else in the peripherals' address space is a plain register that keeps what was written.
 * Source of all addresses and bits: RP2040 datasheet (2.14 resets, 2.15 clocks, 2.16 XOSC, 2.18 PLL,
 * 4.2 UART, 4.6 timer, 4.7 watchdog, 2.3.1.5 divider, 2.6.3 XIP); ARM DDI 0419, B3.3 SysTick.
 */
#ifndef MOTECRYPT_ARM_RP2040_H
#define MOTECRYPT_ARM_RP2040_H

#include <stdint.h>
#include <string.h>

#include "arm_double.h"
#include "arm_nvic.h"
#include "arm_ppb.h"
#include "arm_rp2040_adc.h"
#include "arm_rp2040_dma.h"
#include "arm_rp2040_timer.h"
#include "arm_rp2040_usb.h"
#include "arm_sio.h"
#include "arm_ticks.h"
#include "arm_window.h"
#include "bounds.h"

#define RP2040_APB_BASE 0x40000000u
#define RP2040_APB_BYTES 0x00070000u

/* Windows of registers in the address space (datasheet 2.2). */
static struct chip_window rp2040_windows[] = {
    {RP2040_APB_BASE, RP2040_APB_BYTES, CHIP_PERIPHERAL}, /* behind the peripheral bus's bridge */
    {0xD0000000u, 0x00001000u, CHIP_IO_PORT},             /* SIO, on the core's single-cycle port */
    {0xE0000000u, 0x00100000u, CHIP_CORE},                /* the core's private peripherals */
    {0x14000000u, 0x00004000u, CHIP_XIP},                 /* control of execution in place */
    {0x18000000u, 0x00004000u, CHIP_SSI},                 /* the flash interface: plain registers */
    {0x50000000u, 0x00004000u, CHIP_DMA},
    {0x50110000u, 0x00004000u, CHIP_USB},                 /* its memory, at 0x50100000, is memory */
    {0x50200000u, 0x00200000u, CHIP_PLAIN_BLOCK},         /* PIO: not modelled */
};

#define RP2040_RESETS 0x4000C000u
#define RP2040_CLOCKS 0x40008000u
#define RP2040_XOSC 0x40024000u
#define RP2040_PLL_SYS 0x40028000u
#define RP2040_PLL_USB 0x4002C000u
#define RP2040_UART0 0x40034000u
#define RP2040_ADC 0x4004C000u
#define RP2040_TIMER 0x40054000u
#define RP2040_WATCHDOG 0x40058000u

#define RP2040_XOSC_HZ 12000000u /* the crystal on the Pico; the boot ROM's USB needs it too */
#define RP2040_ROSC_HZ 6500000u  /* datasheet 2.17: nominal, at reset */
#define RP2350_ROSC_HZ 11000000u /* datasheet 8.3: about, at reset */

typedef uint32_t rp2040_page[0x400]; /* registers in 4 KB */

/* What RP2350 has beyond RP2040, or otherwise (arm_rp2350_map.h). */
struct rp2350_extra {
    rp2040_page apb[45]; /* of each 0x8000 bytes of the peripherals' window */
    struct ppb ppb[SIO_CORES];
    struct dcp doubles[SIO_CORES];
    uint32_t doorbells[SIO_CORES];
};

/* Whose ticks: RP2350 has a divider of the reference clock for each, RP2040 one for all. */
enum { TICKS_TIMER, TICKS_WATCHDOG, TICKS_CORE0, TICKS_CORE1, TICKS };

struct rp2040 {
    struct chip_outside outside;
    bool is_rp2350; /* with the rest of what it is, kept through resets */
    unsigned core; /* that the present access comes from */
    struct nvic nvic[SIO_CORES];
    struct sio sio;
    struct rp2040_timer timer;
    struct rp2040_watchdog watchdog;
    struct rp2040_dma dma;
    struct rp2040_adc adc;
    struct rp2040_usb usb;
    uint32_t pio[0x400];
    rp2040_page apb[28]; /* of each 0x4000 bytes of the peripherals' window */
    uint32_t xip[16];
    uint32_t ssi[64];
    struct ticks ticks[TICKS];    /* since the chip's reset */
    uint32_t tick_control[TICKS]; /* as RP2040's register TICK; RP2040: the first alone */
    uint64_t seconds_at_cycle; /* since reset there had passed `seconds` at this cycle */
    double seconds;
    struct rp2350_extra rp2350;
};

static inline uint32_t *rp2040_register(struct rp2040 *chip, uint32_t address) {
    uint32_t offset = address - RP2040_APB_BASE;
    return (uint32_t *)(void *)((uint8_t *)chip->apb[offset >> 14] + (offset & 0xFFFu));
}

/* Sets the value by which firmware detects the simulator; an address outside the peripherals does nothing. */
static inline void rp2040_set_simulated(struct rp2040 *chip, uint32_t address) {
    if (address - RP2040_APB_BASE < RP2040_APB_BYTES) {
        *rp2040_register(chip, address & ~3u) = CHIP_SIMULATED;
    }
}

static inline void rp2040_reset(struct rp2040 *chip) {
    struct chip_outside outside = chip->outside;
    bool is_rp2350 = chip->is_rp2350;
    memset(chip, 0, sizeof *chip);
    chip->outside = outside;
    chip->is_rp2350 = is_rp2350;
    *rp2040_register(chip, RP2040_RESETS) = 0x01FFFFFFu;
    *rp2040_register(chip, RP2040_CLOCKS + 0x34u) = 1u << 8; /* clk_ref divider */
    *rp2040_register(chip, RP2040_CLOCKS + 0x40u) = 1u << 8; /* clk_sys divider */
    *rp2040_register(chip, RP2040_PLL_SYS) = 1;
    *rp2040_register(chip, RP2040_PLL_USB) = 1;
    chip->xip[0] = 3; /* cache enabled */
    sio_fifo_put(&chip->sio.cores[0].fifo, 0); /* the boot ROM's core 1 has said that it waits */
}

/* Hertz; those of the parts of RP2040's names are for both chips. */
static inline struct fraction rp2040_pll(struct rp2040 *chip, uint32_t base) {
    uint32_t reference = *rp2040_register(chip, base) & 0x3Fu;
    uint32_t multiply = *rp2040_register(chip, base + 8) & 0xFFFu;
    uint32_t divide = *rp2040_register(chip, base + 12);
    uint32_t divisor = reference * ((divide >> 16) & 7u) * ((divide >> 12) & 7u);
    return fraction_times((struct fraction){RP2040_XOSC_HZ, 1}, multiply, divisor);
}

/* By a clock's divider, in 256ths; RP2350: in 65536ths. */
static inline struct fraction rp2040_divided(const struct rp2040 *chip, struct fraction hz, uint32_t divider) {
    uint32_t one = chip->is_rp2350 ? 65536u : 256u;
    return divider >= one ? fraction_times(hz, one, divider) : fraction_times(hz, 1, 65536); /* 0 means 2^16 */
}

static inline struct fraction rp2040_rosc(const struct rp2040 *chip) {
    return (struct fraction){chip->is_rp2350 ? RP2350_ROSC_HZ : RP2040_ROSC_HZ, 1};
}

static inline struct fraction rp2040_reference(struct rp2040 *chip) {
    uint32_t source = *rp2040_register(chip, RP2040_CLOCKS + 0x30u) & 3u;
    struct fraction hz = source == 2   ? (struct fraction){RP2040_XOSC_HZ, 1}
                         : source == 1 ? rp2040_pll(chip, RP2040_PLL_USB)
                                       : rp2040_rosc(chip);
    return rp2040_divided(chip, hz, *rp2040_register(chip, RP2040_CLOCKS + 0x34u));
}

/* The core's clock by the present clock registers. */
static inline struct fraction rp2040_system(struct rp2040 *chip) {
    uint32_t control = *rp2040_register(chip, RP2040_CLOCKS + 0x3Cu);
    struct fraction hz = rp2040_reference(chip);
    if (control & 1u) {
        switch ((control >> 5) & 7u) {
        case 0:
            hz = rp2040_pll(chip, RP2040_PLL_SYS);
            break;
        case 1:
            hz = rp2040_pll(chip, RP2040_PLL_USB);
            break;
        case 3:
            hz = (struct fraction){RP2040_XOSC_HZ, 1};
            break;
        default:
            hz = rp2040_rosc(chip);
        }
    }
    return rp2040_divided(chip, hz, *rp2040_register(chip, RP2040_CLOCKS + 0x40u));
}

static inline double rp2040_system_hz(struct rp2040 *chip) {
    return fraction_value(rp2040_system(chip));
}

/* Baud as UART0's divisors and its clock (clk_peri from clk_sys) stand now; 0 when it is off. */
static inline double rp2040_uart_baud(struct rp2040 *chip) {
    uint32_t divisor = *rp2040_register(chip, RP2040_UART0 + 0x24u) * 64u +
                       (*rp2040_register(chip, RP2040_UART0 + 0x28u) & 63u);
    uint32_t control = *rp2040_register(chip, RP2040_UART0 + 0x30u);
    return (control & 0x301u) == 0x301u && divisor != 0 ? 4.0 * rp2040_system_hz(chip) / divisor : 0.0;
}

static inline uint64_t rp2040_now(struct rp2040 *chip) {
    return chip->outside.cycles(chip->outside.context);
}

/* Ticks of a divider of the reference clock in a cycle; 0: it is off, or a clock is. */
static inline struct fraction rp2040_tick_rate(struct rp2040 *chip, uint32_t control) {
    struct fraction system = rp2040_system(chip);
    if (!(control & 0x200u) || (control & 0x1FFu) == 0) {
        return (struct fraction){0, 1};
    }
    return fraction_times(fraction_times(rp2040_reference(chip), system.bottom, system.top), 1, control & 0x1FFu);
}

static inline struct ticks *rp2040_ticks(struct rp2040 *chip, unsigned whose) {
    struct ticks *ticks = &chip->ticks[chip->is_rp2350 ? whose : 0];
    if (ticks->rate.bottom == 0) {
        ticks_set_rate(ticks, rp2040_tick_rate(chip, chip->tick_control[chip->is_rp2350 ? whose : 0]));
    }
    return ticks;
}

/* Microseconds that the timer has counted. */
static inline uint64_t rp2040_time_us(struct rp2040 *chip) {
    return ticks_count(rp2040_ticks(chip, TICKS_TIMER), rp2040_now(chip));
}

/* What the watchdog counts. */
static inline uint64_t rp2040_watchdog_us(struct rp2040 *chip) {
    return ticks_count(rp2040_ticks(chip, TICKS_WATCHDOG), rp2040_now(chip));
}

/* What the clocks of a core's SysTick have counted. The reference clock is a divider's ticks (4.7.2; RP2350: 8.5). */
static inline struct systick_clocks rp2040_clocks(struct rp2040 *chip, unsigned core) {
    uint64_t now = rp2040_now(chip);
    return (struct systick_clocks){now, ticks_count(rp2040_ticks(chip, TICKS_CORE0 + core), now), true};
}

/* Seconds since reset, through all changes of the clock. */
static inline double rp2040_seconds(struct rp2040 *chip) {
    uint64_t cycles = most(rp2040_now(chip), chip->seconds_at_cycle) - chip->seconds_at_cycle;
    double hz = rp2040_system_hz(chip);
    return hz > 0.0 ? chip->seconds + (double)cycles / hz : chip->seconds; /* 0: firmware stopped its clock */
}

/* Before anything changes that the rates of time depend on. */
static inline void rp2040_hold_time(struct rp2040 *chip) {
    chip->seconds = rp2040_seconds(chip);
    chip->seconds_at_cycle = rp2040_now(chip);
    for (unsigned whose = 0; whose < (chip->is_rp2350 ? TICKS : 1u); whose++) {
        ticks_hold(rp2040_ticks(chip, whose), rp2040_now(chip));
    }
}

static inline uint32_t rp2040_uart_flags(struct rp2040 *chip) {
    int input = chip->outside.uart_has_input(chip->outside.context);
    uint32_t sender = chip->outside.uart_sender_flags ? chip->outside.uart_sender_flags(chip->outside.context)
                                                      : 0x80u; /* TXFE */
    return sender | (input ? 0u : 0x10u);                      /* RXFE while nothing has come */
}

/* RXRIS and RTRIS while something has come; TXRIS while there is room for a byte (on the chip, by IFLS: half a FIFO). */
static inline uint32_t rp2040_uart_raw(struct rp2040 *chip) {
    uint32_t flags = rp2040_uart_flags(chip);
    return (flags & 0x10u ? 0u : 0x50u) | (flags & 0x20u ? 0u : 0x20u);
}

/* Cycles of one conversion, by clk_adc: what its divider leaves of the USB's PLL. */
static inline double rp2040_conversion_cycles(struct rp2040 *chip) {
    double hz = fraction_value(
        rp2040_divided(chip, rp2040_pll(chip, RP2040_PLL_USB), *rp2040_register(chip, RP2040_CLOCKS + 0x64u)));
    return hz > 0.0 ? ADC_CLOCKS * rp2040_system_hz(chip) / hz : ADC_CLOCKS;
}

static inline uint32_t rp2040_apb_read(struct rp2040 *chip, uint32_t address) {
    uint32_t plain = address & ~(3u << 12); /* without the atomic alias bits 12, 13 */
    uint32_t value = *rp2040_register(chip, plain);
    if (plain - RP2040_ADC < 0x1000u) {
        return adc_read(&chip->adc, plain - RP2040_ADC);
    }
    if (plain - RP2040_TIMER < 0x1000u && timer_read(&chip->timer, plain - RP2040_TIMER, &value)) {
        return value;
    }
    switch (plain) {
    case RP2040_RESETS + 8: /* RESET_DONE */
        return ~*rp2040_register(chip, RP2040_RESETS) & 0x01FFFFFFu;
    case RP2040_CLOCKS + 0x38u: /* CLK_REF_SELECTED, one hot */
        return 1u << (*rp2040_register(chip, RP2040_CLOCKS + 0x30u) & 3u);
    case RP2040_CLOCKS + 0x44u: /* CLK_SYS_SELECTED */
        return 1u << (*rp2040_register(chip, RP2040_CLOCKS + 0x3Cu) & 1u);
    case RP2040_XOSC + 4: /* STATUS: stable as soon as enabled */
        return (*rp2040_register(chip, RP2040_XOSC) & 0xFFF000u) == 0xFAB000u ? 0x80001000u : 0u;
    case RP2040_PLL_SYS:
    case RP2040_PLL_USB: /* CS: locked as soon as powered (PWR bits PD and VCOPD clear) and multiplying */
        return value |
               (!(*rp2040_register(chip, plain + 4) & 0x21u) && *rp2040_register(chip, plain + 8) ? 1u << 31
                                                                                                  : 0u);
    case RP2040_WATCHDOG + WATCHDOG_TICK: /* running when enabled */
        return value | ((value & 0x200u) << 1);
    case RP2040_WATCHDOG + WATCHDOG_CTRL:
        return watchdog_control(&chip->watchdog, rp2040_watchdog_us(chip));
    case RP2040_WATCHDOG + WATCHDOG_REASON:
        return chip->watchdog.reason;
    case RP2040_UART0 + 0x3Cu: /* RIS, MIS */
    case RP2040_UART0 + 0x40u:
        return rp2040_uart_raw(chip) & (plain & 0x40u ? *rp2040_register(chip, RP2040_UART0 + 0x38u) : UINT32_MAX);
    case RP2040_UART0: /* DR */
        return chip->outside.uart_read(chip->outside.context);
    case RP2040_UART0 + 0x18u: /* FR */
        return rp2040_uart_flags(chip);
    case RP2040_TIMER + 0x08u: /* TIMEHR */
        return chip->timer.high;
    case RP2040_TIMER + 0x24u: /* TIMERAWH */
        return (uint32_t)(timer_shows(&chip->timer, rp2040_time_us(chip)) >> 32);
    case RP2040_TIMER + 0x0Cu: /* TIMELR */
        chip->timer.high = (uint32_t)(timer_shows(&chip->timer, rp2040_time_us(chip)) >> 32);
        return (uint32_t)timer_shows(&chip->timer, rp2040_time_us(chip));
    case RP2040_TIMER + 0x28u: /* TIMERAWL */
        return (uint32_t)timer_shows(&chip->timer, rp2040_time_us(chip));
    default:
        return value;
    }
}

/* The parts whose bits are set (2.14.3) are held in reset, or leave it, as they are after it. */
static inline void rp2040_reset_blocks(struct rp2040 *chip, uint32_t bits) {
    if (bits & 1u << 0) {
        memset(&chip->adc, 0, sizeof chip->adc);
    }
    if (bits & 1u << 2) {
        memset(&chip->dma, 0, sizeof chip->dma);
    }
    if (bits & 1u << 24) {
        memset(&chip->usb, 0, sizeof chip->usb);
    }
    if (bits & 1u << 21) {
        memset(&chip->timer, 0, sizeof chip->timer);
        chip->timer.ahead = 0 - rp2040_time_us(chip); /* its count begins at 0 again, the divider continues */
    }
    if (bits & 1u << 22) {
        *rp2040_register(chip, RP2040_UART0 + 0x30u) = 0;
        *rp2040_register(chip, RP2040_UART0 + 0x38u) = 0;
    }
}

/* What a write does beyond being kept. */
static inline void rp2040_apb_effect(struct rp2040 *chip, uint32_t plain, uint32_t was, uint32_t value) {
    if (plain == RP2040_UART0) {
        chip->outside.uart_write(chip->outside.context, (uint8_t)value);
    } else if (plain - RP2040_TIMER < 0x1000u) {
        uint64_t us = rp2040_time_us(chip);
        if (!timer_set(&chip->timer, plain - RP2040_TIMER, value, us)) {
            timer_write(&chip->timer, plain - RP2040_TIMER, value, timer_shows(&chip->timer, us));
        }
    } else if (plain - RP2040_ADC < 0x1000u) {
        adc_write(&chip->adc, plain - RP2040_ADC, value, chip->outside.cycles(chip->outside.context),
                  rp2040_conversion_cycles(chip));
    } else if (plain == RP2040_WATCHDOG + WATCHDOG_CTRL || plain == RP2040_WATCHDOG + WATCHDOG_LOAD) {
        watchdog_write(&chip->watchdog, plain - RP2040_WATCHDOG, value, rp2040_watchdog_us(chip));
    } else if (plain == RP2040_RESETS) {
        rp2040_reset_blocks(chip, was | value);
    }
}

/* What an atomic write changes: the register as it reads, without a flag that reading would clear. */
static inline uint32_t rp2040_apb_old(struct rp2040 *chip, uint32_t plain) {
    return plain - RP2040_ADC < ADC_FIFO || plain - RP2040_TIMER < 0x1000u || plain == RP2040_WATCHDOG + WATCHDOG_CTRL
               ? rp2040_apb_read(chip, plain)
               : *rp2040_register(chip, plain);
}

/* A write through one of the four aliases (datasheet 2.1.2). */
static inline uint32_t rp2040_atomic(uint32_t address, uint32_t old, uint32_t value) {
    if ((address & ~0x3000u) == RP2040_TIMER + TIMER_INTR || (address & ~0x3000u) == 0x50000400u ||
        (address & ~0x3010u) == 0x5000040Cu) {
        return (address & 0x3000u) == 0x3000u ? value : 0; /* ones clear, through that alias as well */
    }
    switch ((address >> 12) & 3u) {
    case 1:
        return old ^ value;
    case 2:
        return old | value;
    case 3:
        return old & ~value;
    default:
        return value;
    }
}

static inline void rp2040_apb_write(struct rp2040 *chip, uint32_t address, uint32_t value) {
    uint32_t plain = address & ~(3u << 12);
    uint32_t block = plain >> 14 << 14;
    uint32_t *target = rp2040_register(chip, plain), was;
    if (address >> 12 & 3u) {
        value = rp2040_atomic(address, rp2040_apb_old(chip, plain), value);
    }
    if (block == RP2040_CLOCKS || block == RP2040_PLL_SYS || block == RP2040_PLL_USB ||
        plain == RP2040_WATCHDOG + WATCHDOG_TICK) {
        rp2040_hold_time(chip);
    }
    if (plain == RP2040_WATCHDOG + WATCHDOG_TICK) {
        chip->tick_control[0] = value;
    }
    was = *target;
    *target = value;
    rp2040_apb_effect(chip, plain, was, value);
}

/* The time, for the one part of the SIO that takes some: the divider. */
static inline uint64_t rp2040_sio_now(struct rp2040 *chip, uint32_t offset) {
    return offset - SIO_UNSIGNED < SIO_INTERPOLATORS - SIO_UNSIGNED ? chip->outside.cycles(chip->outside.context) : 0;
}

static inline uint32_t rp2040_xip_read(struct rp2040 *chip, uint32_t offset) {
    if (offset == 8) {
        return 0x3u; /* STAT: flush ready, FIFO empty */
    }
    return offset / 4 < COUNT_OF(chip->xip) ? chip->xip[offset / 4] : 0;
}

static inline void rp2040_xip_write(struct rp2040 *chip, uint32_t offset, uint32_t value) {
    if (offset == 4 && (value & 1u)) {
        chip->outside.flush_flash_cache(chip->outside.context);
    } else if (offset / 4 < COUNT_OF(chip->xip)) {
        chip->xip[offset / 4] = value;
    }
}

/* The aligned register of `address`, which is inside `window`. */
static inline uint32_t rp2040_read(struct rp2040 *chip, const struct chip_window *window,
                                   uint32_t address) {
    uint32_t offset = (address - window->base) & ~3u;
    struct systick_clocks clocks;
    switch (window->kind) {
    case CHIP_PERIPHERAL:
        return rp2040_apb_read(chip, address & ~3u);
    case CHIP_IO_PORT:
        return sio_read(&chip->sio, chip->core, offset, rp2040_sio_now(chip, offset));
    case CHIP_CORE:
        clocks = rp2040_clocks(chip, chip->core);
        return nvic_read(&chip->nvic[chip->core], offset, &clocks);
    case CHIP_XIP:
        return rp2040_xip_read(chip, offset);
    case CHIP_DMA:
        return dma_read(&chip->dma, offset & 0xFFFu);
    case CHIP_USB:
        return usb_read(&chip->usb, offset);
    case CHIP_PLAIN_BLOCK:
        return chip->pio[offset / 4 % COUNT_OF(chip->pio)];
    default:
        return chip->ssi[offset / 4 % COUNT_OF(chip->ssi)];
    }
}

static inline void rp2040_write(struct rp2040 *chip, const struct chip_window *window, uint32_t address,
                                uint32_t value) {
    uint32_t offset = (address - window->base) & ~3u;
    struct systick_clocks clocks;
    switch (window->kind) {
    case CHIP_PERIPHERAL:
        rp2040_apb_write(chip, address & ~3u, value);
        break;
    case CHIP_IO_PORT:
        sio_write(&chip->sio, chip->core, offset, value, rp2040_sio_now(chip, offset));
        break;
    case CHIP_CORE:
        clocks = rp2040_clocks(chip, chip->core);
        nvic_write(&chip->nvic[chip->core], offset, value, &clocks);
        break;
    case CHIP_XIP:
        rp2040_xip_write(chip, offset, value);
        break;
    case CHIP_DMA:
        if (address >> 12 & 3u) {
            value = rp2040_atomic(address, dma_read(&chip->dma, offset & 0xFFFu), value);
        }
        dma_write(&chip->dma, offset & 0xFFFu, value, chip->outside.cycles(chip->outside.context));
        break;
    case CHIP_USB:
        usb_write(&chip->usb, offset, value, rp2040_time_us(chip));
        break;
    case CHIP_PLAIN_BLOCK:
        chip->pio[offset / 4 % COUNT_OF(chip->pio)] = value;
        break;
    default:
        chip->ssi[offset / 4 % COUNT_OF(chip->ssi)] = value;
    }
}

#endif
