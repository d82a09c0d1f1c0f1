/* SPDX-License-Identifier: MIT
 * arm_ppb.h: the private peripherals of a Cortex-M core that firmware counts with: SysTick and, on ARMv7-M and later, the
 * cycle counter of DWT. The caller passes the time in cycles. Everything else there is a plain register.
 * Sources: ARM DDI 0403 (ARMv7-M Architecture Reference Manual), B3.3 SysTick, C1.8 DWT; ARM DDI 0419, B3.3.
 */
#ifndef MOTECRYPT_ARM_PPB_H
#define MOTECRYPT_ARM_PPB_H

#include <stdbool.h>

#include "arm_window.h"

#define PPB_BASE 0xE0000000u

enum {
    PPB_DWT_CTRL = 0x1000, /* offsets from PPB_BASE */
    PPB_DWT_CYCCNT = 0x1004,
    PPB_SYSTICK = 0xE010,
    PPB_CPUID = 0xED00,
    PPB_BYTES = 0xF000 /* that are kept */
};

struct ppb {
    uint32_t registers[PPB_BYTES / 4];
    uint64_t systick_zero; /* cycle at which SysTick was last at 0 */
    uint64_t systick_told; /* cycle at which its control register was last read */
    uint64_t counter_zero; /* cycle at which CYCCNT was 0, or would have been */
};

/* COUNTFLAG: whether it has come to 0 since the control register was last read. */
static inline uint32_t ppb_systick_control(struct ppb *ppb, uint64_t now) {
    const uint32_t *systick = &ppb->registers[PPB_SYSTICK / 4];
    uint64_t period = (uint64_t)(systick[1] & 0xFFFFFFu) + 1, from = ppb->systick_zero;
    uint64_t seen = ppb->systick_told > from ? (ppb->systick_told - from) / period : 0;
    bool reached = (systick[0] & 1u) != 0 && (now - from) / period > seen;
    ppb->systick_told = now;
    return (systick[0] & 7u) | (reached ? 1u << 16 : 0u);
}

static inline uint32_t ppb_read(struct ppb *ppb, uint32_t offset, uint64_t now) {
    switch (offset) {
    case PPB_DWT_CYCCNT:
        return ppb->registers[PPB_DWT_CTRL / 4] & 1u ? (uint32_t)(now - ppb->counter_zero) : ppb->registers[offset / 4];
    case PPB_SYSTICK:
        return ppb_systick_control(ppb, now);
    case PPB_SYSTICK + 8:
        return systick_value(ppb->registers[PPB_SYSTICK / 4], ppb->registers[PPB_SYSTICK / 4 + 1],
                             now - ppb->systick_zero);
    default:
        return offset < PPB_BYTES ? ppb->registers[offset / 4] : 0;
    }
}

static inline void ppb_write(struct ppb *ppb, uint32_t offset, uint32_t value, uint64_t now) {
    if (offset >= PPB_BYTES || offset == PPB_CPUID) {
        return;
    }
    if (offset == PPB_SYSTICK || offset == PPB_SYSTICK + 8) {
        ppb->systick_zero = ppb->systick_told = now;
    } else if (offset == PPB_DWT_CTRL && ((ppb->registers[offset / 4] ^ value) & 1u)) {
        if (value & 1u) { /* it continues from its last value */
            ppb->counter_zero = now - ppb->registers[PPB_DWT_CYCCNT / 4];
        } else {
            ppb->registers[PPB_DWT_CYCCNT / 4] = (uint32_t)(now - ppb->counter_zero);
        }
    } else if (offset == PPB_DWT_CYCCNT) {
        ppb->counter_zero = now - value;
    }
    ppb->registers[offset / 4] = value;
}

#endif
