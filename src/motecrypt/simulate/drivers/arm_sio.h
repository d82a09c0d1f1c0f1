/* SPDX-License-Identifier: MIT
 * arm_sio.h: the SIO of RP2040, which both cores reach in one cycle: which core asks, pins, FIFOs between the cores,
 * spinlocks, and each core's own divider. The caller passes which core asks and the time. The interpolators only keep
 * what is written. Source of all offsets and rules: RP2040 datasheet, 2.3.1.
 */
#ifndef MOTECRYPT_ARM_SIO_H
#define MOTECRYPT_ARM_SIO_H

#include <stdbool.h>
#include <stdint.h>

enum { SIO_CORES = 2, SIO_FIFO_WORDS = 8, SIO_DIVIDER_CYCLES = 8, SIO_INTERPOLATOR_WORDS = 32 };

enum { /* offsets of registers */
    SIO_CPUID = 0x00,
    SIO_GPIO_IN = 0x04,
    SIO_GPIO = 0x10, /* OUT, its SET, CLR and XOR; OE and its three; then the same for the flash's pins */
    SIO_GPIO_END = 0x50,
    SIO_FIFO_STATUS = 0x50,
    SIO_FIFO_WRITE = 0x54,
    SIO_FIFO_READ = 0x58,
    SIO_SPINLOCK_STATUS = 0x5C,
    SIO_UNSIGNED = 0x60, /* DIV_UDIVIDEND, DIV_UDIVISOR */
    SIO_SIGNED = 0x68,   /* DIV_SDIVIDEND, DIV_SDIVISOR: the same two registers */
    SIO_QUOTIENT = 0x70,
    SIO_REMAINDER = 0x74,
    SIO_DIVIDER_STATUS = 0x78,
    SIO_INTERPOLATORS = 0x80,
    SIO_SPINLOCKS = 0x100,
    SIO_END = 0x180
};

enum { FIFO_VALID = 1, FIFO_READY = 2, FIFO_OVERFLOWN = 4, FIFO_READ_EMPTY = 8 }; /* bits of FIFO_ST */

/* The words on their way to one core. */
struct sio_fifo {
    uint32_t words[SIO_FIFO_WORDS], first, count;
};

/* What each core has for itself. */
struct sio_core {
    struct sio_fifo fifo;  /* that it reads */
    uint32_t fifo_flags;   /* FIFO_OVERFLOWN, FIFO_READ_EMPTY: until it clears them */
    uint32_t dividend, divisor, quotient, remainder;
    bool divider_dirty;
    uint64_t divided_at; /* the divider is ready from this cycle on */
    uint32_t interpolators[SIO_INTERPOLATOR_WORDS];
};

struct sio {
    struct sio_core cores[SIO_CORES];
    uint32_t spinlocks;      /* bit n: lock n is taken */
    uint32_t gpio[2][2];     /* of the bank and of the flash's pins: what is put out, and where it is */
};

static inline bool sio_fifo_put(struct sio_fifo *fifo, uint32_t word) {
    if (fifo->count == SIO_FIFO_WORDS) {
        return false;
    }
    fifo->words[(fifo->first + fifo->count++) % SIO_FIFO_WORDS] = word;
    return true;
}

static inline uint32_t sio_fifo_status(const struct sio *sio, unsigned core) {
    return (sio->cores[core].fifo.count != 0 ? FIFO_VALID : 0u) |
           (sio->cores[1 - core].fifo.count < SIO_FIFO_WORDS ? FIFO_READY : 0u) | sio->cores[core].fifo_flags;
}

/* Whether the FIFO asks a core for an interrupt: SIO_IRQ_PROC0, SIO_IRQ_PROC1. */
static inline bool sio_interrupts(const struct sio *sio, unsigned core) {
    return (sio_fifo_status(sio, core) & (FIFO_VALID | FIFO_OVERFLOWN | FIFO_READ_EMPTY)) != 0;
}

/* An empty FIFO gives its last word again. */
static inline uint32_t sio_fifo_take(struct sio_core *own) {
    struct sio_fifo *fifo = &own->fifo;
    uint32_t word = fifo->words[fifo->first];
    if (fifo->count == 0) {
        own->fifo_flags |= FIFO_READ_EMPTY;
        return fifo->words[(fifo->first + SIO_FIFO_WORDS - 1) % SIO_FIFO_WORDS];
    }
    fifo->first = (fifo->first + 1) % SIO_FIFO_WORDS;
    fifo->count--;
    return word;
}

/* Divided by 0, the quotient is all ones, or 1 for a negative dividend; the remainder is the dividend. */
static inline void sio_divide(struct sio_core *own, bool is_signed, uint64_t now) {
    int64_t a = is_signed ? (int64_t)(int32_t)own->dividend : (int64_t)own->dividend;
    int64_t b = is_signed ? (int64_t)(int32_t)own->divisor : (int64_t)own->divisor;
    own->quotient = b != 0 ? (uint32_t)(a / b) : a < 0 ? 1u : UINT32_MAX;
    own->remainder = b != 0 ? (uint32_t)(a % b) : own->dividend;
    own->divider_dirty = true;
    own->divided_at = now + SIO_DIVIDER_CYCLES;
}

/* The pins' registers: `offset` from SIO_GPIO. Writes by SET, CLR and XOR change OUT or OE. */
static inline void sio_write_pins(struct sio *sio, uint32_t offset, uint32_t value) {
    uint32_t *target = &sio->gpio[offset / 4 / 8 % 2][offset / 4 / 4 % 2];
    switch (offset / 4 % 4) {
    case 0:
        *target = value;
        break;
    case 1:
        *target |= value;
        break;
    case 2:
        *target &= ~value;
        break;
    default:
        *target ^= value;
    }
}

static inline uint32_t sio_read(struct sio *sio, unsigned core, uint32_t offset, uint64_t now) {
    struct sio_core *own = &sio->cores[core];
    uint32_t bit;
    if (offset >= SIO_SPINLOCKS && offset < SIO_END) { /* reading takes a free lock */
        bit = UINT32_C(1) << (offset - SIO_SPINLOCKS) / 4;
        bit &= ~sio->spinlocks;
        sio->spinlocks |= bit;
        return bit;
    }
    if (offset >= SIO_GPIO && offset < SIO_GPIO_END) {
        offset -= SIO_GPIO;
        return sio->gpio[offset / 4 / 8 % 2][offset / 4 / 4 % 2];
    }
    if (offset >= SIO_INTERPOLATORS && offset < SIO_SPINLOCKS) {
        return own->interpolators[(offset - SIO_INTERPOLATORS) / 4];
    }
    switch (offset) {
    case SIO_CPUID:
        return core;
    case SIO_GPIO_IN: /* pins that nothing outside drives */
    case SIO_GPIO_IN + 4:
        return sio->gpio[(offset - SIO_GPIO_IN) / 4][0] & sio->gpio[(offset - SIO_GPIO_IN) / 4][1];
    case SIO_FIFO_STATUS:
        return sio_fifo_status(sio, core);
    case SIO_FIFO_READ:
        return sio_fifo_take(own);
    case SIO_SPINLOCK_STATUS:
        return sio->spinlocks;
    case SIO_UNSIGNED:
    case SIO_SIGNED:
        return own->dividend;
    case SIO_UNSIGNED + 4:
    case SIO_SIGNED + 4:
        return own->divisor;
    case SIO_QUOTIENT:
        own->divider_dirty = false;
        return own->quotient;
    case SIO_REMAINDER:
        return own->remainder;
    case SIO_DIVIDER_STATUS:
        return (now >= own->divided_at ? 1u : 0u) | (own->divider_dirty ? 2u : 0u);
    default:
        return 0;
    }
}

static inline void sio_write(struct sio *sio, unsigned core, uint32_t offset, uint32_t value, uint64_t now) {
    struct sio_core *own = &sio->cores[core];
    if (offset >= SIO_SPINLOCKS && offset < SIO_END) {
        sio->spinlocks &= ~(UINT32_C(1) << (offset - SIO_SPINLOCKS) / 4);
        return;
    }
    if (offset >= SIO_GPIO && offset < SIO_GPIO_END) {
        sio_write_pins(sio, offset - SIO_GPIO, value);
        return;
    }
    if (offset >= SIO_INTERPOLATORS && offset < SIO_SPINLOCKS) {
        own->interpolators[(offset - SIO_INTERPOLATORS) / 4] = value;
        return;
    }
    switch (offset) {
    case SIO_FIFO_STATUS: /* any write clears both flags */
        own->fifo_flags = 0;
        break;
    case SIO_FIFO_WRITE:
        if (!sio_fifo_put(&sio->cores[1 - core].fifo, value)) {
            own->fifo_flags |= FIFO_OVERFLOWN;
        }
        break;
    case SIO_UNSIGNED:
    case SIO_SIGNED:
        own->dividend = value;
        sio_divide(own, offset == SIO_SIGNED, now);
        break;
    case SIO_UNSIGNED + 4:
    case SIO_SIGNED + 4:
        own->divisor = value;
        sio_divide(own, offset == SIO_SIGNED + 4, now);
        break;
    case SIO_QUOTIENT: /* to restore a state: it becomes ready, and dirty */
    case SIO_REMAINDER:
        *(offset == SIO_QUOTIENT ? &own->quotient : &own->remainder) = value;
        own->divider_dirty = true;
        own->divided_at = now;
        break;
    default:
        break;
    }
}

#endif
