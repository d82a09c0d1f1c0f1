/* poly1305_armv6m.S: Poly1305 (RFC 8439, 2.5) in assembly for Cortex-M0 and M0+; see armv6m.h.
 *
 * Multiplications of these cores give the low 32 bits of a product. The sum is four words of 32 bits and a few bits
 * above them, h0 to h4. The factor is four words r0 to r3 below 2^28; where a product passes 2^130, a factor r1 to r3,
 * which are multiples of 4, counts as s = 5 / 4 r. So a word k of the product is a sum of four products of words:
 *
 *     word 0  h0 r0 + h1 s3 + h2 s2 + h3 s1
 *     word 1  h0 r1 + h1 r0 + h2 s3 + h3 s2 + h4 s1
 *     word 2  h0 r2 + h1 r1 + h2 r0 + h3 s3 + h4 s2
 *     word 3  h0 r3 + h1 r2 + h2 r1 + h3 r0 + h4 s3
 *     word 4                                  h4 r0
 *
 * Each of them is four products of parts: a sum's word is two signed numbers of 16 bits, a factor is 2^15 high + low
 * with -2^14 < low <= 2^14 and 0 <= high <= 5/4 2^13. So four sums of four products each stay within 32 bits without
 * a carry, in r8 to r11:
 *
 *     |sum of four products with a low part|  <= 4 * 2^15 * 2^14 = 2^31, which is reached below zero alone
 *     |sum of four products with a high part| <= (1 + 3 * 5/4) * 2^15 * 2^13 < 2^31
 *
 * A sum H is turned into signed parts as H + B with B = 0x8000 in each part, then ^ 0x8000 in each part.
 *
 * No branch and no address depends on key or message.
 */
    .syntax unified
    .thumb

/* Offsets in struct poly1305. */
#define FACTORS 0
#define TOP_FACTORS 56
#define SUM 60
#define SUM_TOP 88
#define FACTOR_0 92
#define ADDED 96

/* Split a factor. \half is 2^14 - 1. */
.macro split low, high, half, t
    adds \high, \low, \half
    lsrs \high, #15
    lsls \t, \high, #15
    subs \low, \t
.endm

/* void poly1305_start(struct poly1305 *state, const uint8_t *key) */
    .section .text.poly1305_start, "ax", %progbits
    .balign 4
    .global poly1305_start
    .type poly1305_start, %function
    .thumb_func
poly1305_start:
    push {r4-r7, lr}
    ldr r7, =0x0fffffff /* clamp, RFC 8439, 2.5.1 */
    ldr r6, =0x3fff
    movs r2, #16
    add r2, r1
    mov r12, r2
    ldmia r1!, {r2}
    ands r2, r7
    str r2, [r0, #FACTOR_0]
    split r2, r3, r6, r4
    str r2, [r0, #FACTORS + 24]
    str r3, [r0, #FACTORS + 28]
    subs r7, #3
1:
    ldmia r1!, {r2}
    ands r2, r7
    lsrs r3, r2, #2
    adds r3, r2
    str r3, [r0, #TOP_FACTORS + 8]
    split r3, r4, r6, r5
    stmia r0!, {r3, r4}
    split r2, r3, r6, r4
    str r2, [r0, #FACTORS + 24]
    str r3, [r0, #FACTORS + 28]
    cmp r1, r12
    bne 1b
    movs r5, #0
    str r5, [r0, #TOP_FACTORS - 24]
    str r5, [r0, #SUM - 24]
    str r5, [r0, #SUM + 8 - 24]
    str r5, [r0, #SUM + 16 - 24]
    str r5, [r0, #SUM + 24 - 24]
    adds r0, #SUM_TOP - 24
    stmia r0!, {r5}
    adds r0, #ADDED - SUM_TOP - 4
    ldmia r1!, {r2-r5}
    stmia r0!, {r2-r5}
    pop {r4-r7, pc}
    .balign 4
    .ltorg
    .size poly1305_start, . - poly1305_start

/* A product of a word of the sum with the next factor, as four products of parts. */
.macro multiply word, sum=add
    ldmia r3!, {r1, r2}
    sxth r0, \word
    muls r0, r1
    \sum r8, r0
    asrs r0, \word, #16
    muls r1, r0
    \sum r10, r1
    muls r0, r2
    \sum r11, r0
    sxth r0, \word
    muls r0, r2
    \sum r9, r0
.endm

/* r2:r0 += 2^\bits * \products, signed; changes r1 and r3. */
.macro carry products, bits
    mov r1, \products
    lsls r3, r1, #\bits
    asrs r1, #32 - \bits
    adds r0, r3
    adcs r2, r1
.endm

/* void poly1305_padded(struct poly1305 *state, const uint8_t *data, size_t bytes)
 * void poly1305_block(struct poly1305 *state, const uint8_t *block): r3 is the state, then the factor that is next;
 * r4 to r7 are the sum. On the stack are h4, the state, where the next block and the last whole block end, how many
 * bytes are after it, and these with zeros. */
#define H4 0
#define STATE 4
#define NEXT 8
#define END 12
#define REST 16
#define BLOCK 20
#define SPACE 36
    .section .text.poly1305_block, "ax", %progbits
    .balign 4
end:
    ldr r2, [sp, #REST]
    cmp r2, #0
    bne rest
    add sp, #SPACE
    pop {r4-r7}
    mov r8, r4
    mov r9, r5
    mov r10, r6
    mov r11, r7
    pop {r4-r7, pc}
rest: /* a block of its own */
    movs r4, #0
    str r4, [sp, #REST]
    str r4, [sp, #BLOCK]
    str r4, [sp, #BLOCK + 4]
    str r4, [sp, #BLOCK + 8]
    str r4, [sp, #BLOCK + 12]
    add r0, sp, #BLOCK
1:
    subs r2, #1
    ldrb r4, [r1, r2]
    strb r4, [r0, r2]
    bne 1b
    movs r1, r0
    adds r0, #16
    str r0, [sp, #END]
    b aligned
unaligned: /* from the words that have a part of the block */
    lsrs r0, #27 /* bits to the right */
    movs r2, #32
    subs r2, r0 /* to the left */
    lsrs r3, r0, #3
    subs r1, r3
    ldmia r1!, {r4-r7}
    lsrs r4, r0
    movs r3, r5
    lsls r3, r2
    orrs r4, r3
    lsrs r5, r0
    movs r3, r6
    lsls r3, r2
    orrs r5, r3
    lsrs r6, r0
    movs r3, r7
    lsls r3, r2
    orrs r6, r3
    lsrs r7, r0
    ldr r3, [r1]
    lsls r3, r2
    orrs r7, r3
    lsrs r0, #3
    adds r1, r0
    ldr r3, [sp, #STATE]
    b block_loaded
    .global poly1305_block
    .type poly1305_block, %function
    .thumb_func
poly1305_block:
    movs r2, #16
    .global poly1305_padded
    .type poly1305_padded, %function
    .thumb_func
poly1305_padded:
    push {r4-r7, lr}
    mov r4, r8
    mov r5, r9
    mov r6, r10
    mov r7, r11
    push {r4-r7}
    movs r4, #15
    ands r4, r2
    subs r2, r4
    adds r2, r1
    sub sp, #SPACE
    str r0, [sp, #STATE]
    str r2, [sp, #END]
    str r4, [sp, #REST]
    movs r3, r0
    adds r0, #32 /* where the words of the product end */
    mov lr, r0
next_block:
    ldr r0, [sp, #END]
    cmp r1, r0
    beq end
    lsls r0, r1, #30
    bne unaligned
aligned:
    ldmia r1!, {r4-r7}
block_loaded:
    str r1, [sp, #NEXT]
    ldr r0, [r3, #SUM]
    adds r4, r0
    ldr r0, [r3, #SUM + 8]
    adcs r5, r0
    ldr r0, [r3, #SUM + 16]
    adcs r6, r0
    ldr r0, [r3, #SUM + 24]
    adcs r7, r0
    /* what is above 2^130 in word 4 comes back as fives: 4 n + n */
    ldr r0, [r3, #SUM_TOP]
    movs r2, #3
    ands r2, r0
    movs r1, #1 /* 2^128 of the block */
    adcs r1, r2
    mov r12, r1
    subs r0, r2
    asrs r2, r0, #2
    adds r0, r2
    asrs r2, #31
    /* B and the fives in one number: the fives reach no further than its word 1 */
    ldr r1, =0x80008000
    adds r0, r1
    adcs r2, r1
    adds r4, r0
    adcs r5, r2
    adcs r6, r1
    adcs r7, r1
    mov r0, r12
    movs r2, #0
    adcs r0, r2
    str r0, [sp, #H4]
    eors r4, r1
    eors r5, r1
    eors r6, r1
    eors r7, r1
    mov r12, r2 /* carry from word to word */
next_word:
    multiply r7, mov
    multiply r6
    multiply r5
    multiply r4
    ldr r1, [r3, #TOP_FACTORS - 32]
    ldr r2, [sp, #H4]
    muls r1, r2
    mov r0, r12
    mov r12, r3
    asrs r2, r0, #31
    adds r0, r1
    movs r1, #0
    adcs r2, r1
    mov r1, r8
    asrs r3, r1, #31
    adds r0, r1
    adcs r2, r3
    carry r9, 15
    carry r10, 16
    carry r11, 31
    mov r3, r12
    str r0, [r3, #SUM - 32]
    mov r12, r2
    subs r3, #24
    cmp r3, lr
    bne next_word
    ldr r0, [r3, #FACTOR_0 - 32]
    ldr r1, [sp, #H4]
    muls r0, r1
    add r0, r12
    str r0, [r3, #SUM_TOP - 32]
    subs r3, #32
    ldr r1, [sp, #NEXT]
    b next_block
    .balign 4
    .ltorg
    .size poly1305_block, . - poly1305_block

/* r2 to r5 += 5 * r0, with the carry into \top, which need not be a register that is kept. */
.macro add_fives top
    asrs r1, r0, #31
    lsls r6, r0, #2
    adds r0, r6
    adds r2, r0
    adcs r3, r1
    adcs r4, r1
    adcs r5, r1
    adcs \top, r1
.endm

/* void poly1305_finish(struct poly1305 *state, uint8_t *tag): the tag at a multiple of four. */
    .section .text.poly1305_finish, "ax", %progbits
    .balign 4
    .global poly1305_finish
    .type poly1305_finish, %function
    .thumb_func
poly1305_finish:
    push {r1, r4-r7, lr}
    mov r12, r0
    ldr r2, [r0, #SUM]
    ldr r3, [r0, #SUM + 8]
    ldr r4, [r0, #SUM + 16]
    ldr r5, [r0, #SUM + 24]
    adds r0, #SUM_TOP
    ldr r7, [r0]
    /* what is above 2^130 comes back as fives, twice: the first time brings the sum between -2^31 and 2^130 + 2^33 */
    asrs r0, r7, #2
    lsls r7, #30
    lsrs r7, #30
    add_fives r7
    asrs r0, r7, #2
    lsls r7, #30
    lsrs r7, #30
    add_fives r7
    /* once more if the sum + 5 reaches 2^130 */
    movs r1, #0
    adds r0, r2, #5
    movs r0, r3
    adcs r0, r1
    movs r0, r4
    adcs r0, r1
    movs r0, r5
    adcs r0, r1
    adcs r7, r1
    lsrs r0, r7, #2
    add_fives r7
    mov r6, r12
    adds r6, #ADDED
    ldmia r6!, {r0, r1}
    adds r2, r0
    adcs r3, r1
    ldmia r6!, {r0, r1}
    adcs r4, r0
    adcs r5, r1
    pop {r6}
    stmia r6!, {r2-r5}
    pop {r4-r7, pc}
    .size poly1305_finish, . - poly1305_finish
