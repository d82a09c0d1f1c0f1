/* SPDX-License-Identifier: MIT
 * arm_rp2350_map.h: RP2350's peripherals in a free run. Its clocks, PLLs, UART, timer, ADC, watchdog, DMA, USB and SIO are
 * the RP2040's (arm_rp2040.h) at other addresses, with some registers and bits moved: here they are moved back. What
 * only RP2350 has keeps what was written, and settles or answers where firmware waits for it. It does not depend on
 * the CPU. Source of all addresses and bits: RP2350 datasheet (Raspberry Pi Ltd, 2024): 2.2 address map, 3.1 SIO,
 * 4.3 boot RAM, 7.5 resets, 8.1 clocks, 8.5 ticks, 12.1 UART, 12.6 DMA, 12.7 USB, 12.8 timers, 12.9 watchdog.
 */
#ifndef MOTECRYPT_ARM_RP2350_MAP_H
#define MOTECRYPT_ARM_RP2350_MAP_H

#include "arm_ppb.h"
#include "arm_rp2040.h"

#define RP2350_APB_BYTES 0x00168000u

static struct chip_window rp2350_free_windows[] = {
    {RP2040_APB_BASE, RP2350_APB_BYTES, CHIP_PERIPHERAL},
    {0xD0000000u, 0x00021000u, CHIP_IO_PORT},
    {0xE0000000u, 0x00100000u, CHIP_CORE},
    {0x18000000u, 0x04000000u, CHIP_SSI}, /* maintenance of the flash cache, by writes */
    {0x50000000u, 0x00004000u, CHIP_DMA},
    {0x50110000u, 0x00004000u, CHIP_USB},
    {0x50200000u, 0x00500000u, CHIP_PLAIN_BLOCK}, /* PIO, streams of the flash and of HSTX: not modelled */
};

/* 2.2. */
static const struct chip_gap rp2350_free_gaps[] = {
    {0x4001008Cu, 0x0020u, 0, "the frequency counter: not modelled; it never ends"},
    {0x40078000u, 0x8000u, 0, "UART1: not modelled; nothing is sent or received"},
    {0x40080000u, 0x10000u, 0, "SPI: not modelled; its registers only keep what is written"},
    {0x40090000u, 0x10000u, 0, "I2C: not modelled; its registers only keep what is written"},
    {0x400A8000u, 0x8000u, 0, "PWM: not modelled; its registers only keep what is written"},
    {0x400B8000u, 0x8000u, 0, "TIMER1: not modelled; it never counts"},
    {0x400C0000u, 0x8000u, 0, "HSTX: not modelled; its registers only keep what is written"},
    {0x400C800Cu, 0x14u, 0, "counters and stream of the flash cache: not modelled"},
    {0x400D0034u, 0x20u, 1, "translation of the flash's addresses: not modelled"},
    {0x400E8000u, 0x8000u, 0, "ROSC: not modelled; its frequency is fixed, and its random bit is 0"},
    {0x400F0000u, 0x8000u, 0, "random numbers: not modelled; they are 0"},
    {0x400F8000u, 0x8000u, 0, "the SHA-256 block: not modelled; it never answers"},
    {0x40100000u, 0x8000u, 0, "the power manager: not modelled; its timer never counts"},
    {0x40120000u, 0x20000u, 0, "OTP: not modelled; it reads as 0"},
    {0x50000480u, 0xC4u, 0, "the DMA's security levels and memory protection: not modelled"},
    {0x50000800u, 0x400u, 0, "the DMA's registers for debugging: not modelled; they are 0"},
    {0x50200000u, 0x300000u, 0, "PIO: not modelled; its registers only keep what is written"},
    {0x50500000u, 0x200000u, 0, "streams of the flash and of HSTX: not modelled"},
    {0xD0000080u, 0x0080u, 0, "the interpolators: not modelled; their registers only keep what is written"},
    {0xD00001C0u, 0x0040u, 0, "the TMDS encoder: not modelled"},
};

#define RP2350_AT_CLOCKS 0x40010000u
#define RP2350_AT_PSM 0x40018000u
#define RP2350_AT_RESETS 0x40020000u
#define RP2350_AT_WATCHDOG 0x400D8000u
#define RP2350_AT_TIMER0 0x400B0000u
#define RP2350_AT_BOOTRAM 0x400E0000u
#define RP2350_AT_TICKS 0x40108000u

enum {
    RP2350_BLOCK = 0x8000, /* of the address space, for each peripheral; its aliases fill it */
    RP2350_XIP_SETUP = 0x100, /* bytes of boot RAM: code that sets the flash interface up */
    RP2350_LOCKS = 0x80C,  /* in boot RAM: eight locks */
    RP2350_DOORBELLS = 0x180,  /* OUT_SET, OUT_CLR, IN_SET, IN_CLR */
    RP2350_FIFO_WORDS = 4,
    RP2350_DMA_TIMER0 = 0x440,
};

/* 8.5: CTRL and CYCLES of each tick generator. */
static const uint32_t rp2350_generators[TICKS] = {
    [TICKS_CORE0] = 0x00, [TICKS_CORE1] = 0x0C, [TICKS_TIMER] = 0x18, [TICKS_WATCHDOG] = 0x30};

/* ---- where a register is among the RP2040's ---- */

/* 8.1: HSTX's clock is between the peripherals' and the USB's. */
static inline uint32_t rp2350_clock_offset(uint32_t offset) {
    return offset < 0x54u ? offset : offset < 0x60u ? UINT32_MAX : offset - 0xCu;
}

/* 12.8: LOCKED and SOURCE are before INTR. */
static inline uint32_t rp2350_timer_offset(uint32_t offset) {
    return offset < 0x34u ? offset : offset < 0x3Cu ? UINT32_MAX : offset - 8u;
}

/* The address of the same register in RP2040, with the alias's bits; `address` itself where RP2040 has none. */
static inline uint32_t rp2350_as_rp2040(uint32_t address) {
    static const struct {
        uint32_t base, is;
    } same[] = {
        {0x40048000u, RP2040_XOSC},  {0x40050000u, RP2040_PLL_SYS}, {0x40058000u, RP2040_PLL_USB},
        {0x40070000u, RP2040_UART0}, {0x400A0000u, RP2040_ADC},
    };
    uint32_t alias = address & 0x3000u, base = address & ~(RP2350_BLOCK - 1u), offset = address & 0xFFFu;
    uint32_t moved = UINT32_MAX, to = 0;
    for (size_t i = 0; i < COUNT_OF(same); i++) {
        if (same[i].base == base) {
            return same[i].is + alias + offset;
        }
    }
    if (base == RP2350_AT_CLOCKS) {
        moved = rp2350_clock_offset(offset);
        to = RP2040_CLOCKS;
    } else if (base == RP2350_AT_TIMER0) {
        moved = rp2350_timer_offset(offset);
        to = RP2040_TIMER;
    } else if (base == RP2350_AT_WATCHDOG && offset < WATCHDOG_TICK) {
        moved = offset;
        to = RP2040_WATCHDOG;
    }
    return moved == UINT32_MAX ? address : to + alias + moved;
}

static inline uint32_t *rp2350_own(struct rp2040 *chip, uint32_t address) {
    uint32_t offset = address - RP2040_APB_BASE < RP2350_APB_BYTES ? address - RP2040_APB_BASE : 0;
    return &chip->rp2350.apb[offset / RP2350_BLOCK][(offset & 0xFFFu) / 4];
}

/* ---- what only RP2350 has, or has otherwise ---- */

static inline uint32_t rp2350_own_read(struct rp2040 *chip, uint32_t plain) {
    uint32_t *value = rp2350_own(chip, plain), was;
    uint32_t lock = (plain - RP2350_AT_BOOTRAM - RP2350_LOCKS) / 4;
    if (plain - RP2350_AT_TICKS < 0x48u && (plain - RP2350_AT_TICKS) % 12 == 0) {
        return *value | (*value & 1u) << 1; /* CTRL: running when enabled */
    }
    if (plain - RP2350_AT_BOOTRAM < 0x1000u && lock < 8) { /* reading takes a free lock */
        was = *value;
        *value = 0;
        return was;
    }
    switch (plain) {
    case RP2350_AT_RESETS + 8: /* RESET_DONE */
        return ~*rp2350_own(chip, RP2350_AT_RESETS) & 0x1FFFFFFFu;
    case RP2350_AT_PSM + 0xC: /* DONE */
        return ~*rp2350_own(chip, RP2350_AT_PSM + 4) & 0x1FFFFFFu;
    case RP2350_AT_CLOCKS + 0x5C: /* CLK_HSTX_SELECTED */
        return 1;
    case 0x40000000u: /* CHIP_ID: version 2 of the chip, its part, its manufacturer */
        return 0x20004927u;
    case 0x400C8008u: /* the flash cache: not busy; its stream is empty */
        return 2;
    case 0x400D0000u: /* the flash interface: both queues empty, not busy */
        return *value | 0x10800u;
    default:
        return *value;
    }
}

/* 7.5: the parts that the model has, by the RP2040's numbers. */
static inline uint32_t rp2350_reset_bits(uint32_t bits) {
    return (bits & 5u) | (bits >> 28 & 1u) << 24 | (bits >> 23 & 1u) << 21 | (bits >> 26 & 1u) << 22;
}

/* A tick generator's CTRL and CYCLES, as RP2040's TICK. */
static inline uint32_t rp2350_tick(struct rp2040 *chip, uint32_t generator) {
    const uint32_t *ticks = rp2350_own(chip, RP2350_AT_TICKS + generator);
    return (ticks[0] & 1u) << 9 | (ticks[1] & 0x1FFu);
}

static inline void rp2350_own_write(struct rp2040 *chip, uint32_t plain, uint32_t value) {
    uint32_t lock = (plain - RP2350_AT_BOOTRAM - RP2350_LOCKS) / 4, was;
    if (plain - RP2350_AT_BOOTRAM < 0x1000u && lock < 8) {
        value = 1u << lock; /* any write releases it */
    } else if (plain - RP2350_AT_TICKS < 0x48u) {
        rp2040_hold_time(chip);
    }
    was = *rp2350_own(chip, plain);
    *rp2350_own(chip, plain) = value;
    if (plain == RP2350_AT_RESETS) {
        rp2040_reset_blocks(chip, rp2350_reset_bits(was | value));
    } else if (plain == RP2350_AT_PSM + 4) { /* FRCE_OFF: the second core has another bit */
        *rp2040_register(chip, 0x40010004u) = (value >> 24 & 1u) << 16;
    } else if (plain - RP2350_AT_TICKS < 0x48u) {
        for (unsigned whose = 0; whose < TICKS; whose++) {
            chip->tick_control[whose] = rp2350_tick(chip, rp2350_generators[whose]);
        }
    }
}

/* 12.9: it counts one down at each tick, where RP2040's counts two. */
static inline uint32_t rp2350_watchdog_read(struct rp2040 *chip) {
    return chip->watchdog.control | (uint32_t)watchdog_left(&chip->watchdog, rp2040_watchdog_us(chip));
}

static inline void rp2350_watchdog_load(struct rp2040 *chip, uint32_t value) {
    watchdog_load(&chip->watchdog, value & 0xFFFFFFu, rp2040_watchdog_us(chip));
}

static inline uint32_t rp2350_apb_read(struct rp2040 *chip, uint32_t address) {
    uint32_t plain = address & ~0x3000u, is = rp2350_as_rp2040(plain);
    if (is == plain) {
        return rp2350_own_read(chip, plain);
    }
    return is == RP2040_WATCHDOG + WATCHDOG_CTRL ? rp2350_watchdog_read(chip) : rp2040_apb_read(chip, is);
}

static inline void rp2350_apb_write(struct rp2040 *chip, uint32_t address, uint32_t value) {
    uint32_t is = rp2350_as_rp2040(address), plain = address & ~0x3000u;
    if (is == address) {
        uint32_t old = plain - RP2350_AT_BOOTRAM < 0x1000u ? 0 : *rp2350_own(chip, plain);
        rp2350_own_write(chip, plain, rp2040_atomic(address, old, value));
        return;
    }
    rp2040_apb_write(chip, is, value);
    if (is == RP2040_WATCHDOG + WATCHDOG_LOAD) {
        rp2350_watchdog_load(chip, value);
    }
}

/* ---- DMA (12.6) ---- */

/* Of RP2040's register: behind four interrupt lines, not two. */
static inline uint32_t rp2350_dma_offset(uint32_t offset) {
    return offset < RP2350_DMA_TIMER0 ? UINT32_MAX : offset - (RP2350_DMA_TIMER0 - DMA_TIMER0);
}

static inline bool rp2350_is_dma_line(uint32_t offset) {
    return offset >= DMA_INTR && offset < RP2350_DMA_TIMER0;
}

static inline unsigned rp2350_dma_register_of(uint32_t offset) {
    return dma_layout[offset / 0x10 % 4][offset / 4 % 4];
}

/* The requests that the model has; others are never up. */
static const struct {
    uint8_t rp2350, rp2040;
} rp2350_requests[] = {{28, 20}, {29, 21}, {48, 36}, {59, 59}, {60, 60}, {61, 61}, {62, 62}, {63, 63}};

enum { RP2350_NO_REQUEST = 0 /* RP2040's PIO: never up */ };

static inline uint32_t rp2350_dma_read(struct rp2040 *chip, uint32_t offset) {
    const struct rp2040_dma *dma = &chip->dma;
    if (offset < DMA_INTR) {
        const struct dma_channel *channel = &dma->channels[offset / 0x40];
        switch (rp2350_dma_register_of(offset)) {
        case DMA_CTRL:
            return channel->control | (dma->busy >> offset / 0x40 & 1u) << 26;
        case DMA_WORDS:
            return channel->mode << 28 | (channel->mode == DMA_ENDLESS ? channel->at[DMA_WORDS] : channel->left);
        default:
            return dma_channel_read(dma, offset);
        }
    }
    if (rp2350_is_dma_line(offset)) {
        return dma_line_read(dma, (offset - DMA_INTR) / 16, offset & 12u);
    }
    return rp2350_dma_offset(offset) == DMA_COUNT ? DMA_CHANNELS : dma_read(&chip->dma, rp2350_dma_offset(offset));
}

/* CTRL in RP2040's form: two bits are new, before and after the ring's size. */
static inline uint32_t rp2350_dma_control(uint32_t value) {
    uint32_t request = RP2350_NO_REQUEST;
    for (size_t i = 0; i < COUNT_OF(rp2350_requests); i++) {
        request = (value >> 17 & 63u) == rp2350_requests[i].rp2350 ? rp2350_requests[i].rp2040 : request;
    }
    return (value & 0x1Fu) | (value >> 6 & 1u) << 5 | (value >> 2 & 0x00E07FC0u) | request << 15;
}

static inline void rp2350_dma_write(struct rp2040 *chip, uint32_t offset, uint32_t value) {
    uint64_t now = chip->outside.cycles(chip->outside.context);
    if (rp2350_is_dma_line(offset)) {
        dma_line_write(&chip->dma, (offset - DMA_INTR) / 16, offset & 12u, value & ((1u << DMA_CHANNELS) - 1u));
    } else if (offset < DMA_INTR) {
        struct dma_channel *channel = &chip->dma.channels[offset / 0x40];
        if (rp2350_dma_register_of(offset) == DMA_CTRL) {
            channel->control = value & 0x03FFFFFFu;
            value = rp2350_dma_control(value);
        } else if (rp2350_dma_register_of(offset) == DMA_WORDS) {
            channel->mode = value >> 28;
            value &= 0x0FFFFFFFu;
        }
        dma_channel_write(&chip->dma, offset, value, now);
    } else {
        dma_write(&chip->dma, rp2350_dma_offset(offset), value, now);
    }
}

/* A write through an alias. INTR and INTS: ones clear, through that alias as well. */
static inline uint32_t rp2350_dma_atomic(struct rp2040 *chip, uint32_t address, uint32_t value) {
    uint32_t offset = address & 0xFFCu, alias = address >> 12 & 3u;
    if (alias == 0) {
        return value;
    }
    if (rp2350_is_dma_line(offset) && ((offset & 12u) == DMA_LINE_RAW || (offset & 12u) == DMA_LINE_STATUS)) {
        return alias == 3 ? value : 0;
    }
    return rp2040_atomic(address, rp2350_dma_read(chip, offset), value);
}

/* ---- SIO (3.1) ---- */

/* Pins: each register is followed by that of the upper pins. There is no divider. */
static inline uint32_t rp2350_sio_offset(uint32_t offset) {
    if (offset >= SIO_GPIO && offset < SIO_GPIO_END) {
        uint32_t number = (offset - SIO_GPIO) / 4;
        return SIO_GPIO + 0x20u * (number & 1u) + 4u * (number / 2);
    }
    return offset >= SIO_UNSIGNED && offset < SIO_INTERPOLATORS ? UINT32_MAX : offset;
}

static inline uint32_t rp2350_sio_read(struct rp2040 *chip, uint32_t offset) {
    uint32_t is = rp2350_sio_offset(offset), other = 1 - chip->core;
    if (offset >= RP2350_DOORBELLS && offset < RP2350_DOORBELLS + 16) {
        return chip->rp2350.doorbells[offset < RP2350_DOORBELLS + 8 ? other : chip->core];
    }
    if (offset == SIO_FIFO_STATUS) {
        uint32_t status = sio_fifo_status(&chip->sio, chip->core);
        return chip->sio.cores[other].fifo.count < RP2350_FIFO_WORDS ? status : status & ~(uint32_t)FIFO_READY;
    }
    return is < SIO_END ? sio_read(&chip->sio, chip->core, is, 0) : 0;
}

static inline void rp2350_sio_write(struct rp2040 *chip, uint32_t offset, uint32_t value) {
    uint32_t is = rp2350_sio_offset(offset), other = 1 - chip->core;
    if (offset >= RP2350_DOORBELLS && offset < RP2350_DOORBELLS + 16) {
        uint32_t *bells = &chip->rp2350.doorbells[offset < RP2350_DOORBELLS + 8 ? other : chip->core];
        *bells = offset & 4u ? *bells & ~value : *bells | (value & 0xFFu);
    } else if (offset == SIO_FIFO_WRITE && chip->sio.cores[other].fifo.count >= RP2350_FIFO_WORDS) {
        chip->sio.cores[chip->core].fifo_flags |= FIFO_OVERFLOWN;
    } else if (is < SIO_END) {
        sio_write(&chip->sio, chip->core, is, value, 0);
    }
}

/* ---- all ---- */

static inline void rp2350_reset(struct rp2040 *chip) {
    rp2040_reset(chip);
    *rp2350_own(chip, RP2350_AT_RESETS) = 0x1FFFFFFFu;
    *rp2040_register(chip, RP2040_CLOCKS + 0x34u) = 1u << 16;
    *rp2040_register(chip, RP2040_CLOCKS + 0x40u) = 1u << 16;
    *rp2040_register(chip, RP2040_CLOCKS + 0x64u) = 1u << 16;
    chip->nvic[0].is_m33 = chip->nvic[1].is_m33 = true;
    for (uint32_t at = 0; at < RP2350_XIP_SETUP; at += 4) { /* the flash's set-up is taken as done: BX LR; NOP */
        *rp2350_own(chip, RP2350_AT_BOOTRAM + at) = 0xBF004770u;
    }
    for (uint32_t lock = 0; lock < 8; lock++) {
        *rp2350_own(chip, RP2350_AT_BOOTRAM + RP2350_LOCKS + 4 * lock) = 1u << lock;
    }
}

static inline uint32_t rp2350_read(struct rp2040 *chip, const struct chip_window *window, uint32_t address) {
    uint32_t offset = (address - window->base) & ~3u;
    switch (window->kind) {
    case CHIP_PERIPHERAL:
        return rp2350_apb_read(chip, address & ~3u);
    case CHIP_IO_PORT:
        return rp2350_sio_read(chip, offset & 0xFFFu);
    case CHIP_CORE:
        return offset >> 12 == 1 ? ppb_read(&chip->rp2350.ppb[chip->core], offset, chip->outside.cycles(chip->outside.context))
                                 : rp2040_read(chip, window, address);
    case CHIP_DMA:
        return rp2350_dma_read(chip, offset & 0xFFFu);
    case CHIP_SSI:
        return 0;
    default:
        return rp2040_read(chip, window, address);
    }
}

static inline void rp2350_write(struct rp2040 *chip, const struct chip_window *window, uint32_t address, uint32_t value) {
    uint32_t offset = (address - window->base) & ~3u;
    switch (window->kind) {
    case CHIP_PERIPHERAL:
        rp2350_apb_write(chip, address & ~3u, value);
        break;
    case CHIP_IO_PORT:
        rp2350_sio_write(chip, offset & 0xFFFu, value);
        break;
    case CHIP_CORE:
        if (offset >> 12 == 1) {
            ppb_write(&chip->rp2350.ppb[chip->core], offset, value, chip->outside.cycles(chip->outside.context));
        } else {
            rp2040_write(chip, window, address, value);
        }
        break;
    case CHIP_DMA:
        rp2350_dma_write(chip, offset & 0xFFFu, rp2350_dma_atomic(chip, address, value));
        break;
    case CHIP_SSI:
        break;
    default:
        rp2040_write(chip, window, address, value);
    }
}

#endif
