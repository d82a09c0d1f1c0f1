/* hal_stack_arm.h: the painted stack of a hal for Cortex-M. A device's hal.c includes it after
 *
 *   SIMULATED_AT         a word that holds SIMULATED in a simulator and never on a board
 *   READ_STACK_POINTER   the instruction that copies the stack pointer; of an ARM core if not defined
 */
#ifndef MOTECRYPT_HAL_STACK_ARM_H
#define MOTECRYPT_HAL_STACK_ARM_H

#include "hal.h"

#ifndef READ_STACK_POINTER
#define READ_STACK_POINTER "mov %0, sp"
#endif

#define STACK_PAINT 0xA5A5A5A5u
#define SIMULATED 0x53494D55u
/* A simulator follows the stack pointer by itself, so only a small part of the stack is painted there, as a check. */
#define SIMULATED_STACK_WORDS 1024

extern uint32_t __stack_bottom[]; /* the linker script's */

static uint32_t *stack_pointer(void) {
    uint32_t *sp;
    __asm__ volatile(READ_STACK_POINTER : "=r"(sp));
    return sp;
}

static uint32_t *painted_from;

void hal_stack_paint(void) {
    uint32_t *end = stack_pointer();
    int whole = SIMULATED_AT != SIMULATED || end - __stack_bottom < SIMULATED_STACK_WORDS;
    painted_from = whole ? __stack_bottom : end - SIMULATED_STACK_WORDS;
    /* volatile: else gcc makes this a call of memset, and the loop would paint over that call's frame */
    for (volatile uint32_t *word = painted_from; word < end; word++) {
        *word = STACK_PAINT;
    }
}

uint32_t hal_stack_depth(void) {
    const uint32_t *end = stack_pointer();
    const uint32_t *word = painted_from;
    while (word < end && *word == STACK_PAINT) {
        word++;
    }
    return (uint32_t)((uintptr_t)end - (uintptr_t)word);
}

#endif
