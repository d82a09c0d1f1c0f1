/* chacha_rv32.S: the ChaCha20 block function (RFC 8439, 2.3) in assembly for RISC-V cores with 31 registers and no rotation;
 * see rv32.h.
 *
 * All sixteen words, the arguments and the nonce stay in registers from the first round to the last: the rounds access no
 * memory. A rotation takes three instructions, a quarter round 20. No branch and no address depends on the words.
 */
#define BLOCK a0
#define KEY a1
#define NONCE a2
#define COUNTER a3
#define T t0
#define ROUNDS t1

#define X0 s0
#define X1 s1
#define X2 s2
#define X3 s3
#define X4 s4
#define X5 s5
#define X6 s6
#define X7 s7
#define X8 s8
#define X9 s9
#define X10 s10
#define X11 s11
#define X12 a4
#define X13 a5
#define X14 a6
#define X15 a7
#define NONCE0 t4
#define NONCE1 t5
#define NONCE2 t6

/* \sum becomes \sum + \term; \word becomes (\word ^ \sum) rotated up by \count. */
.macro step sum, term, word, count
    add \sum, \sum, \term
    xor \word, \word, \sum
    slli T, \word, \count
    srli \word, \word, 32 - \count
    or \word, \word, T
.endm

.macro quarter a, b, c, d
    step \a, \b, \d, 16
    step \c, \d, \b, 12
    step \a, \b, \d, 8
    step \c, \d, \b, 7
.endm

/* The nonce may be at any address. */
.macro load_nonce word, at
    lbu \word, \at(NONCE)
    lbu T, \at + 1(NONCE)
    lbu t1, \at + 2(NONCE)
    lbu t2, \at + 3(NONCE)
    slli T, T, 8
    slli t1, t1, 16
    slli t2, t2, 24
    or \word, \word, T
    or t1, t1, t2
    or \word, \word, t1
.endm

/* Adds what the block began with, which is in \start, and stores the word. */
.macro finish word, start, at
    add \word, \word, \start
    sw \word, \at(BLOCK)
.endm

.macro finish_constant word, value, at
    li T, \value
    finish \word, T, \at
.endm

.macro finish_key word, from, at
    lw T, \from(KEY)
    finish \word, T, \at
.endm

    .text
    .balign 4
    .global chacha20_block
    .type chacha20_block, @function
/* void chacha20_block(uint32_t *block, const uint8_t *key, const uint8_t *nonce, uint32_t counter): the key is at a multiple
 * of four. */
chacha20_block:
    addi sp, sp, -48
    sw s0, 0(sp)
    sw s1, 4(sp)
    sw s2, 8(sp)
    sw s3, 12(sp)
    sw s4, 16(sp)
    sw s5, 20(sp)
    sw s6, 24(sp)
    sw s7, 28(sp)
    sw s8, 32(sp)
    sw s9, 36(sp)
    sw s10, 40(sp)
    sw s11, 44(sp)
    load_nonce NONCE0, 0
    load_nonce NONCE1, 4
    load_nonce NONCE2, 8
    li X0, 0x61707865
    li X1, 0x3320646e
    li X2, 0x79622d32
    li X3, 0x6b206574
    lw X4, 0(KEY)
    lw X5, 4(KEY)
    lw X6, 8(KEY)
    lw X7, 12(KEY)
    lw X8, 16(KEY)
    lw X9, 20(KEY)
    lw X10, 24(KEY)
    lw X11, 28(KEY)
    mv X12, COUNTER
    mv X13, NONCE0
    mv X14, NONCE1
    mv X15, NONCE2
    li ROUNDS, 10
1:
    quarter X0, X4, X8, X12
    quarter X1, X5, X9, X13
    quarter X2, X6, X10, X14
    quarter X3, X7, X11, X15
    quarter X0, X5, X10, X15
    quarter X1, X6, X11, X12
    quarter X2, X7, X8, X13
    quarter X3, X4, X9, X14
    addi ROUNDS, ROUNDS, -1
    bnez ROUNDS, 1b
    finish_constant X0, 0x61707865, 0
    finish_constant X1, 0x3320646e, 4
    finish_constant X2, 0x79622d32, 8
    finish_constant X3, 0x6b206574, 12
    finish_key X4, 0, 16
    finish_key X5, 4, 20
    finish_key X6, 8, 24
    finish_key X7, 12, 28
    finish_key X8, 16, 32
    finish_key X9, 20, 36
    finish_key X10, 24, 40
    finish_key X11, 28, 44
    finish X12, COUNTER, 48
    finish X13, NONCE0, 52
    finish X14, NONCE1, 56
    finish X15, NONCE2, 60
    lw s0, 0(sp)
    lw s1, 4(sp)
    lw s2, 8(sp)
    lw s3, 12(sp)
    lw s4, 16(sp)
    lw s5, 20(sp)
    lw s6, 24(sp)
    lw s7, 28(sp)
    lw s8, 32(sp)
    lw s9, 36(sp)
    lw s10, 40(sp)
    lw s11, 44(sp)
    addi sp, sp, 48
    ret
    .size chacha20_block, . - chacha20_block
