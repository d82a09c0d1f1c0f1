/* chacha_armv7m.S: ChaCha20 (RFC 8439, 2.3 and 2.4) in assembly for Cortex-M4; see armv7m.h.
 *
 * - A rotated operand takes no time on this core. So no word is rotated: words 4 to 7 wait for a rotation to the left
 *   by 7 between two quarter rounds, and words 12 to 15 for one by 8, until they are used. A quarter round takes
 *   eight instructions.
 * - Fourteen of the sixteen words are in registers. Words 11 and 15 are on the stack while three columns are mixed
 *   and words 4 and 9 while three diagonals are. In between they change places.
 * - A whole block of key stream goes to the message from registers and is not stored.
 *
 * No branch and no address depends on the key or the message.
 */
    .syntax unified
    .thumb

/* Offsets in struct cipher_io. */
#define IO_NONCE 0
#define IO_INPUT 8
#define IO_OUTPUT 12
#define IO_BYTES 20

/* The stack. */
#define MATRIX 0 /* the input of the rounds */
#define COUNTER 48
#define WORD_8 64 /* words 8 to 15 while they are in no register */
#define WORD_9 68
#define WORD_10 72
#define WORD_11 76
#define WORD_12 80
#define WORD_13 84
#define WORD_14 88
#define WORD_15 92
#define WORD_4 96
#define ROUNDS 100
#define RETURN 104
#define INPUT 108
#define OUTPUT 112
#define LEFT 116
#define SPACE 124

/* A quarter round (2.1). Rotations to the left by 16, 12, 8 and 7 are to the right by 16, 20, 24 and 25. */
.macro quarter_round a, b, c, d
    add \a, \a, \b, ror #25
    eor \d, \a, \d, ror #24
    finish_quarter \a, \b, \c, \d
.endm

/* It after its second instruction. */
.macro finish_quarter a, b, c, d
    add \c, \c, \d, ror #16
    eor \b, \c, \b, ror #25
    add \a, \a, \b, ror #20
    eor \d, \a, \d, ror #16
    add \c, \c, \d, ror #24
    eor \b, \c, \b, ror #20
.endm

/* Two rounds. With \counts they end with the flags of ROUNDS - 1. A load behind a load takes one cycle, a store
 * behind a load none, and a load behind a store three. */
.macro double_round counts
    quarter_round r0, r4, r8, r12
    quarter_round r1, r5, r9, lr
    quarter_round r2, r6, r10, r11
    str r4, [sp, #WORD_4]
.if \counts
    add r3, r3, r7, ror #25
    ldr r4, [sp, #ROUNDS]
    str r9, [sp, #WORD_9]
    subs r4, #1
    ldr r9, [sp, #WORD_15]
    str r4, [sp, #ROUNDS]
    eor r9, r3, r9, ror #24
    ldr r4, [sp, #WORD_11]
.else
    str r9, [sp, #WORD_9]
    add r3, r3, r7, ror #25
    ldr r4, [sp, #WORD_11]
    ldr r9, [sp, #WORD_15]
    eor r9, r3, r9, ror #24
.endif
    finish_quarter r3, r7, r4, r9
    quarter_round r0, r5, r10, r9
    quarter_round r1, r6, r4, r12
    str r4, [sp, #WORD_11]
    str r9, [sp, #WORD_15]
    quarter_round r2, r7, r8, lr
    ldr r4, [sp, #WORD_4]
    ldr r9, [sp, #WORD_9]
    quarter_round r3, r4, r9, r11
.endm

    .section .text.chacha20, "ax", %progbits
    .balign 4

/* The input of the rounds for the key at r0, the nonce at r2 and the counter in r3. Changes r1 and r4 to r12. */
start:
    adr r1, constants
    ldm r1, {r4-r7}
    add r12, sp, #MATRIX
    stm r12!, {r4-r7}
    ldm r0, {r4-r11}
    stm r12!, {r4-r11}
    ldr r4, [r2]
    ldr r5, [r2, #4]
    ldr r6, [r2, #8]
    stm r12, {r3-r6}
    bx lr
    .balign 4
constants:
    .ascii "expand 32-byte k"

/* Twenty rounds: words 0 to 10 and 12 are in r0 to r10 and r12, word 13 in lr, word 14 in r11, words 11 and 15 on the
 * stack. Words 4 to 7 and 12 to 15 still wait for their rotations. */
rounds:
    str lr, [sp, #RETURN]
#ifdef CHACHA20_SMALL
    mov r0, #10
#else
    mov r0, #5
#endif
    str r0, [sp, #ROUNDS]
    ldr r11, [sp, #MATRIX + 60]
    ror r11, r11, #8
    str r11, [sp, #WORD_15]
    add r12, sp, #MATRIX
    ldm r12, {r0-r12, lr}
    str r11, [sp, #WORD_11]
    ror r4, r4, #7
    ldr r11, [sp, #MATRIX + 56]
    ror r5, r5, #7
    ror r6, r6, #7
    ror r7, r7, #7
    ror r12, r12, #8
    ror lr, lr, #8
    ror r11, r11, #8
    .balign 4
next_rounds:
#ifndef CHACHA20_SMALL
    double_round 0
#endif
    double_round 1
    bne next_rounds
    ldr pc, [sp, #RETURN]

/* \w0 to \w3 = \t0 to \t3 + the same, which wait for a rotation. */
.macro add_words w0, w1, w2, w3, t0, t1, t2, t3, waits=0
.if \waits
    add \w0, \t0, \w0, ror #\waits
    add \w1, \t1, \w1, ror #\waits
    add \w2, \t2, \w2, ror #\waits
    add \w3, \t3, \w3, ror #\waits
.else
    add \w0, \w0, \t0
    add \w1, \w1, \t1
    add \w2, \w2, \t2
    add \w3, \w3, \t3
.endif
.endm

.macro load_words w0, w1, w2, w3, base, at
    ldr \w0, [\base, #\at]
    ldr \w1, [\base, #\at + 4]
    ldr \w2, [\base, #\at + 8]
    ldr \w3, [\base, #\at + 12]
.endm

.macro store_words w0, w1, w2, w3, base, at
    str \w0, [\base, #\at]
    str \w1, [\base, #\at + 4]
    str \w2, [\base, #\at + 8]
    str \w3, [\base, #\at + 12]
.endm

/* Sum of \w0 to \w3 and r8 to r11, which are of the message, to the output. */
.macro put_words w0, w1, w2, w3, at
    eor r8, r8, \w0
    eor r9, r9, \w1
    eor r10, r10, \w2
    eor r11, r11, \w3
    store_words r8, r9, r10, r11, lr, \at
.endm

/* void chacha20_key(uint32_t *words, const uint32_t *key, const uint8_t *nonce) */
    .global chacha20_key
    .type chacha20_key, %function
    .thumb_func
chacha20_key:
    push {r4-r11, lr}
    sub sp, #SPACE
    str r0, [sp, #OUTPUT]
    mov r0, r1
    movs r3, #0
    bl start
    bl rounds
    load_words r8, r9, r10, r11, sp, MATRIX
    ldr r12, [sp, #OUTPUT]
    add_words r0, r1, r2, r3, r8, r9, r10, r11
    load_words r8, r9, r10, r11, sp, MATRIX + 16
    add_words r4, r5, r6, r7, r8, r9, r10, r11, 25
    stm r12, {r0-r7}
    add sp, #SPACE
    pop {r4-r11, pc}
    .size chacha20_key, . - chacha20_key

/* void chacha20_crypt(const uint32_t *key, const struct cipher_io *io) */
    .global chacha20_crypt
    .type chacha20_crypt, %function
    .thumb_func
chacha20_crypt:
    push {r4-r11, lr}
    sub sp, #SPACE
    ldr r4, [r1, #IO_INPUT]
    ldr r5, [r1, #IO_OUTPUT]
    ldr r6, [r1, #IO_BYTES]
    ldr r2, [r1, #IO_NONCE]
    str r4, [sp, #INPUT]
    str r5, [sp, #OUTPUT]
    str r6, [sp, #LEFT]
    cmp r6, #0
    beq crypted
    movs r3, #1
    bl start
next_block:
    bl rounds
    str r8, [sp, #WORD_8]
    str r9, [sp, #WORD_9]
    str r10, [sp, #WORD_10]
    str r12, [sp, #WORD_12]
    str lr, [sp, #WORD_13]
    str r11, [sp, #WORD_14]
    ldr r12, [sp, #LEFT]
    subs r12, #64
    blo part
    str r12, [sp, #LEFT]
    load_words r8, r9, r10, r11, sp, MATRIX
    ldr r12, [sp, #INPUT]
    ldr lr, [sp, #OUTPUT]
    add_words r0, r1, r2, r3, r8, r9, r10, r11
    load_words r8, r9, r10, r11, r12, 0
    put_words r0, r1, r2, r3, 0
    load_words r0, r1, r2, r3, sp, MATRIX + 16
    load_words r8, r9, r10, r11, r12, 16
    add_words r4, r5, r6, r7, r0, r1, r2, r3, 25
    put_words r4, r5, r6, r7, 16
    load_words r0, r1, r2, r3, sp, WORD_8
    load_words r4, r5, r6, r7, sp, MATRIX + 32
    load_words r8, r9, r10, r11, r12, 32
    add_words r0, r1, r2, r3, r4, r5, r6, r7
    put_words r0, r1, r2, r3, 32
    load_words r0, r1, r2, r3, sp, WORD_12
    load_words r4, r5, r6, r7, sp, MATRIX + 48
    load_words r8, r9, r10, r11, r12, 48
    add_words r0, r1, r2, r3, r4, r5, r6, r7, 24
    put_words r0, r1, r2, r3, 48
    adds r4, #1
    adds r12, #64
    add lr, lr, #64
    str r4, [sp, #COUNTER]
    str r12, [sp, #INPUT]
    str lr, [sp, #OUTPUT]
    ldr r0, [sp, #LEFT]
    cmp r0, #0
    bne next_block
crypted:
    add sp, #SPACE
    pop {r4-r11, pc}
part: /* of a block, which takes the place of the matrix; r12 is how many bytes, minus 64 */
    load_words r8, r9, r10, r11, sp, MATRIX
    add_words r0, r1, r2, r3, r8, r9, r10, r11
    store_words r0, r1, r2, r3, sp, MATRIX
    load_words r0, r1, r2, r3, sp, MATRIX + 16
    add_words r4, r5, r6, r7, r0, r1, r2, r3, 25
    store_words r4, r5, r6, r7, sp, MATRIX + 16
    cmn r12, #32
    ble 1f
    load_words r0, r1, r2, r3, sp, WORD_8
    load_words r4, r5, r6, r7, sp, MATRIX + 32
    add_words r0, r1, r2, r3, r4, r5, r6, r7
    store_words r0, r1, r2, r3, sp, MATRIX + 32
    load_words r0, r1, r2, r3, sp, WORD_12
    load_words r4, r5, r6, r7, sp, MATRIX + 48
    add_words r0, r1, r2, r3, r4, r5, r6, r7, 24
    store_words r0, r1, r2, r3, sp, MATRIX + 48
1:
    ldr r0, [sp, #INPUT]
    ldr r1, [sp, #OUTPUT]
    add r2, sp, #MATRIX
    add r3, r12, #64 - 4
    cmp r3, #0
    blt 2f
1:
    ldr r5, [r0], #4
    ldr r4, [r2], #4
    eors r4, r5
    str r4, [r1], #4
    subs r3, #4
    bge 1b
2:
    adds r3, #4
    beq crypted
1:
    ldrb r5, [r0], #1
    ldrb r4, [r2], #1
    eors r4, r5
    strb r4, [r1], #1
    subs r3, #1
    bne 1b
    b crypted
    .size chacha20_crypt, . - chacha20_crypt
