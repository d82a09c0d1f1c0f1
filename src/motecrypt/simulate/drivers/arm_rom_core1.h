/* SPDX-License-Identifier: MIT
 * arm_rom_core1.h: what core 1 of RP2040 runs in the boot ROM: it says that it is there, waits for the words 0, 0, 1, a
 * vector table, a stack pointer and an entry point, sends each back, and goes there (RP2040 datasheet, 2.8.2). Our own
 * code, of machine words with their assembly: tests assemble it again. It does not depend on the simulator.
 */
#ifndef MOTECRYPT_ARM_ROM_CORE1_H
#define MOTECRYPT_ARM_ROM_CORE1_H

#include <stdint.h>
#include <string.h>

enum { ROM_BYTES = 0x4000, ROM_CORE1 = 0x3F00 /* where it begins */, ROM_CORE1_WAIT = 0x16 /* asleep up to here */ };

/* r4: the SIO; r5: words that have come; r8: vector table; r9: stack pointer. */
static const uint16_t rom_core1[] = {
    0x24D0, /* start: movs r4, #0xD0 */
    0x0624, /* lsls r4, r4, #24 */
    0x6D20, /* drain: ldr r0, [r4, #0x50] */
    0x0840, /* lsrs r0, r0, #1 */
    0xD301, /* bcc empty */
    0x6DA0, /* ldr r0, [r4, #0x58] */
    0xE7FA, /* b drain */
    0x2000, /* empty: movs r0, #0 */
    0x6560, /* str r0, [r4, #0x54] */
    0xBF40, /* sev */
    0x2500, /* again: movs r5, #0 */
    0x6D20, /* wait: ldr r0, [r4, #0x50] */
    0x0840, /* lsrs r0, r0, #1 */
    0xD201, /* bcs take */
    0xBF20, /* wfe */
    0xE7FA, /* b wait */
    0x6DA0, /* take: ldr r0, [r4, #0x58] */
    0x6D21, /* full: ldr r1, [r4, #0x50] */
    0x0889, /* lsrs r1, r1, #2 */
    0xD3FC, /* bcc full */
    0x6560, /* str r0, [r4, #0x54] */
    0xBF40, /* sev */
    0x2D02, /* cmp r5, #2 */
    0xD807, /* bhi given */
    0x0869, /* lsrs r1, r5, #1 */
    0x4288, /* cmp r0, r1 */
    0xD002, /* beq next */
    0x2800, /* cmp r0, #0 */
    0xD0ED, /* beq wait */
    0xE7EB, /* b again */
    0x3501, /* next: adds r5, r5, #1 */
    0xE7EA, /* b wait */
    0x2D04, /* given: cmp r5, #4 */
    0xD002, /* beq stack */
    0xD803, /* bhi go */
    0x4680, /* mov r8, r0 */
    0xE7F8, /* b next */
    0x4681, /* stack: mov r9, r0 */
    0xE7F6, /* b next */
    0x21E0, /* go: movs r1, #0xE0 */
    0x0609, /* lsls r1, r1, #24 */
    0x22ED, /* movs r2, #0xED */
    0x0212, /* lsls r2, r2, #8 */
    0x3208, /* adds r2, r2, #8 */
    0x1889, /* adds r1, r1, r2 */
    0x4642, /* mov r2, r8 */
    0x600A, /* str r2, [r1] */
    0x464A, /* mov r2, r9 */
    0xF382, 0x8808, /* msr msp, r2 */
    0x4780, /* blx r0 */
    0xE7D5, /* b again */
};

static inline void rom_put_core1(uint8_t *rom) {
    memcpy(rom + ROM_CORE1, rom_core1, sizeof rom_core1);
}

#endif
