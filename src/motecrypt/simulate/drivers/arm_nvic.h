/* SPDX-License-Identifier: MIT
 * arm_nvic.h: what a Cortex-M0+ or Cortex-M33 core has for interrupts: the interrupt controller, SysTick and the system control
 * block, and which exception it takes next. One for each core. It does not depend on the CPU: the caller passes what
 * SysTick's clocks have counted, and puts registers on the stack (arm_exception.h).
 * Sources: ARM DDI 0419 (ARMv6-M Architecture Reference Manual), B1.5 exceptions, B3.2 system control, B3.3 SysTick,
 * B3.4 NVIC; ARM DDI 0553 (ARMv8-M), B3, D1.2 for the Cortex-M33, in the secure state.
 */
#ifndef MOTECRYPT_ARM_NVIC_H
#define MOTECRYPT_ARM_NVIC_H

#include <stdbool.h>
#include <stdint.h>

#include "arm_systick.h"

enum { /* offsets from 0xE0000000 */
    NVIC_ISER = 0xE100,
    NVIC_ICER = 0xE180,
    NVIC_ISPR = 0xE200,
    NVIC_ICPR = 0xE280,
    NVIC_IPR = 0xE400,
    NVIC_CPUID = 0xED00,
    NVIC_ICSR = 0xED04,
    NVIC_VTOR = 0xED08,
    NVIC_AIRCR = 0xED0C,
    NVIC_SCR = 0xED10,
    NVIC_CCR = 0xED14,
    NVIC_SHPR1 = 0xED18,
    NVIC_SHPR2 = 0xED1C,
    NVIC_SHPR3 = 0xED20
};

enum { /* numbers of exceptions */
    EXCEPTION_NMI = 2,
    EXCEPTION_HARD_FAULT = 3,
    EXCEPTION_SVC = 11,
    EXCEPTION_PENDSV = 14,
    EXCEPTION_SYSTICK = 15,
    EXCEPTION_IRQ0 = 16,
    EXCEPTIONS = 16 + 52 /* of RP2350; RP2040 has 26 interrupts */
};

enum { NVIC_LOWEST = 256 /* no exception runs */ };

struct nvic {
    uint32_t words[0x400]; /* the system control space, from 0xE000E000 on; what follows is apart */
    uint32_t system;       /* pending: a bit for each exception below EXCEPTION_IRQ0 */
    uint64_t pending, enabled; /* a bit for each interrupt */
    uint64_t lines;        /* that peripherals hold up now */
    uint32_t active[EXCEPTIONS], depth; /* exceptions that run, the innermost last; each once at most */
    struct systick systick;
    bool sends_event;      /* SEVONPEND, and something has become pending */
    bool wants_reset;      /* AIRCR's SYSRESETREQ */
    bool is_m33;           /* with the registers and the 16 priorities of ARMv8-M in RP2350 */
};

static inline uint32_t *nvic_word(struct nvic *nvic, uint32_t offset) {
    return &nvic->words[(offset & 0xFFFu) / 4];
}

/* An exception below EXCEPTION_IRQ0 becomes pending, which is an event with SEVONPEND (B1.5.18). */
static inline void nvic_pend(struct nvic *nvic, uint32_t number) {
    nvic->sends_event |= !(nvic->system >> number & 1u) && (*nvic_word(nvic, NVIC_SCR) & 0x10u) != 0;
    nvic->system |= 1u << number;
}

/* SysTick has counted to `now`, a tick of its clock. */
static inline void nvic_count(struct nvic *nvic, uint64_t now) {
    if (systick_advance(&nvic->systick, now)) {
        nvic_pend(nvic, EXCEPTION_SYSTICK);
    }
}

/* --- which exception is next ----------------------------------------------------------------------- */

static inline bool nvic_has_priorities(uint32_t offset) {
    return offset - NVIC_IPR < 0x1F0u || offset - NVIC_SHPR1 < 12u;
}

/* Bits that are there of a word of priorities; others are 0. */
static inline uint32_t nvic_priority_bits(const struct nvic *nvic, uint32_t offset) {
    uint32_t each = nvic->is_m33 ? 0xF0F0F0F0u : 0xC0C0C0C0u, last = nvic->is_m33 ? EXCEPTIONS - EXCEPTION_IRQ0 : 32;
    switch (offset) {
    case NVIC_SHPR1: /* of faults */
        return nvic->is_m33 ? each : 0;
    case NVIC_SHPR2: /* SVC */
        return each & 0xFF000000u;
    case NVIC_SHPR3: /* SysTick, PendSV, the monitor's */
        return each & (nvic->is_m33 ? 0xFFFF00FFu : 0xFFFF0000u);
    default:
        return offset < NVIC_IPR + last ? each : 0;
    }
}

/* The word that a write of a byte or a halfword, which is on all lanes, makes: ARMv8-M takes such for priorities. */
static inline uint32_t nvic_written(struct nvic *nvic, uint32_t offset, uint32_t lanes, unsigned bytes) {
    uint32_t mask = (bytes == 1 ? 0xFFu : bytes == 2 ? 0xFFFFu : UINT32_MAX) << 8 * (offset & 3u);
    return nvic_has_priorities(offset & ~3u) ? (*nvic_word(nvic, offset) & ~mask) | (lanes & mask) : lanes;
}

/* 0 and more: the lower, the more urgent; faults are below 0. */
static inline int nvic_priority(const struct nvic *nvic, uint32_t number) {
    uint32_t word, bits = nvic->is_m33 ? 0xF0u : 0xC0u;
    if (number <= EXCEPTION_HARD_FAULT) {
        return (int)number - 4;
    }
    if (number >= EXCEPTION_IRQ0) {
        word = nvic->words[(NVIC_IPR & 0xFFFu) / 4 + (number - EXCEPTION_IRQ0) / 4];
    } else {
        word = nvic->words[(NVIC_SHPR1 & 0xFFFu) / 4 + number / 4 - 1];
    }
    return (int)(word >> (8 * (number & 3u)) & bits);
}

static inline int nvic_running_priority(const struct nvic *nvic) {
    int running = NVIC_LOWEST;
    for (uint32_t i = 0; i < nvic->depth; i++) {
        int each = nvic_priority(nvic, nvic->active[i]);
        running = each < running ? each : running;
    }
    return running;
}

/* Whether something is pending that may run: interrupts only when they are enabled. */
static inline bool nvic_has_ready(const struct nvic *nvic) {
    return nvic->system != 0 || (nvic->pending & nvic->enabled) != 0;
}

/* Of what is pending and may run, the most urgent exception whose priority is below `best`; 0: there is none. */
static inline uint32_t nvic_most_urgent(const struct nvic *nvic, int best) {
    uint64_t ready = nvic->pending & nvic->enabled;
    uint32_t found = 0;
    for (uint32_t number = EXCEPTION_NMI; nvic->system >> number != 0; number++) {
        if ((nvic->system >> number & 1u) && nvic_priority(nvic, number) < best) {
            best = nvic_priority(nvic, number);
            found = number;
        }
    }
    for (uint32_t number = EXCEPTION_IRQ0; ready != 0; number++, ready >>= 1) {
        if ((ready & 1u) && nvic_priority(nvic, number) < best) {
            best = nvic_priority(nvic, number);
            found = number;
        }
    }
    return found;
}

/* The most urgent exception that is more urgent than what runs; 0: there is none. `mask`: by PRIMASK 0, by BASEPRI its
 * value; NVIC_LOWEST: nothing is masked. */
static inline uint32_t nvic_next(const struct nvic *nvic, int mask) {
    int running = nvic_running_priority(nvic);
    return nvic_most_urgent(nvic, running < mask ? running : mask);
}

/* The interrupts whose handlers run, or are interrupted. */
static inline uint64_t nvic_running(const struct nvic *nvic) {
    uint64_t running = 0;
    for (uint32_t i = 0; i < nvic->depth; i++) {
        running |= nvic->active[i] >= EXCEPTION_IRQ0 ? UINT64_C(1) << (nvic->active[i] - EXCEPTION_IRQ0) : 0;
    }
    return running;
}

/* The peripherals' interrupt lines as they are now. One that is up is pending again as soon as its handler has ended. */
static inline void nvic_set_lines(struct nvic *nvic, uint64_t lines) {
    uint64_t before = nvic->pending;
    nvic->pending |= (lines & ~nvic_running(nvic)) | (lines & ~nvic->lines);
    nvic->lines = lines;
    if ((*nvic_word(nvic, NVIC_SCR) & 0x10u) && nvic->pending != before) { /* SEVONPEND */
        nvic->sends_event = true;
    }
}

static inline void nvic_enter(struct nvic *nvic, uint32_t number) {
    if (number >= EXCEPTION_IRQ0) {
        nvic->pending &= ~(UINT64_C(1) << (number - EXCEPTION_IRQ0));
    } else {
        nvic->system &= ~(1u << number);
    }
    nvic->active[nvic->depth++] = number;
}

static inline void nvic_leave(struct nvic *nvic) {
    nvic->depth -= nvic->depth != 0;
}

/* --- registers ------------------------------------------------------------------------------------- */

static inline uint32_t nvic_icsr(const struct nvic *nvic) {
    uint32_t first = nvic_most_urgent(nvic, NVIC_LOWEST), active = nvic->depth != 0 ? nvic->active[nvic->depth - 1] : 0;
    return active | first << 12 | (nvic->pending != 0 ? 1u << 22 : 0u) |
           (nvic->system >> EXCEPTION_SYSTICK & 1u) << 26 | (nvic->system >> EXCEPTION_PENDSV & 1u) << 28 |
           (nvic->system >> EXCEPTION_NMI & 1u) << 31;
}

/* The first of the 32 interrupts of a register of ISER, ICER, ISPR or ICPR. 64: it has none. */
static inline unsigned nvic_bank(const struct nvic *nvic, uint32_t offset) {
    unsigned bank = offset / 4 % 32;
    return bank < (nvic->is_m33 ? 2u : 1u) ? 32 * bank : 64;
}

static inline uint32_t nvic_read(struct nvic *nvic, uint32_t offset, const struct systick_clocks *clocks) {
    if (offset - SYSTICK_CONTROL < 12u) {
        nvic_count(nvic, systick_now(&nvic->systick, clocks));
        return systick_read(&nvic->systick, offset, clocks);
    }
    if (offset >= NVIC_ISER && offset < NVIC_ICPR + 0x80) {
        unsigned first = nvic_bank(nvic, offset);
        return first == 64 ? 0 : (uint32_t)((offset < NVIC_ISPR ? nvic->enabled : nvic->pending) >> first);
    }
    switch (offset) {
    case NVIC_CPUID:
        return nvic->is_m33 ? 0x411FD210u : 0x410CC601u; /* Cortex-M33 r1p0, Cortex-M0+ r0p1 */
    case NVIC_ICSR:
        return nvic_icsr(nvic);
    case NVIC_AIRCR:
        return 0xFA050000u;
    case NVIC_CCR: /* ones that are fixed: STKALIGN and UNALIGN_TRP (B3.2.8); ARMv8-M: D1.2.9 */
        return nvic->is_m33 ? *nvic_word(nvic, offset) | 0x201u : 0x208u;
    default:
        return offset >> 12 == 0xEu ? *nvic_word(nvic, offset) : 0;
    }
}

/* ISER, ICER, ISPR, ICPR. */
static inline void nvic_write_bits(struct nvic *nvic, uint32_t offset, uint32_t value) {
    unsigned first = nvic_bank(nvic, offset);
    uint64_t bits = first == 64 ? 0 : (uint64_t)value << first & ((UINT64_C(1) << (EXCEPTIONS - EXCEPTION_IRQ0)) - 1);
    switch (offset & ~0x7Fu) {
    case NVIC_ISER:
        nvic->enabled |= bits;
        break;
    case NVIC_ICER:
        nvic->enabled &= ~bits;
        break;
    case NVIC_ISPR:
        nvic->sends_event |= (bits & ~nvic->pending) != 0 && (*nvic_word(nvic, NVIC_SCR) & 0x10u) != 0;
        nvic->pending |= bits;
        break;
    default: /* a line that is up makes it pending again, immediately or when its handler has ended */
        nvic->pending &= ~bits | (nvic->lines & ~nvic_running(nvic));
    }
}

/* The bit of ICSR that makes an exception pending; 0: there is no such bit. */
static inline unsigned nvic_sets(uint32_t number) {
    return number == EXCEPTION_NMI ? 31 : number == EXCEPTION_PENDSV ? 28 : number == EXCEPTION_SYSTICK ? 26 : 0;
}

static inline void nvic_write(struct nvic *nvic, uint32_t offset, uint32_t value, const struct systick_clocks *clocks) {
    if (offset >> 12 != 0xEu) {
        return;
    }
    if (offset - SYSTICK_CONTROL < 12u) {
        nvic_count(nvic, systick_now(&nvic->systick, clocks));
        systick_write(&nvic->systick, offset, value, clocks);
        return;
    }
    if (offset >= NVIC_ISER && offset < NVIC_ICPR + 0x80) {
        nvic_write_bits(nvic, offset, value);
        return;
    }
    switch (offset) {
    case NVIC_ICSR:
        for (uint32_t number = EXCEPTION_NMI; number <= EXCEPTION_SYSTICK; number++) {
            if (nvic_sets(number) != 0 && (value >> nvic_sets(number) & 1u)) {
                nvic_pend(nvic, number);
            }
        }
        nvic->system &= ~((value >> 27 & 1u ? 1u << EXCEPTION_PENDSV : 0u) |
                          (value >> 25 & 1u ? 1u << EXCEPTION_SYSTICK : 0u));
        return;
    case NVIC_VTOR:
        value &= nvic->is_m33 ? 0xFFFFFF80u : 0xFFFFFF00u;
        break;
    case NVIC_AIRCR:
        nvic->wants_reset |= (value >> 16) == 0x05FAu && (value & 4u);
        return;
    default:
        value &= nvic_has_priorities(offset) ? nvic_priority_bits(nvic, offset) : UINT32_MAX;
        break;
    }
    *nvic_word(nvic, offset) = value;
}

#endif
