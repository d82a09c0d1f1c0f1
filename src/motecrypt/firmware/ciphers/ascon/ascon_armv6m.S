/* ascon_armv6m.S: the Ascon permutation (NIST SP 800-232, section 3) in assembly for Cortex-M0 and M0+; see
 * ascon_armv6m.h.
 *
 * The state stays in registers: five halves of words in low registers, where these cores calculate, and five in
 * r8 to r12. A round:
 *
 * - The S-box works on the low halves of the five words, then on the high halves. It takes 16 instructions and one
 *   copy, in an order in which no other operand has to be kept.
 * - Where low and high halves change places, a half comes into the register that has just become free, so that
 *   this takes two moves for each half and not three. The registers then have other names. The low half of x0
 *   stays in a low register, so that it takes one.
 * - The rotations of 64 bits are pairs of shifts. Rotations of 32 bits of interleaved halves would take 18
 *   cycles less a round, but interleaving a block there and back takes more than that in eight rounds.
 *
 * A round loads nothing and branches only at its end: all states take the same cycles.
 */
    .syntax unified
    .thumb
    .text

/* Half of the S-box's columns: a half of each of the five words, and two registers to work in. With the sums
 * a0 = x0 ^ x4, a2 = x1 ^ x2 and a4 = x3 ^ x4 the outputs, and where they are, are
 *
 *     \x2: a4 ^ ((a0 ^ a2) | x1)     \x3: a0 ^ (a2 | (x1 ^ x3))     \q: a2 ^ (x3 | ~x4)
 *     \x0: a2 ^ (a4 | x0)            \x1: a4 ^ (x1 & ~a0)
 *
 * which is the standard's S-box: a ^ (~a & b) is a | b, and x | (x ^ y) is x | y. */
.macro substitute x0, x1, x2, x3, x4, p, q
    movs \p, \x4
    eors \p, \x0 /* a0 */
    mvns \q, \x4
    eors \x4, \x3 /* a4 */
    eors \x2, \x1 /* a2 */
    orrs \q, \x3
    eors \x3, \x1
    orrs \x3, \x2
    orrs \x0, \x4
    eors \x0, \x2
    eors \q, \x2
    eors \x2, \p
    orrs \x2, \x1
    eors \x2, \x4
    eors \x3, \p
    bics \x1, \p
    eors \x1, \x4
.endm

/* \t = (\q:\p >> \a) ^ (\s:\r >> \b): the low halves of two rotations to the right. */
.macro rotations t, u, p, q, a, r, s, b
    lsrs \t, \p, #\a
    lsls \u, \q, #32 - \a
    eors \t, \u
    lsrs \u, \r, #\b
    eors \t, \u
    lsls \u, \s, #32 - \b
    eors \t, \u
.endm

/* Of the word with the halves `away` (in a high register) and \high: itself and two of its rotations to the right.
 * The low half goes to \low, the high half to `away`. \p and \q are \high and \low where a rotation is by \a
 * (less than 32), and change places where it is by 32 + \a; so are \r and \s for \b. */
.macro diffuse_by low, high, away, t, u, p, q, a, r, s, b
    mov \low, \away
    diffuse_both \low, \high, \away, \t, \u, \p, \q, \a, \r, \s, \b
.endm

/* The same of a word with both halves in low registers. */
.macro diffuse_both low, high, away, t, u, p, q, a, r, s, b
    rotations \t, \u, \p, \q, \a, \r, \s, \b
    eors \t, \high
    mov \away, \t
    rotations \t, \u, \q, \p, \a, \s, \r, \b
    eors \low, \t
.endm

.macro diffuse low, high, away, t, u, a, b
    diffuse_by \low, \high, \away, \t, \u, \high, \low, \a, \high, \low, \b
.endm

/* The same by 32 + \a and 32 + \b. */
.macro diffuse_far low, high, away, t, u, a, b
    diffuse_by \low, \high, \away, \t, \u, \low, \high, \a, \low, \high, \b
.endm

/* The same by \a and 32 + \b. */
.macro diffuse_mixed low, high, away, t, u, a, b
    diffuse_by \low, \high, \away, \t, \u, \high, \low, \a, \low, \high, \b
.endm

/* Put a half where another was, and take that one. */
.macro change taken, put, away
    mov \taken, \away
    mov \away, \put
.endm

/* void ascon_permute(struct ascon_word *state, uint8_t rounds): where a round begins, the low halves are in r0 to
 * r4, the high halves in r8 to r12, and the round's constant is in r5 and lr. */
    .section .text.ascon_permute, "ax", %progbits
    .balign 4
    .global ascon_permute
    .type ascon_permute, %function
    .thumb_func
ascon_permute:
    push {r4-r7, lr}
    mov r2, r8
    mov r3, r9
    mov r4, r10
    mov r5, r11
    mov r6, r12
    push {r0, r2-r6}
    lsls r5, r1, #4 /* 0xf0 for twelve rounds, 0xb4 for eight */
    subs r5, r1
    adds r5, #0x3c
    mov lr, r5
    mov r7, r0
    ldmia r7!, {r0, r6}
    mov r8, r6
    ldmia r7!, {r1, r6}
    mov r9, r6
    ldmia r7!, {r2, r6}
    mov r10, r6
    ldmia r7!, {r3, r6}
    mov r11, r6
    ldmia r7!, {r4, r6}
    mov r12, r6
one_round:
    eors r2, r5
    substitute r0, r1, r2, r3, r4, r5, r6
    change r4, r0, r11
    mov r0, r2
    mov r2, r8
    change r5, r6, r10
    change r7, r3, r9
    change r3, r1, r12
    substitute r2, r7, r5, r4, r3, r1, r6
    diffuse_both r0, r5, r8, r1, r3, r5, r0, 19, r5, r0, 28
    diffuse_far r1, r4, r9, r3, r5, 29, 7
    diffuse r3, r2, r11, r4, r5, 10, 17
    diffuse_mixed r4, r7, r12, r2, r5, 7, 9
    diffuse r2, r6, r10, r5, r7, 1, 6
    mov r5, lr
    subs r5, #0x0f
    mov lr, r5
    cmp r5, #0x3c
    beq permuted
    b one_round
permuted:
    ldr r7, [sp]
    mov r6, r8
    stmia r7!, {r0, r6}
    mov r6, r9
    stmia r7!, {r1, r6}
    mov r6, r10
    stmia r7!, {r2, r6}
    mov r6, r11
    stmia r7!, {r3, r6}
    mov r6, r12
    stmia r7!, {r4, r6}
    pop {r0, r2-r6}
    mov r8, r2
    mov r9, r3
    mov r10, r4
    mov r11, r5
    mov r12, r6
    pop {r4-r7, pc}
    .size ascon_permute, . - ascon_permute

/* void ascon_crypt_rate(struct ascon_word *state, const uint8_t *input, uint8_t *output, uint8_t decrypting).
 * These cores load and store words at multiples of four alone. Elsewhere a word is put together from bytes. */
    .section .text.ascon_crypt_rate, "ax", %progbits
    .balign 4
    .global ascon_crypt_rate
    .type ascon_crypt_rate, %function
    .thumb_func
ascon_crypt_rate:
    push {r4-r7, lr}
    movs r7, #4 /* words */
    movs r4, r1
    orrs r4, r2
    lsls r4, #30
    bne by_bytes
by_words:
    ldmia r1!, {r4}
    ldr r5, [r0]
    eors r5, r4
    stmia r2!, {r5}
    cmp r3, #0
    bne 1f
    movs r4, r5
1:
    stmia r0!, {r4}
    subs r7, #1
    bne by_words
    pop {r4-r7, pc}
by_bytes:
    ldrb r4, [r1]
    ldrb r5, [r1, #1]
    ldrb r6, [r1, #2]
    lsls r5, #8
    orrs r4, r5
    ldrb r5, [r1, #3]
    lsls r6, #16
    orrs r4, r6
    lsls r5, #24
    orrs r4, r5
    ldr r5, [r0]
    eors r5, r4
    cmp r3, #0
    bne 1f
    movs r4, r5
1:
    stmia r0!, {r4}
    strb r5, [r2]
    lsrs r5, #8
    strb r5, [r2, #1]
    lsrs r5, #8
    strb r5, [r2, #2]
    lsrs r5, #8
    strb r5, [r2, #3]
    adds r1, #4
    adds r2, #4
    subs r7, #1
    bne by_bytes
    pop {r4-r7, pc}
    .size ascon_crypt_rate, . - ascon_crypt_rate
