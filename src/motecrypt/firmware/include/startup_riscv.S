/* startup_riscv.S: the way from a RISC-V chip's reset to main: the stack pointer, initialised data and whatever else a
 * linker script places in RAM are copied out of the flash, then .bss is cleared. Written in assembly because a compiler
 * may turn such loops into calls of memcpy, which itself may not have been copied yet. It uses only registers that
 * RV32E has. A device's startup.S includes it after
 *
 *   AT_RESET         instructions of the chip's own at the very beginning, or nothing
 *   STOP_ALIGNMENT   of the address in mtvec, where 4 bytes are too few for the chip
 */
    .section .reset, "ax"
    .global reset
    .type reset, @function
reset:
    AT_RESET
    .option push
    .option norelax /* gp is not set yet */
    la gp, __global_pointer$
    .option pop
    la sp, __stack_top
    la a0, __copy_table
    la a1, __copy_table_end
next:
    bgeu a0, a1, clear
    lw a2, 0(a0) /* from, to, end: all multiples of 4 */
    lw a3, 4(a0)
    lw a4, 8(a0)
    addi a0, a0, 12
copy:
    bgeu a3, a4, next
    lw a5, 0(a2)
    sw a5, 0(a3)
    addi a2, a2, 4
    addi a3, a3, 4
    j copy
clear:
    la a0, __bss_start
    la a1, __bss_end
clear_next:
    bgeu a0, a1, start
    sw zero, 0(a0)
    addi a0, a0, 4
    j clear_next
start:
    la t0, stop
    csrw mtvec, t0
    call main
    .size reset, . - reset
#ifdef STOP_ALIGNMENT
    .section .text.stop, "ax"
    .balign STOP_ALIGNMENT
#else
    .balign 4
#endif
    .global stop
    .type stop, @function
stop: /* after main, and after any fault */
    j stop
    .size stop, . - stop
