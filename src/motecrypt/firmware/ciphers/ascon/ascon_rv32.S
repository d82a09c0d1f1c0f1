/* ascon_rv32.S: the Ascon permutation (NIST SP 800-232, section 3) in assembly for RISC-V cores with 31 registers and
 * no rotation; see ascon_rv32.h.
 *
 * - The state's ten halves, the constant and all else fit in the registers that a function need not keep, and ra.
 * - The S-box takes 17 instructions for 32 columns: the form of ascon_armv7m.S, with two complements for its ORN and BIC.
 * - The linear layer takes 16 for each word: two shifts make a half of a rotation, and all sums are XOR.
 *
 * A round takes 117 instructions and no access to memory. No branch and no address depends on the state.
 */
#define T0 t0
#define T1 t1
#define T2 t2

/* The S-box on one half of each word. */
.macro substitute x0, x1, x2, x3, x4
    xor T0, \x0, \x4 /* a0 */
    xor T1, \x3, \x4 /* a4 */
    or T2, T1, \x0   /* of output 3 */
    not \x4, \x4
    or \x4, \x3, \x4 /* of output 2 */
    xor \x3, \x3, \x1
    xor \x2, \x2, \x1 /* a2 */
    or \x0, \x3, \x2  /* of output 1 */
    xor \x3, \x2, T2
    xor T2, T0, \x2
    or T2, T2, \x1 /* of output 0 */
    xor \x2, \x2, \x4
    not \x4, T0
    and \x4, \x1, \x4 /* of output 4 */
    xor \x4, \x4, T1
    xor \x1, \x0, T0
    xor \x0, T1, T2
.endm

/* \half becomes, of two rotations to the right, the sum of what they move into it: each moves \near down by its count and
 * \far up by the rest. */
.macro rotations half, near, far, count, near2, far2, count2
    srli \half, \near, \count
    slli T2, \far, 32 - \count
    xor \half, \half, T2
    srli T2, \near2, \count2
    xor \half, \half, T2
    slli T2, \far2, 32 - \count2
    xor \half, \half, T2
.endm

/* A word plus itself rotated by two numbers, of which one may be 32 or more: then the halves change places. */
.macro diffuse low, high, near, far, count, near2, far2, count2
    rotations T0, \near, \far, \count, \near2, \far2, \count2
    rotations T1, \far, \near, \count, \far2, \near2, \count2
    xor \low, \low, T0
    xor \high, \high, T1
.endm

#define X0L t3
#define X0H t4
#define X1L t5
#define X1H t6
#define X2L a1
#define X2H a2
#define X3L a3
#define X3H a4
#define X4L a5
#define X4H a6
#define CONSTANT a7
#define LAST ra

    .text
    .balign 4
/* void ascon_permute(struct ascon_word *state, uint8_t rounds): a round's constant is 15 less than the one before, and the
 * last one is 0x4b. */
    .global ascon_permute
    .type ascon_permute, @function
ascon_permute:
    addi sp, sp, -16
    sw ra, 12(sp)
    slli CONSTANT, a1, 4
    sub CONSTANT, CONSTANT, a1
    addi CONSTANT, CONSTANT, 0x3c
    li LAST, 0x3c
    lw X0L, 0(a0)
    lw X0H, 4(a0)
    lw X1L, 8(a0)
    lw X1H, 12(a0)
    lw X2L, 16(a0)
    lw X2H, 20(a0)
    lw X3L, 24(a0)
    lw X3H, 28(a0)
    lw X4L, 32(a0)
    lw X4H, 36(a0)
round:
    xor X2L, X2L, CONSTANT
    substitute X0L, X1L, X2L, X3L, X4L
    substitute X0H, X1H, X2H, X3H, X4H
    diffuse X0L, X0H, X0L, X0H, 19, X0L, X0H, 28
    diffuse X1L, X1H, X1H, X1L, 29, X1H, X1L, 7
    diffuse X2L, X2H, X2L, X2H, 1, X2L, X2H, 6
    diffuse X3L, X3H, X3L, X3H, 10, X3L, X3H, 17
    diffuse X4L, X4H, X4L, X4H, 7, X4H, X4L, 9
    addi CONSTANT, CONSTANT, -15
    bne CONSTANT, LAST, round
    sw X0L, 0(a0)
    sw X0H, 4(a0)
    sw X1L, 8(a0)
    sw X1H, 12(a0)
    sw X2L, 16(a0)
    sw X2H, 20(a0)
    sw X3L, 24(a0)
    sw X3H, 28(a0)
    sw X4L, 32(a0)
    sw X4H, 36(a0)
    lw ra, 12(sp)
    addi sp, sp, 16
    ret
    .size ascon_permute, . - ascon_permute
