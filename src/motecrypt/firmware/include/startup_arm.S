/* startup_arm.S: the vector table of a Cortex-M chip and the way from reset to main: initialised data and, where a
 * linker script places it in RAM, code are copied out of the flash, then .bss is cleared. Written in assembly because a
 * compiler may turn such loops into calls of memcpy, which itself may not have been copied yet. A device's startup.S
 * includes it after
 *
 *   FURTHER_VECTORS   entries after the first two: NMI, HardFault, ... and interrupts, none of which is ever enabled
 */
    .syntax unified
    .thumb

    .section .vectors, "a"
    .global vectors
vectors:
    .word __stack_top
    .word reset
    .rept FURTHER_VECTORS
    .word stop
    .endr

    .section .reset, "ax"
    .global reset
    .type reset, %function
    .thumb_func
reset:
    ldr r0, =__copy_table
    ldr r7, =__copy_table_end
next:
    cmp r0, r7
    bhs clear
    ldm r0!, {r1, r2, r3} /* from, to, end: all multiples of 4 */
copy:
    cmp r2, r3
    bhs next
    ldm r1!, {r4}
    stm r2!, {r4}
    b copy
clear:
    ldr r1, =__bss_start
    ldr r2, =__bss_end
    movs r3, #0
clear_next:
    cmp r1, r2
    bhs start
    stm r1!, {r3}
    b clear_next
start:
    ldr r0, =main
    blx r0
    .global stop
    .type stop, %function
    .thumb_func
stop: /* after main, and after any fault */
    b stop
    .ltorg
