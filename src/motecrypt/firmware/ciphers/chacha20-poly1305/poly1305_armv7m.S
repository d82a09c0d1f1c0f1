/* poly1305_armv7m.S: Poly1305 (RFC 8439, 2.5) in assembly for Cortex-M4; see armv7m.h.
 *
 * The accumulator is four words h0 to h3 and h4 above them. The factor is four words r0 to r3 below 2^28; where a
 * product passes 2^130, a factor r1 to r3, which are multiples of 4, counts as s = 5/4 r. So a product is
 *
 *     word 0  h0 r0 + h1 s3 + h2 s2 + h3 s1
 *     word 1  h0 r1 + h1 r0 + h2 s3 + h3 s2 + h4 s1
 *     word 2  h0 r2 + h1 r1 + h2 r0 + h3 s3 + h4 s2
 *     word 3  h0 r3 + h1 r2 + h2 r1 + h3 r0 + h4 s3
 *     word 4                                  h4 r0
 *
 * and the carry from each word to the next. What is above 2^130 in word 4 comes back as fives when the next block is
 * added: with 2^128 of the block h4 is then at most 3 + 1 + 1. So
 *
 *     a word is below (1 + 1 + 5/4 + 5/4) 2^28 2^32 + 5 * 5/4 2^28 + 2^31 < 2^63,
 *     word 4 is below (4 * 2^60 + 2^33) / 2^32 + 5 * 2^28 < 2^32
 *
 * and a sum of 64 bits does not overflow. UMAAL adds two words to a product: the carry, and h4 s.
 *
 * Multiplications take one cycle for all operands on a Cortex-M4. On a Cortex-M3 the long ones depend on them, and
 * UMAAL does not exist. No branch and no address depends on key or message.
 */
    .syntax unified
    .thumb

/* Offsets in struct poly1305. */
#define FACTOR_2 20
#define FACTOR_3 24
#define SUM 28
#define ADDED 48

/* The stack of poly1305_padded. */
#define NEXT 0
#define END 4
#define REST 8
#define BLOCK 12
#define SPACE 28

/* void poly1305_start(struct poly1305 *state, const uint8_t *key) */
    .section .text.poly1305_start, "ax", %progbits
    .balign 4
    .global poly1305_start
    .type poly1305_start, %function
    .thumb_func
poly1305_start:
    push {r4-r8, lr}
    ldm r1!, {r2, r3, r7, r8}
    mov r12, #0xf0000000 /* clamp, RFC 8439, 2.5.1 */
    bic r2, r2, r12
    add r12, r12, #3
    bic r3, r3, r12
    bic r7, r7, r12
    bic r8, r8, r12
    add r4, r8, r8, lsr #2
    add r5, r7, r7, lsr #2
    add r6, r3, r3, lsr #2
    stm r0!, {r2-r8}
    movs r2, #0
    movs r3, #0
    movs r4, #0
    movs r5, #0
    movs r6, #0
    stm r0!, {r2-r6}
    ldm r1, {r2-r5}
    stm r0, {r2-r5}
    pop {r4-r8, pc}
    .size poly1305_start, . - poly1305_start

/* void poly1305_padded(struct poly1305 *state, const uint8_t *data, size_t bytes)
 * void poly1305_block(struct poly1305 *state, const uint8_t *block): between blocks r6 to r8, lr and r11 are the
 * accumulator. */
    .section .text.poly1305_block, "ax", %progbits
    .balign 4
    .global poly1305_block
    .type poly1305_block, %function
    .thumb_func
poly1305_block:
    movs r2, #16
    .global poly1305_padded
    .type poly1305_padded, %function
    .thumb_func
poly1305_padded:
    cmp r2, #0
    it eq
    bxeq lr
    push {r4-r11, lr}
    sub sp, #SPACE
    and r3, r2, #15
    subs r2, r3
    add r2, r1
    str r3, [sp, #REST]
    str r2, [sp, #END]
    mov r12, r1
    add r3, r0, #SUM
    ldm r3, {r6-r8, r11, lr}
    cmp r12, r2
    beq end
next_block:
    ldr r2, [r12, #4]
    ldr r3, [r12, #8]
    ldr r4, [r12, #12]
    ldr r1, [r12], #16
    str r12, [sp, #NEXT]
    /* h = block + 2^128 + sum modulo 2^130 + 5 * the sum's bits above it */
    lsr r9, r11, #2
    and r5, r11, #3
    mov r10, #5
    mov r12, #1
    umaal r1, r6, r9, r10
    umaal r2, r6, r7, r12
    umaal r3, r6, r8, r12
    umaal r4, r6, lr, r12
    add r5, r5, r6
    add r5, r5, r12
    ldm r0, {r9-r12, lr} /* r0, r1, s3, s2, s1 */
    umull r6, r7, r1, r9
    umlal r6, r7, r2, r11
    umlal r6, r7, r3, r12
    umlal r6, r7, r4, lr
    mul r8, r5, lr
    umaal r7, r8, r1, r10
    umlal r7, r8, r2, r9
    umlal r7, r8, r3, r11
    umlal r7, r8, r4, r12
    mul lr, r5, r12
    ldr r12, [r0, #FACTOR_2]
    umaal r8, lr, r2, r10
    umlal r8, lr, r3, r9
    umlal r8, lr, r4, r11
    umlal r8, lr, r1, r12
    mul r11, r5, r11
    umaal lr, r11, r4, r9
    ldr r4, [r0, #FACTOR_3]
    umlal lr, r11, r2, r12
    umlal lr, r11, r3, r10
    umlal lr, r11, r1, r4
    mla r11, r5, r9, r11
    ldr r12, [sp, #NEXT]
    ldr r1, [sp, #END]
    cmp r12, r1
    bne next_block
end:
    ldr r2, [sp, #REST]
    cbz r2, 2f
    /* the rest in a block of its own */
    movs r4, #0
    str r4, [sp, #REST]
    str r4, [sp, #BLOCK]
    str r4, [sp, #BLOCK + 4]
    str r4, [sp, #BLOCK + 8]
    str r4, [sp, #BLOCK + 12]
    add r3, sp, #BLOCK
1:
    subs r2, #1
    ldrb r4, [r12, r2]
    strb r4, [r3, r2]
    bne 1b
    mov r12, r3
    adds r3, #16
    str r3, [sp, #END]
    b next_block
2:
    add r3, r0, #SUM
    stm r3, {r6-r8, r11, lr}
    add sp, #SPACE
    pop {r4-r11, pc}
    .size poly1305_block, . - poly1305_block

/* void poly1305_finish(struct poly1305 *state, uint8_t *tag) */
    .section .text.poly1305_finish, "ax", %progbits
    .balign 4
    .global poly1305_finish
    .type poly1305_finish, %function
    .thumb_func
poly1305_finish:
    push {r4-r7, lr}
    add r2, r0, #SUM
    ldm r2, {r2-r4, r6, r7} /* words 0, 1, 2, 4, 3 */
    bic r5, r6, #3          /* what is above 2^130 comes back as fives: 4 n + n */
    add r5, r5, r6, lsr #2
    and r6, r6, #3
    adds r2, r5
    adcs r3, r3, #0
    adcs r4, r4, #0
    adcs r7, r7, #0
    adc r6, r6, #0
    adds r5, r2, #5 /* once more where the sum + 5 reaches 2^130 */
    adcs r5, r3, #0
    adcs r5, r4, #0
    adcs r5, r7, #0
    adc r6, r6, #0
    lsrs r6, #2
    add r6, r6, r6, lsl #2
    add r12, r0, #ADDED
    adds r2, r6
    adcs r3, r3, #0
    adcs r4, r4, #0
    adc r7, r7, #0
    ldm r12, {r0, r5, r6, r12}
    adds r2, r0
    adcs r3, r5
    adcs r4, r6
    adc r7, r7, r12
    str r2, [r1]
    str r3, [r1, #4]
    str r4, [r1, #8]
    str r7, [r1, #12]
    pop {r4-r7, pc}
    .size poly1305_finish, . - poly1305_finish
