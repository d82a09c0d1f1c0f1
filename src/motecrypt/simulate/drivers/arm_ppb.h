/* SPDX-License-Identifier: MIT
 * arm_ppb.h: the private peripherals of a Cortex-M core that firmware counts with: SysTick and, on ARMv7-M and later, the
 * cycle counter of DWT. The caller passes the time in cycles. Everything else there is a plain register.
 * Sources: ARM DDI 0403 (ARMv7-M Architecture Reference Manual), B3.3 SysTick, C1.8 DWT; ARM DDI 0419, B3.3.
 */
#ifndef MOTECRYPT_ARM_PPB_H
#define MOTECRYPT_ARM_PPB_H

#include <stdbool.h>

#include "arm_systick.h"
#include "arm_window.h"

#define PPB_BASE 0xE0000000u

enum {
    PPB_DWT_CTRL = 0x1000, /* offsets from PPB_BASE */
    PPB_DWT_CYCCNT = 0x1004,
    PPB_CPUID = 0xED00,
    PPB_BYTES = 0xF000 /* that are kept */
};

struct ppb {
    uint32_t registers[PPB_BYTES / 4];
    struct systick systick;
    uint32_t reference; /* core cycles in one of SysTick's reference clock; 0: the chip has none */
    uint64_t counter_zero; /* cycle at which CYCCNT was 0, or would have been */
};

static inline struct systick_clocks ppb_clocks(const struct ppb *ppb, uint64_t now) {
    return (struct systick_clocks){now, ppb->reference != 0 ? now / ppb->reference : 0, ppb->reference != 0};
}

static inline bool ppb_is_systick(uint32_t offset) {
    return offset - SYSTICK_CONTROL < 12u;
}

static inline uint32_t ppb_read(struct ppb *ppb, uint32_t offset, uint64_t now) {
    struct systick_clocks clocks = ppb_clocks(ppb, now);
    if (ppb_is_systick(offset)) {
        systick_advance(&ppb->systick, systick_now(&ppb->systick, &clocks));
        return systick_read(&ppb->systick, offset, &clocks);
    }
    switch (offset) {
    case PPB_DWT_CYCCNT:
        return ppb->registers[PPB_DWT_CTRL / 4] & 1u ? (uint32_t)(now - ppb->counter_zero) : ppb->registers[offset / 4];
    default:
        return offset < PPB_BYTES ? ppb->registers[offset / 4] : 0;
    }
}

static inline void ppb_write(struct ppb *ppb, uint32_t offset, uint32_t value, uint64_t now) {
    if (offset >= PPB_BYTES || offset == PPB_CPUID) {
        return;
    }
    if (ppb_is_systick(offset)) {
        struct systick_clocks clocks = ppb_clocks(ppb, now);
        systick_advance(&ppb->systick, systick_now(&ppb->systick, &clocks));
        systick_write(&ppb->systick, offset, value, &clocks);
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
