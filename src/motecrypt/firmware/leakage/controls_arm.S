/* controls_arm.S: the windows of the controls on a Cortex-M; one of CONTROL_... is defined. */
#include "controls.h"

.syntax unified
.thumb
.text
.global leak_clean, leak_window
.type leak_clean, %function
.type leak_window, %function

.thumb_func
leak_clean:
    movs r0, #0
    movs r1, #0
    movs r2, #0
    movs r3, #0
    mov r12, r0
    bx lr
.size leak_clean, . - leak_clean

.thumb_func
leak_window:
#if defined(CONTROL_EMPTY)
    bx lr
#elif defined(CONTROL_CONSTANT)
    ldr r3, =leak_toy
    movs r0, #0x5A
    strb r0, [r3, #TOY_OUTPUT]
    ldr r2, =leak_masks
    ldrb r1, [r2, #MASKS_PUBLIC]
    eors r0, r1
    bx lr
#elif defined(CONTROL_SBOX)
    push {r4, r5, r6, lr}
    ldr r4, =leak_toy
    ldr r5, =leak_sbox
    movs r6, #4
1:  ldrb r0, [r4, #TOY_PLAIN]
    ldrb r1, [r4, #TOY_KEY]
    eors r0, r1
    ldrb r2, [r5, r0]
    strb r2, [r4, #TOY_OUTPUT]
    adds r4, #1
    subs r6, #1
    bne 1b
    pop {r4, r5, r6, pc}
#else
    push {r4, r5, r6, r7, lr}
    ldr r4, =leak_toy
    ldr r5, =leak_table
    ldr r6, =leak_masks
    movs r7, #4
1:  ldrb r0, [r4, #TOY_SHARE]
    ldrb r1, [r4, #TOY_KEY]
    eors r0, r1
    ldrb r2, [r5, r0]
    strb r2, [r4, #TOY_OUTPUT]
    ldrb r3, [r6, #MASKS_PUBLIC] /* so that no share follows another one on the bus */
#if defined(CONTROL_OVERWRITE)
    ldrb r0, [r6, #MASKS_IN] /* the mask takes the register of what it masks */
#else
    ldrb r1, [r6, #MASKS_IN]
#endif
    ldrb r3, [r6, #MASKS_PUBLIC]
    ldrb r1, [r6, #MASKS_OUT]
    ldrb r3, [r6, #MASKS_PUBLIC]
    movs r0, #0
    movs r1, #0
    movs r2, #0
    adds r4, #1
    subs r7, #1
    bne 1b
    pop {r4, r5, r6, r7, pc}
#endif
.size leak_window, . - leak_window
    .ltorg
