/* controls_riscv.S: the windows of the controls on a RISC-V core; one of CONTROL_... is defined. Only registers that
 * RV32E has are used.
 */
#include "controls.h"

.text
.global leak_clean, leak_window
.type leak_clean, @function
.type leak_window, @function

leak_clean:
    li a0, 0
    li a1, 0
    li a2, 0
    li a3, 0
    li a4, 0
    li a5, 0
    li t0, 0
    li t1, 0
    li t2, 0
    ret
.size leak_clean, . - leak_clean

leak_window:
#if defined(CONTROL_EMPTY)
#elif defined(CONTROL_CONSTANT)
    la a3, leak_toy
    li a0, 0x5A
    sb a0, TOY_OUTPUT(a3)
    la a2, leak_masks
    lbu a1, MASKS_PUBLIC(a2)
    xor a0, a0, a1
#elif defined(CONTROL_SBOX)
    la a3, leak_toy
    la a4, leak_sbox
    li a5, 4
1:  lbu a0, TOY_PLAIN(a3)
    lbu a1, TOY_KEY(a3)
    xor a0, a0, a1
    add a0, a0, a4
    lbu a2, 0(a0)
    sb a2, TOY_OUTPUT(a3)
    addi a3, a3, 1
    addi a5, a5, -1
    bnez a5, 1b
#else
    la a3, leak_toy
    la a4, leak_table
    la t0, leak_masks
    li a5, 4
1:  lbu a0, TOY_SHARE(a3)
    lbu a1, TOY_KEY(a3)
    xor a0, a0, a1
    add t1, a0, a4
    lbu a2, 0(t1)
    sb a2, TOY_OUTPUT(a3)
    lbu t2, MASKS_PUBLIC(t0) /* so that no share follows another one on the bus */
#if defined(CONTROL_OVERWRITE)
    lbu a0, MASKS_IN(t0) /* the mask takes the register of what it masks */
#else
    lbu a1, MASKS_IN(t0)
#endif
    lbu t2, MASKS_PUBLIC(t0)
    lbu a1, MASKS_OUT(t0)
    lbu t2, MASKS_PUBLIC(t0)
    li a0, 0
    li a1, 0
    li a2, 0
    li t1, 0
    addi a3, a3, 1
    addi a5, a5, -1
    bnez a5, 1b
#endif
    ret
.size leak_window, . - leak_window
