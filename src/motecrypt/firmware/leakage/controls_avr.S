/* controls_avr.S: the windows of the controls on an AVR; one of CONTROL_... is defined. */
#include "controls.h"

.section .text
.global leak_clean, leak_window
.type leak_clean, @function
.type leak_window, @function

leak_clean:
    clr r0
    clr r18
    clr r19
    clr r20
    clr r21
    clr r22
    clr r23
    clr r24
    clr r25
    clr r26
    clr r27
    clr r30
    clr r31
    ret
.size leak_clean, . - leak_clean

leak_window:
#if defined(CONTROL_EMPTY)
#elif defined(CONTROL_CONSTANT)
    ldi r18, 0x5A
    sts leak_toy + TOY_OUTPUT, r18
    lds r19, leak_masks + MASKS_PUBLIC
    eor r18, r19
#elif defined(CONTROL_SBOX)
    push r28
    push r29
    ldi r28, lo8(leak_toy)
    ldi r29, hi8(leak_toy)
    ldi r31, hi8(leak_sbox)
    ldi r25, 4
1:  ldd r18, Y + TOY_PLAIN
    ldd r19, Y + TOY_KEY
    eor r18, r19
    mov r30, r18
    ld r20, Z
    std Y + TOY_OUTPUT, r20
    adiw r28, 1
    dec r25
    brne 1b
    pop r29
    pop r28
#else
    push r28
    push r29
    ldi r28, lo8(leak_toy)
    ldi r29, hi8(leak_toy)
    ldi r31, hi8(leak_table)
    ldi r25, 4
1:  ldd r18, Y + TOY_SHARE
    ldd r19, Y + TOY_KEY
    eor r18, r19
    mov r30, r18
    ld r20, Z
    std Y + TOY_OUTPUT, r20
    lds r21, leak_masks + MASKS_PUBLIC /* so that no share follows another one on the bus */
#if defined(CONTROL_OVERWRITE)
    lds r18, leak_masks + MASKS_IN /* the mask takes the register of what it masks */
#else
    lds r22, leak_masks + MASKS_IN
#endif
    lds r21, leak_masks + MASKS_PUBLIC
    lds r23, leak_masks + MASKS_OUT
    lds r21, leak_masks + MASKS_PUBLIC
    clr r18
    clr r20
    clr r22
    clr r23
    clr r30
    adiw r28, 1
    dec r25
    brne 1b
    pop r29
    pop r28
#endif
    ret
.size leak_window, . - leak_window
