/* SPDX-License-Identifier: MIT
 * arm_rp2040_dma.h: RP2040's DMA controller, and RP2350's: twelve or sixteen channels between memories and registers, paced by a request or not,
 * chained, in rings, with interrupts and the sniffer's checksums. A channel without pacing moves one word, halfword or
 * byte a cycle, and what it moves is seen at its end; two channels do not slow each other down. The caller passes the
 * bus and the time. An endless transfer without pacing is seen in steps of DMA_STEP cycles. Registers are RP2040's;
 * arm_rp2350_map.h has where RP2350's are. Sources: RP2040 datasheet, 2.5; RP2350 datasheet, 12.6.
 */
#ifndef MOTECRYPT_ARM_RP2040_DMA_H
#define MOTECRYPT_ARM_RP2040_DMA_H

#include <stdbool.h>
#include <stdint.h>

#include "bounds.h"

enum { DMA_CHANNELS = 16, RP2040_DMA_CHANNELS = 12, DMA_LINES = 4, DMA_TIMERS = 4 };
enum { DMA_LATENCY = 4 /* cycles from the trigger to the first word */, DMA_STEP = 256 };

enum { /* offsets */
    DMA_INTR = 0x400, /* 16 bytes for each line: INTR, INTE, INTF, INTS */
    DMA_TIMER0 = 0x420, DMA_MULTI = 0x430, DMA_SNIFF = 0x434, DMA_SNIFF_DATA = 0x438, DMA_ABORT = 0x444, DMA_COUNT = 0x448
};

enum { DMA_READ, DMA_WRITE, DMA_WORDS, DMA_CTRL }; /* the four registers of a channel */

enum { DMA_LINE_RAW = 0, DMA_LINE_ENABLED = 4, DMA_LINE_FORCED = 8, DMA_LINE_STATUS = 12 };

enum { DMA_NORMAL = 0, DMA_TRIGGERS_ITSELF = 1, DMA_ENDLESS = 15 }; /* RP2350's MODE of a count */

enum { DREQ_TIMER0 = 0x3B, DREQ_ALWAYS = 0x3F };

#define DMA_EN 1u
#define DMA_QUIET (1u << 21)
#define DMA_SWAP (1u << 22)
#define DMA_SNIFFED (1u << 23)
#define DMA_BUSY (1u << 24)

struct dma_channel {
    uint32_t at[4]; /* by DMA_READ ... */
    uint32_t left;  /* words of the running transfer */
    uint64_t due;   /* the cycle at which it ends, or at which a paced one moves its next word */
    uint64_t held;  /* of a running one that is disabled: cycles that were left up to `due` */
    uint32_t part;  /* of a cycle, in X parts, by which a pacing timer X/Y is ahead */
    uint32_t mode;    /* of a count; RP2040: DMA_NORMAL */
    uint32_t control; /* CTRL in RP2350's form; RP2040: 0 */
};

/* What the controller needs from the chip. */
struct dma_bus {
    void *context;
    uint32_t (*read)(void *context, uint32_t address, uint32_t bytes);
    void (*write)(void *context, uint32_t address, uint32_t bytes, uint32_t value);
    bool (*ready)(void *context, uint32_t request);                      /* whether a request is up now */
    uint64_t (*ready_at)(void *context, uint32_t request, uint64_t now); /* when it may come; UINT64_MAX: unknown */
};

struct rp2040_dma {
    struct dma_channel channels[DMA_CHANNELS];
    uint32_t busy; /* a bit for each channel */
    uint32_t raw, enabled[DMA_LINES], forced[DMA_LINES], timers[DMA_TIMERS], sniff, sum;
};

static inline uint32_t dma_interrupts(const struct rp2040_dma *dma, unsigned line) {
    return (dma->raw & dma->enabled[line]) | dma->forced[line];
}

/* ---- the sniffer (2.5.5.2) ---- */

static inline uint32_t dma_reversed(uint32_t value, unsigned bits) {
    uint32_t out = 0;
    for (unsigned i = 0; i < bits; i++) {
        out |= (value >> i & 1u) << (bits - 1 - i);
    }
    return out;
}

static inline void dma_sniff(struct rp2040_dma *dma, uint32_t value, uint32_t bytes) {
    uint32_t mode = dma->sniff >> 5 & 15u;
    if (dma->sniff >> 9 & 1u) { /* BSWAP: of the sniffer alone */
        value = bytes == 4 ? __builtin_bswap32(value) : bytes == 2 ? __builtin_bswap16((uint16_t)value) : value;
    }
    if (mode == 0xF) {
        dma->sum += value;
        return;
    }
    if (mode == 0xE) {
        dma->sum = (dma->sum ^ (uint32_t)__builtin_parity(value)) & 1u;
        return;
    }
    for (uint32_t i = 0; i < bytes; i++) {
        uint32_t byte = value >> 8 * i & 0xFFu, top = mode < 2 ? 31 : 15;
        uint32_t polynomial = mode < 2 ? 0x04C11DB7u : 0x1021u;
        byte = mode & 1u ? dma_reversed(byte, 8) : byte;
        dma->sum ^= byte << (top - 7);
        for (unsigned bit = 0; bit < 8; bit++) {
            dma->sum = dma->sum << 1 ^ (dma->sum >> top & 1u ? polynomial : 0u);
        }
        dma->sum &= mode < 2 ? UINT32_MAX : 0xFFFFu;
    }
}

static inline uint32_t dma_sniffed(const struct rp2040_dma *dma) {
    uint32_t sum = dma->sniff >> 10 & 1u ? dma_reversed(dma->sum, 32) : dma->sum;
    return dma->sniff >> 11 & 1u ? ~sum : sum;
}

/* ---- transfers ---- */

static inline void dma_start(struct rp2040_dma *dma, unsigned number, uint64_t now);

static inline void dma_end(struct rp2040_dma *dma, unsigned number, uint64_t now) {
    struct dma_channel *channel = &dma->channels[number];
    uint32_t next = channel->at[DMA_CTRL] >> 11 & 15u;
    dma->busy &= ~(1u << number);
    if (!(channel->at[DMA_CTRL] & DMA_QUIET)) {
        dma->raw |= 1u << number;
    }
    if (channel->mode == DMA_TRIGGERS_ITSELF) {
        dma_start(dma, number, now);
    }
    if (next != number && next < DMA_CHANNELS) {
        dma_start(dma, next, now);
    }
}

static inline uint32_t dma_pace(const struct dma_channel *channel) {
    return channel->at[DMA_CTRL] >> 15 & 63u;
}

static inline void dma_start(struct rp2040_dma *dma, unsigned number, uint64_t now) {
    struct dma_channel *channel = &dma->channels[number];
    if (!(channel->at[DMA_CTRL] & DMA_EN) || (dma->busy >> number & 1u)) {
        return;
    }
    channel->left = channel->mode == DMA_ENDLESS ? 1 : channel->at[DMA_WORDS];
    dma->busy |= 1u << number;
    channel->part = 0;
    channel->due = now + DMA_LATENCY + (dma_pace(channel) == DREQ_ALWAYS ? channel->left : 0);
}

/* The address after the next one, in a ring of 2^size bytes if there is one. RP2350 also counts down, or by two. */
static inline void dma_step(struct dma_channel *channel, unsigned which, uint32_t bytes) {
    uint32_t ring = channel->at[DMA_CTRL] >> 6 & 15u, mask = UINT32_MAX, *at = &channel->at[which];
    bool is_counted = channel->at[DMA_CTRL] >> (which == DMA_READ ? 4 : 5) & 1u;
    if (channel->control >> (which == DMA_READ ? 5 : 7) & 1u) {
        bytes = is_counted ? 0u - bytes : 2 * bytes;
    } else if (!is_counted) {
        return;
    }
    if (ring != 0 && (channel->at[DMA_CTRL] >> 10 & 1u) == (which == DMA_WRITE)) {
        mask = (1u << ring) - 1u;
    }
    *at = (*at & ~mask) | ((*at + bytes) & mask);
}

static inline void dma_move(struct rp2040_dma *dma, struct dma_channel *channel, const struct dma_bus *bus) {
    uint32_t bytes = 1u << least(channel->at[DMA_CTRL] >> 2 & 3u, 2), value;
    value = bus->read(bus->context, channel->at[DMA_READ], bytes);
    if (channel->at[DMA_CTRL] & DMA_SWAP) {
        value = bytes == 4 ? __builtin_bswap32(value) : bytes == 2 ? __builtin_bswap16((uint16_t)value) : value;
    }
    if ((channel->at[DMA_CTRL] & DMA_SNIFFED) && (dma->sniff & 1u) && (dma->sniff >> 1 & 15u) == channel - dma->channels) {
        dma_sniff(dma, value, bytes);
    }
    channel->left -= channel->mode != DMA_ENDLESS; /* first: the write may abort this channel, or reset all */
    bus->write(bus->context, channel->at[DMA_WRITE], bytes, value);
    dma_step(channel, DMA_READ, bytes);
    dma_step(channel, DMA_WRITE, bytes);
}

/* Cycles from one request of a pacing timer to the next: Y / X, and what is left of a cycle is kept. */
static inline uint64_t dma_timer_cycles(const struct rp2040_dma *dma, struct dma_channel *channel) {
    uint32_t timer = dma->timers[dma_pace(channel) - DREQ_TIMER0], x = timer >> 16, y = timer & 0xFFFFu;
    uint32_t cycles;
    if (x == 0) {
        return UINT64_MAX / 2;
    }
    channel->part = channel->part % x + y % x; /* below 2 x */
    cycles = y / x + (channel->part >= x);
    channel->part %= x;
    return most(1, cycles);
}

/* EN is written while a transfer runs: without it the transfer pauses (2.5.7, CTRL). */
static inline void dma_enable(struct rp2040_dma *dma, unsigned number, bool is_enabled, uint64_t now) {
    struct dma_channel *channel = &dma->channels[number];
    bool is_busy = dma->busy >> number & 1u;
    if (is_busy && !is_enabled && (channel->at[DMA_CTRL] & DMA_EN)) {
        channel->held = most(channel->due, now) - now;
    } else if (is_busy && is_enabled && !(channel->at[DMA_CTRL] & DMA_EN)) {
        channel->due = now + channel->held;
    }
}

static inline bool dma_moves(const struct rp2040_dma *dma, unsigned number) {
    return (dma->busy >> number & 1u) && (dma->channels[number].at[DMA_CTRL] & DMA_EN);
}

static inline bool dma_is_unpaced_endless(const struct dma_channel *channel) {
    return channel->mode == DMA_ENDLESS && dma_pace(channel) == DREQ_ALWAYS;
}

static inline void dma_advance(struct rp2040_dma *dma, uint64_t now, const struct dma_bus *bus) {
    for (unsigned i = 0; dma->busy >> i != 0; i++) {
        struct dma_channel *channel = &dma->channels[i];
        uint32_t pace = dma_pace(channel);
        while (dma_moves(dma, i) && channel->due <= now) {
            if (dma_is_unpaced_endless(channel)) {
                dma_move(dma, channel, bus);
                channel->due++;
            } else if (pace == DREQ_ALWAYS || channel->left == 0) {
                while ((dma->busy >> i & 1u) && channel->left != 0) {
                    dma_move(dma, channel, bus);
                }
            } else if (pace >= DREQ_TIMER0) {
                dma_move(dma, channel, bus);
                channel->due += dma_timer_cycles(dma, channel);
            } else if (bus->ready(bus->context, pace)) {
                dma_move(dma, channel, bus);
            } else {
                break;
            }
            if ((dma->busy >> i & 1u) && channel->left == 0) {
                dma_end(dma, i, most(channel->due, 1));
            }
        }
    }
}

static inline uint64_t dma_next(const struct rp2040_dma *dma, uint64_t now, const struct dma_bus *bus) {
    uint64_t next = UINT64_MAX;
    for (unsigned i = 0; dma->busy >> i != 0; i++) {
        const struct dma_channel *channel = &dma->channels[i];
        if (dma_moves(dma, i)) {
            uint32_t pace = dma_pace(channel);
            bool waits = pace < DREQ_TIMER0 && channel->left != 0 && channel->due <= now;
            uint64_t due = channel->due + (dma_is_unpaced_endless(channel) ? DMA_STEP : 0);
            next = least(next, waits ? bus->ready_at(bus->context, pace, now) : due);
        }
    }
    return next;
}

/* ---- registers ---- */

static const uint8_t dma_layout[4][4] = {{DMA_READ, DMA_WRITE, DMA_WORDS, DMA_CTRL},
                                         {DMA_CTRL, DMA_READ, DMA_WRITE, DMA_WORDS},
                                         {DMA_CTRL, DMA_WORDS, DMA_READ, DMA_WRITE},
                                         {DMA_CTRL, DMA_WRITE, DMA_WORDS, DMA_READ}};

static inline uint32_t dma_channel_read(const struct rp2040_dma *dma, uint32_t offset) {
    const struct dma_channel *channel = &dma->channels[offset / 0x40];
    unsigned which = dma_layout[offset / 0x10 % 4][offset / 4 % 4];
    return which == DMA_WORDS ? channel->left
           : which == DMA_CTRL ? channel->at[DMA_CTRL] | (dma->busy >> offset / 0x40 & 1u ? DMA_BUSY : 0u)
                               : channel->at[which];
}

static inline void dma_channel_write(struct rp2040_dma *dma, uint32_t offset, uint32_t value, uint64_t now) {
    unsigned number = offset / 0x40, which = dma_layout[offset / 0x10 % 4][offset / 4 % 4];
    struct dma_channel *channel = &dma->channels[number];
    bool triggers = offset / 4 % 4 == 3, is_null;
    if (which == DMA_CTRL) {
        dma_enable(dma, number, value & DMA_EN, now);
    }
    channel->at[which] = which == DMA_CTRL ? value & 0x00FFFFFFu : value;
    is_null = value == 0 && !(which == DMA_WORDS && channel->mode != DMA_NORMAL);
    if (triggers && is_null && (channel->at[DMA_CTRL] & DMA_QUIET)) { /* a null trigger ends a chain */
        dma->raw |= 1u << number;
    } else if (triggers && !is_null) {
        dma_start(dma, number, now);
    }
}

/* A register of an interrupt line: DMA_LINE_RAW and so on. */
static inline uint32_t dma_line_read(const struct rp2040_dma *dma, unsigned line, unsigned which) {
    return which == DMA_LINE_RAW       ? dma->raw
           : which == DMA_LINE_ENABLED ? dma->enabled[line]
           : which == DMA_LINE_FORCED  ? dma->forced[line]
                                       : dma_interrupts(dma, line);
}

static inline void dma_line_write(struct rp2040_dma *dma, unsigned line, unsigned which, uint32_t value) {
    if (which == DMA_LINE_ENABLED) {
        dma->enabled[line] = value;
    } else if (which == DMA_LINE_FORCED) {
        dma->forced[line] = value;
    } else {
        dma->raw &= ~value;
    }
}

/* The line of an RP2040's register; DMA_LINES: it is another one. */
static inline unsigned dma_line_of(uint32_t offset) {
    return offset >= DMA_INTR && offset < DMA_TIMER0 && offset != DMA_INTR + 0x10 ? (offset - DMA_INTR) / 16 : DMA_LINES;
}

static inline uint32_t *dma_register(struct rp2040_dma *dma, uint32_t offset) {
    return offset == DMA_SNIFF                                  ? &dma->sniff
           : offset >= DMA_TIMER0 && offset < DMA_MULTI ? &dma->timers[(offset - DMA_TIMER0) / 4]
                                                        : NULL;
}

static inline uint32_t dma_read(struct rp2040_dma *dma, uint32_t offset) {
    if (offset < 0x40u * RP2040_DMA_CHANNELS) {
        return dma_channel_read(dma, offset);
    }
    if (dma_line_of(offset) != DMA_LINES) {
        return dma_line_read(dma, dma_line_of(offset), offset & 12u);
    }
    switch (offset) {
    case DMA_SNIFF_DATA:
        return dma_sniffed(dma);
    case DMA_COUNT:
        return RP2040_DMA_CHANNELS;
    default:
        return dma_register(dma, offset) != NULL ? *dma_register(dma, offset) : 0;
    }
}

static inline void dma_write(struct rp2040_dma *dma, uint32_t offset, uint32_t value, uint64_t now) {
    if (offset < 0x40u * RP2040_DMA_CHANNELS) {
        dma_channel_write(dma, offset, value, now);
        return;
    }
    if (dma_line_of(offset) != DMA_LINES) {
        dma_line_write(dma, dma_line_of(offset), offset & 12u, value);
        return;
    }
    switch (offset) {
    case DMA_SNIFF_DATA:
        dma->sum = value;
        break;
    case DMA_MULTI:
        for (unsigned i = 0; i < DMA_CHANNELS; i++) {
            if (value >> i & 1u) {
                dma_start(dma, i, now);
            }
        }
        break;
    case DMA_ABORT:
        dma->busy &= ~value;
        break;
    default:
        if (dma_register(dma, offset) != NULL) {
            *dma_register(dma, offset) = value;
        }
    }
}

#endif
