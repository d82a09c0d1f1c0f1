/* chacha_armv6m.S: ChaCha20 (RFC 8439, 2.3 and 2.4) in assembly for Cortex-M0 and M0+; see armv6m.h.
 *
 * These cores calculate in eight registers. Two quarter rounds are done at a time, so that one count of rotations
 * serves both. The words b, c and d of both are in low registers. The words a stay in r8 to r11, where they can be
 * added to, and are copied to be used. Of the other six words two wait in r12 and lr, and four on the stack. In low
 * registers are:
 *
 *     for columns 0 and 1 words 4, 8, 9, 13 and 5, 12;
 *     for columns 2 and 3 words 6, 10, 11, 15 and 7, 14.
 *     For diagonals 0 and 1 words 6, 10, 11, 15 and 5, 12;
 *     for diagonals 2 and 3 words 4, 8, 9, 13 and 7, 14.
 *
 * No branch and no address depends on the key or the message.
 */
    .syntax unified
    .thumb

/* A step of two quarter rounds: a += b, d = (d ^ a) >>> count, and the same for e, f and h. Here a and e are in high
 * registers. */
.macro add_to_high a, b, d, e, f, h, t, count
    add \a, \b
    add \e, \f
    mov \t, \a
    eors \d, \t
    rors \d, \count
    mov \t, \e
    eors \h, \t
    rors \h, \count
.endm

/* The same where they are in low registers. */
.macro add_to_low a, b, d, e, f, h, count
    adds \a, \b
    adds \e, \f
    eors \d, \a
    rors \d, \count
    eors \h, \e
    rors \h, \count
.endm

/* Two quarter rounds on a, b, c, d and e, f, g, h (2.1). Rotations to the left by 16, 12, 8 and 7 are to the right by
 * 16, 20, 24 and 25. Of the count in r7 the low five bits matter: above them it counts the pairs. */
.macro quarter_rounds a, b, c, d, e, f, g, h, t
    add_to_high \a, \b, \d, \e, \f, \h, \t, r7
    adds r7, #20 - 16
    add_to_low \c, \d, \b, \g, \h, \f, r7
    adds r7, #24 - 20
    add_to_high \a, \b, \d, \e, \f, \h, \t, r7
    adds r7, #25 - 24
    add_to_low \c, \d, \b, \g, \h, \f, r7
    adds r7, #32 + 16 - 25
.endm

/* Put \from, a low register, into \away, a high one, whose word comes into \to. */
.macro change to, from, away
    mov \to, \away
    mov \away, \from
.endm

/* block[\at] += \word, with the address of the block in r0. */
.macro add_start at, word
    ldr r7, [r0, #4 * \at]
    add r7, \word
    str r7, [r0, #4 * \at]
.endm

/* void chacha20_block(uint32_t *block, const uint8_t *key, const uint8_t *nonce, uint32_t counter) */
    .section .text.chacha20_block, "ax", %progbits
    .balign 4
    .global chacha20_block
    .type chacha20_block, %function
    .thumb_func
chacha20_block:
    push {r4-r7, lr}
    mov r4, r8
    mov r5, r9
    mov r6, r10
    mov r7, r11
    push {r4-r7}
    push {r0}
    sub sp, #16
    /* the input of the rounds, which is added to their output */
    adr r4, constants
    ldmia r4, {r4-r7}
    stmia r0!, {r4-r7}
    mov r8, r4
    mov r9, r5
    mov r10, r6
    mov r11, r7
    ldmia r1!, {r4-r7}
    stmia r0!, {r4-r7}
    ldmia r1!, {r4-r7}
    stmia r0!, {r4-r7}
    stmia r0!, {r3}
    lsls r4, r2, #30
    beq aligned
    lsrs r4, #27 /* bits to the right */
    movs r1, #32
    subs r1, r4 /* to the left */
    lsrs r5, r4, #3
    subs r2, r5
    ldmia r2!, {r5-r7} /* the words that have a part of the nonce */
    lsrs r5, r4
    movs r3, r6
    lsls r3, r1
    orrs r5, r3
    lsrs r6, r4
    movs r3, r7
    lsls r3, r1
    orrs r6, r3
    lsrs r7, r4
    ldr r3, [r2]
    lsls r3, r1
    orrs r7, r3
    b nonce_loaded
aligned:
    ldmia r2!, {r5-r7}
nonce_loaded:
    stmia r0!, {r5-r7}
    str r7, [sp, #12] /* 15 */
    mov lr, r6        /* 14 */
    movs r6, r5       /* 13 */
    subs r0, #48
    ldmia r0!, {r1, r4, r5, r7} /* 4, 5, 6, 7 */
    mov r12, r7
    str r5, [sp, #0]
    ldmia r0!, {r2, r3, r5, r7} /* 8, 9, 10, 11 */
    str r5, [sp, #4]
    str r7, [sp, #8]
    ldmia r0!, {r5} /* 12 */
    movs r7, #79    /* ten double rounds of four pairs below zero */
    lsls r7, #4
    negs r7, r7
double_round:
    quarter_rounds r8, r1, r2, r5, r9, r4, r3, r6, r0
    push {r1-r3, r6}
    add r0, sp, #16
    ldmia r0!, {r1-r3, r6}
    change r0, r4, r12
    change r4, r5, lr
    quarter_rounds r10, r1, r2, r4, r11, r0, r3, r6, r5
    change r5, r4, lr
    change r4, r0, r12
    quarter_rounds r8, r4, r2, r6, r9, r1, r3, r5, r0
    add r0, sp, #16
    stmia r0!, {r1-r3, r6}
    pop {r1-r3, r6}
    change r0, r4, r12
    change r4, r5, lr
    quarter_rounds r10, r0, r2, r6, r11, r1, r3, r4, r5
    bpl rounds_done
    change r5, r4, lr
    change r4, r0, r12
    b double_round
rounds_done:
    movs r5, r0
    ldr r0, [sp, #16]
    add_start 4, r1
    add_start 7, r5
    add_start 8, r2
    add_start 9, r3
    add_start 13, r6
    add_start 14, r4
    add_start 5, r12
    add_start 12, lr
    pop {r1-r4}
    add_start 6, r1
    add_start 10, r2
    add_start 11, r3
    add_start 15, r4
    ldmia r0!, {r1-r4}
    add r1, r8
    add r2, r9
    add r3, r10
    add r4, r11
    subs r0, #16
    stmia r0!, {r1-r4}
    add sp, #4
    pop {r4-r7}
    mov r8, r4
    mov r9, r5
    mov r10, r6
    mov r11, r7
    pop {r4-r7, pc}
    .balign 4
constants:
    .ascii "expand 32-byte k"
    .size chacha20_block, . - chacha20_block

/* void chacha20_add(uint8_t *output, const uint8_t *input, const uint8_t *stream, size_t bytes): by words where
 * output and input are as far from a multiple of four, and by bytes before and after them. */
    .section .text.chacha20_add, "ax", %progbits
    .balign 4
    .global chacha20_add
    .type chacha20_add, %function
    .thumb_func
chacha20_add:
    push {r4-r7, lr}
    adds r7, r0, r3 /* the end */
    mov r12, r7
    movs r4, r0
    eors r4, r1
    lsls r4, #30
    bne rest
    cmp r3, #8
    blo rest
    movs r3, #32
    negs r6, r0
    lsls r6, #30
    lsrs r6, #30 /* bytes before the words */
    beq by_words
    adds r7, r0, r6
    bl add_bytes
    subs r2, r6
    ldmia r2!, {r4}
    lsls r6, #3
    subs r6, r3, r6
    subs r3, r6
by_words: /* r3 bits of each word of the message come from one word of the stream, r6 from the next */
    mov r5, r12
    lsrs r5, #2
    lsls r5, #2
    mov lr, r5
1:
    ldmia r2!, {r5}
    lsrs r4, r3
    movs r7, r5
    lsls r7, r6
    orrs r4, r7
    ldmia r1!, {r7}
    eors r7, r4
    stmia r0!, {r7}
    movs r4, r5
    cmp r0, lr
    bne 1b
    lsrs r6, #3
    subs r2, r6
    mov r7, r12
rest:
    bl add_bytes
    pop {r4-r7, pc}
add_bytes: /* up to r7 */
    cmp r0, r7
    beq 2f
1:
    ldrb r4, [r1]
    ldrb r5, [r2]
    eors r4, r5
    strb r4, [r0]
    adds r1, #1
    adds r2, #1
    adds r0, #1
    cmp r0, r7
    bne 1b
2:
    bx lr
    .size chacha20_add, . - chacha20_add
