/* SPDX-License-Identifier: MIT
 * arm_rp2040.h: the registers of RP2040 that start-up code, a UART and timers need, so that firmware
 * which brings up its clocks runs unchanged. It does not depend on the CPU: the caller passes the time in
 * cycles. Everything else in the peripherals' address space is a plain register that keeps what was written.
 * Source of all addresses and bits: RP2040 datasheet (2.14 resets, 2.15 clocks, 2.16 XOSC, 2.18 PLL,
 * 4.2 UART, 4.6 timer, 4.7 watchdog, 2.3.1.5 divider, 2.6.3 XIP); ARM DDI 0419, B3.3 SysTick.
 */
#ifndef MOTECRYPT_ARM_RP2040_H
#define MOTECRYPT_ARM_RP2040_H

#include <stdint.h>
#include <string.h>

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
};

#define RP2040_RESETS 0x4000C000u
#define RP2040_CLOCKS 0x40008000u
#define RP2040_XOSC 0x40024000u
#define RP2040_PLL_SYS 0x40028000u
#define RP2040_PLL_USB 0x4002C000u
#define RP2040_UART0 0x40034000u
#define RP2040_TIMER 0x40054000u
#define RP2040_WATCHDOG 0x40058000u

/* Words of the SIO, by their offsets divided by 4 (datasheet 2.3.1.7), and a flag of ours where no register is. */
enum {
    SIO_DIVIDEND = 24,        /* DIV_UDIVIDEND, 0x60 */
    SIO_DIVISOR = 25,         /* DIV_UDIVISOR, 0x64 */
    SIO_SIGNED_DIVIDEND = 26, /* DIV_SDIVIDEND, 0x68; the divisor follows */
    SIO_IS_SIGNED = 31,       /* which of the two pairs was written last */
    SIO_SPINLOCK = 64,        /* SPINLOCK0, 0x100 */
    SIO_END = 96
};
/* Words of the SysTick timer, from 0xE000E000 on. */
enum { SYST_CSR = 4, SYST_RVR = 5 };

#define RP2040_XOSC_HZ 12000000u /* the crystal on the Pico; the boot ROM's USB needs it too */
#define RP2040_ROSC_HZ 6500000u  /* datasheet 2.17: nominal, at reset */

typedef uint32_t rp2040_page[0x400]; /* registers in 4 KB */

struct rp2040 {
    struct chip_outside outside;
    rp2040_page apb[28]; /* of each 0x4000 bytes of the peripherals' window */
    rp2040_page sio;
    rp2040_page ppb; /* the system control space, 0xE000E000 */
    uint32_t xip[16];
    uint32_t ssi[64];
    uint64_t systick_zero;  /* cycle at which SysTick was last at 0 */
    uint64_t time_at_cycle; /* the timer's microseconds were `time_us` at this cycle */
    double time_us;
    uint64_t seconds_at_cycle; /* since reset there had passed `seconds` at this cycle */
    double seconds;
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
    memset(chip, 0, sizeof *chip);
    chip->outside = outside;
    *rp2040_register(chip, RP2040_RESETS) = 0x01FFFFFFu;
    *rp2040_register(chip, RP2040_CLOCKS + 0x34u) = 1u << 8; /* clk_ref divider */
    *rp2040_register(chip, RP2040_CLOCKS + 0x40u) = 1u << 8; /* clk_sys divider */
    *rp2040_register(chip, RP2040_PLL_SYS) = 1;
    *rp2040_register(chip, RP2040_PLL_USB) = 1;
    chip->xip[0] = 3; /* cache enabled */
}

static inline double rp2040_pll_hz(struct rp2040 *chip, uint32_t base) {
    uint32_t reference = *rp2040_register(chip, base) & 0x3Fu;
    uint32_t multiply = *rp2040_register(chip, base + 8) & 0xFFFu;
    uint32_t divide = *rp2040_register(chip, base + 12);
    uint32_t divisor = reference * ((divide >> 16) & 7u) * ((divide >> 12) & 7u);
    return divisor == 0 ? 0.0 : (double)RP2040_XOSC_HZ * multiply / divisor;
}

static inline double rp2040_divided(double hz, uint32_t divider) {
    double by = (double)divider / 256.0;
    return by >= 1.0 ? hz / by : hz / 65536.0; /* 0 means 2^16 */
}

static inline double rp2040_reference_hz(struct rp2040 *chip) {
    uint32_t source = *rp2040_register(chip, RP2040_CLOCKS + 0x30u) & 3u;
    double hz = source == 2   ? RP2040_XOSC_HZ
                : source == 1 ? rp2040_pll_hz(chip, RP2040_PLL_USB)
                              : RP2040_ROSC_HZ;
    return rp2040_divided(hz, *rp2040_register(chip, RP2040_CLOCKS + 0x34u));
}

/* The core's clock by the present clock registers, in hertz. */
static inline double rp2040_system_hz(struct rp2040 *chip) {
    uint32_t control = *rp2040_register(chip, RP2040_CLOCKS + 0x3Cu);
    double hz = rp2040_reference_hz(chip);
    if (control & 1u) {
        switch ((control >> 5) & 7u) {
        case 0:
            hz = rp2040_pll_hz(chip, RP2040_PLL_SYS);
            break;
        case 1:
            hz = rp2040_pll_hz(chip, RP2040_PLL_USB);
            break;
        case 3:
            hz = RP2040_XOSC_HZ;
            break;
        default:
            hz = RP2040_ROSC_HZ;
        }
    }
    return rp2040_divided(hz, *rp2040_register(chip, RP2040_CLOCKS + 0x40u));
}

/* Baud as UART0's divisors and its clock (clk_peri from clk_sys) stand now; 0 when it is off. */
static inline double rp2040_uart_baud(struct rp2040 *chip) {
    uint32_t divisor = *rp2040_register(chip, RP2040_UART0 + 0x24u) * 64u +
                       (*rp2040_register(chip, RP2040_UART0 + 0x28u) & 63u);
    uint32_t control = *rp2040_register(chip, RP2040_UART0 + 0x30u);
    return (control & 0x301u) == 0x301u && divisor != 0 ? 4.0 * rp2040_system_hz(chip) / divisor : 0.0;
}

/* Microseconds of the timer: it counts ticks of the watchdog's divider, which must have been started. */
static inline double rp2040_time_us(struct rp2040 *chip) {
    uint32_t tick = *rp2040_register(chip, RP2040_WATCHDOG + 0x2Cu);
    uint64_t cycles = chip->outside.cycles(chip->outside.context) - chip->time_at_cycle;
    double system = rp2040_system_hz(chip);
    if (!(tick & 0x200u) || (tick & 0x1FFu) == 0 || system <= 0.0) {
        return chip->time_us;
    }
    return chip->time_us + (double)cycles / system * rp2040_reference_hz(chip) / (tick & 0x1FFu);
}

/* Seconds since reset, through all changes of the clock. */
static inline double rp2040_seconds(struct rp2040 *chip) {
    uint64_t cycles = chip->outside.cycles(chip->outside.context) - chip->seconds_at_cycle;
    double hz = rp2040_system_hz(chip);
    return hz > 0.0 ? chip->seconds + (double)cycles / hz : chip->seconds; /* 0: firmware stopped its clock */
}

/* Before anything changes that the timer's rate depends on. */
static inline void rp2040_rebase_time(struct rp2040 *chip) {
    chip->seconds = rp2040_seconds(chip);
    chip->seconds_at_cycle = chip->outside.cycles(chip->outside.context);
    chip->time_us = rp2040_time_us(chip);
    chip->time_at_cycle = chip->outside.cycles(chip->outside.context);
}

static inline uint32_t rp2040_uart_flags(struct rp2040 *chip) {
    int input = chip->outside.uart_has_input(chip->outside.context);
    uint32_t sender = chip->outside.uart_sender_flags ? chip->outside.uart_sender_flags(chip->outside.context)
                                                      : 0x80u; /* TXFE */
    return sender | (input ? 0u : 0x10u);                      /* RXFE while nothing has come */
}

static inline uint32_t rp2040_apb_read(struct rp2040 *chip, uint32_t address) {
    uint32_t plain = address & ~(3u << 12); /* without the atomic alias bits 12, 13 */
    uint32_t value = *rp2040_register(chip, plain);
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
    case RP2040_WATCHDOG + 0x2Cu: /* TICK: running when enabled */
        return value | ((value & 0x200u) << 1);
    case RP2040_UART0: /* DR */
        return chip->outside.uart_read(chip->outside.context);
    case RP2040_UART0 + 0x18u: /* FR */
        return rp2040_uart_flags(chip);
    case RP2040_TIMER + 0x08u: /* TIMEHR, TIMERAWH */
    case RP2040_TIMER + 0x24u:
        return (uint32_t)((uint64_t)rp2040_time_us(chip) >> 32);
    case RP2040_TIMER + 0x0Cu: /* TIMELR, TIMERAWL */
    case RP2040_TIMER + 0x28u:
        return (uint32_t)(uint64_t)rp2040_time_us(chip);
    default:
        return value;
    }
}

static inline void rp2040_apb_write(struct rp2040 *chip, uint32_t address, uint32_t value) {
    uint32_t plain = address & ~(3u << 12);
    uint32_t block = plain >> 14 << 14;
    uint32_t *target = rp2040_register(chip, plain);
    switch ((address >> 12) & 3u) { /* atomic aliases, datasheet 2.1.2 */
    case 1:
        value = *target ^ value;
        break;
    case 2:
        value = *target | value;
        break;
    case 3:
        value = *target & ~value;
        break;
    default:
        break;
    }
    if (block == RP2040_CLOCKS || block == RP2040_PLL_SYS || block == RP2040_PLL_USB ||
        plain == RP2040_WATCHDOG + 0x2Cu) {
        rp2040_rebase_time(chip);
    }
    *target = value;
    if (plain == RP2040_UART0) {
        chip->outside.uart_write(chip->outside.context, (uint8_t)value);
    }
}

static inline uint32_t rp2040_systick(struct rp2040 *chip) {
    uint64_t elapsed = chip->outside.cycles(chip->outside.context) - chip->systick_zero;
    return systick_value(chip->ppb[SYST_CSR], chip->ppb[SYST_RVR], elapsed);
}

static inline uint32_t rp2040_ppb_read(struct rp2040 *chip, uint32_t offset) {
    if (offset == 0xE018u) {
        return rp2040_systick(chip);
    }
    if (offset == 0xED00u) {
        return 0x410CC601u; /* CPUID: Cortex-M0+ r0p1 */
    }
    return offset >> 12 == 0xEu ? chip->ppb[(offset - 0xE000u) / 4] : 0;
}

static inline void rp2040_ppb_write(struct rp2040 *chip, uint32_t offset, uint32_t value) {
    if (offset >> 12 == 0xEu) {
        if (offset == 0xE018u || offset == 0xE010u) {
            chip->systick_zero = chip->outside.cycles(chip->outside.context);
        }
        chip->ppb[(offset - 0xE000u) / 4] = value;
    }
}

static inline uint32_t rp2040_sio_read(struct rp2040 *chip, uint32_t offset) {
    uint32_t dividend, divisor;
    int is_signed = chip->sio[SIO_IS_SIGNED] != 0;
    if (offset / 4 >= SIO_SPINLOCK && offset / 4 < SIO_END) {
        return 1u << (offset / 4 - SIO_SPINLOCK); /* a spinlock is always free: there is one core (2.3.1.3) */
    }
    if (offset != 0x70u && offset != 0x74u) {
        return offset == 0x78u ? 1u : chip->sio[offset / 4]; /* the divider is always ready */
    }
    dividend = chip->sio[SIO_DIVIDEND];
    divisor = chip->sio[SIO_DIVISOR];
    if (divisor == 0) {
        return offset == 0x74u ? dividend : (is_signed && (int32_t)dividend < 0 ? 1u : UINT32_MAX);
    }
    if (is_signed) {
        int64_t a = (int32_t)dividend, b = (int32_t)divisor;
        return (uint32_t)(offset == 0x74u ? a % b : a / b);
    }
    return offset == 0x74u ? dividend % divisor : dividend / divisor;
}

static inline void rp2040_sio_write(struct rp2040 *chip, uint32_t offset, uint32_t value) {
    if (offset >> 4 == 6) {
        chip->sio[SIO_IS_SIGNED] = offset / 4 >= SIO_SIGNED_DIVIDEND;
        /* the signed and unsigned operands are the same registers */
        offset = offset == 0x60u || offset == 0x68u ? 0x60u : 0x64u;
    }
    chip->sio[offset / 4] = value;
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
    switch (window->kind) {
    case CHIP_PERIPHERAL:
        return rp2040_apb_read(chip, address & ~3u);
    case CHIP_IO_PORT:
        return rp2040_sio_read(chip, offset);
    case CHIP_CORE:
        return rp2040_ppb_read(chip, offset);
    case CHIP_XIP:
        return rp2040_xip_read(chip, offset);
    default:
        return chip->ssi[offset / 4 % COUNT_OF(chip->ssi)];
    }
}

static inline void rp2040_write(struct rp2040 *chip, const struct chip_window *window, uint32_t address,
                                uint32_t value) {
    uint32_t offset = (address - window->base) & ~3u;
    switch (window->kind) {
    case CHIP_PERIPHERAL:
        rp2040_apb_write(chip, address & ~3u, value);
        break;
    case CHIP_IO_PORT:
        rp2040_sio_write(chip, offset, value);
        break;
    case CHIP_CORE:
        rp2040_ppb_write(chip, offset, value);
        break;
    case CHIP_XIP:
        rp2040_xip_write(chip, offset, value);
        break;
    default:
        chip->ssi[offset / 4 % COUNT_OF(chip->ssi)] = value;
    }
}

#endif
