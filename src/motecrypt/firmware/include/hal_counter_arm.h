/* hal_counter_arm.h: the cycle counter of a hal for Cortex-M. A device's hal.c includes it once and calls start_counter
 * from hal_init. ARMv7-M and later count in DWT (ARM DDI 0403, C1.8): 32 bits, which begin again. ARMv6-M has SysTick alone
 * (ARM DDI 0419, B3.3): 24 bits; what takes longer is reported as 2^32 - 1.
 */
#ifndef MOTECRYPT_HAL_COUNTER_ARM_H
#define MOTECRYPT_HAL_COUNTER_ARM_H

#include "hal.h"

#define COUNTER_AT(address) (*(volatile uint32_t *)(address))

#if defined __ARM_ARCH && __ARM_ARCH >= 7 || defined __ARM_ARCH_8M_MAIN__

#define COUNTER_DEMCR COUNTER_AT(0xE000EDFCu)
#define COUNTER_CONTROL COUNTER_AT(0xE0001000u)
#define COUNTER_CYCLES COUNTER_AT(0xE0001004u)

static uint32_t counter_start;

static void start_counter(void) {
    COUNTER_DEMCR |= 1u << 24; /* DWT on */
    COUNTER_CYCLES = 0u;
    COUNTER_CONTROL |= 1u;
}

void hal_timer_start(void) {
    counter_start = COUNTER_CYCLES;
}

uint32_t hal_timer_cycles(void) {
    return COUNTER_CYCLES - counter_start;
}

#else

#define COUNTER_CONTROL COUNTER_AT(0xE000E010u)
#define COUNTER_RELOAD COUNTER_AT(0xE000E014u)
#define COUNTER_VALUE COUNTER_AT(0xE000E018u)
#define COUNTER_WRAPPED (1u << 16)

static void start_counter(void) {
    COUNTER_RELOAD = 0xFFFFFFu;
    COUNTER_VALUE = 0u;
    COUNTER_CONTROL = 5u; /* on, from the core's clock, no interrupt */
}

void hal_timer_start(void) {
    COUNTER_VALUE = 0u; /* any write makes it 0; it continues from the reload value */
    (void)COUNTER_CONTROL;
}

uint32_t hal_timer_cycles(void) {
    uint32_t value = COUNTER_VALUE;
    return COUNTER_CONTROL & COUNTER_WRAPPED ? UINT32_MAX : (0u - value) & 0xFFFFFFu;
}

#endif

#endif
