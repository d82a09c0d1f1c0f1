/* ascon_armv7m.S: Ascon-AEAD128 (NIST SP 800-232, section 4) in assembly for Cortex-M4; see ascon_armv7m.h.
 *
 * - The state stays in registers from the first permutation to the tag: the even bits of the five words in r0 to
 *   r4, the odd bits in r8 to r12. So a rotation of a word is one of each half, which is free as a shifted operand.
 * - The S-box takes 15 instructions for half of the columns. With the sums a0 = x0 ^ x4, a2 = x1 ^ x2 and
 *   a4 = x3 ^ x4, and the round's constant in x2, its outputs are
 *
 *       a4 ^ ((a0 ^ a2) | x1)      a0 ^ (a2 | (x1 ^ x3))      a2 ^ (x3 | ~x4)
 *       a2 ^ (a4 | x0)             a4 ^ (x1 & ~a0)
 *
 *   which is the standard's S-box: a ^ (~a & b) is a | b, and x | (x ^ y) is x | y.
 * - Words of a message come to halves and back by five exchanges of bits between two registers.
 *
 * A block of the rate has the same path for both directions. The state's new rate is the ciphertext. Associated
 * data is encrypted, too, and its ciphertext overwrites itself on the stack.
 *
 * With ASCON_SMALL one round is in a loop and the exchanges are functions. Without it twelve rounds are in a row.
 *
 * No branch and no address depends on key, message or data; only on their lengths.
 */
    .syntax unified
    .thumb

/* Offsets in struct cipher_io. */
#define IO_NONCE 0
#define IO_AD 4
#define IO_INPUT 8
#define IO_OUTPUT 12
#define IO_BYTES 20
#define IO_AD_BYTES 24

/* The stack of ascon_process, from a block in the byte order of messages to what it was called with. */
#define BLOCK 0
#define INPUT 16
#define OUTPUT 20
#define STEP 24
#define LEFT 28
#define DIRECTION 32
#define CRYPTED 36
#define PERMUTED 40
#define SPACE 44
#define CONTEXT (SPACE + 0)
#define IO (SPACE + 4)
#define TAG (SPACE + 8)
#define DECRYPTING (SPACE + 12)
#define CALLER (SPACE + 16)

/* The bits of \low >> \count and of \high that are in \mask change places; the results are \to and \other. */
.macro exchange low, high, count, mask, to, other, t
    eor \t, \high, \low, lsr #\count
    and \t, \t, #\mask
    eor \other, \high, \t
    eor \to, \low, \t, lsl #\count
.endm

/* Eight bytes in r5, r6 to even and odd bits; changes r5 to r7. */
.macro separate even, odd
    pkhbt r7, r5, r6, lsl #16
    pkhtb r6, r6, r5, asr #16
    exchange r7, r6, 8, 0x00ff00ff, r7, r6, r5
    exchange r7, r6, 4, 0x0f0f0f0f, r7, r6, r5
    exchange r7, r6, 2, 0x33333333, r7, r6, r5
    exchange r7, r6, 1, 0x55555555, \even, \odd, r5
.endm

/* Even and odd bits to eight bytes in r5, r6; changes r7. */
.macro join even, odd
    exchange \even, \odd, 1, 0x55555555, r7, r6, r5
    exchange r7, r6, 2, 0x33333333, r7, r6, r5
    exchange r7, r6, 4, 0x0f0f0f0f, r7, r6, r5
    exchange r7, r6, 8, 0x00ff00ff, r7, r6, r5
    pkhbt r5, r7, r6, lsl #16
    pkhtb r6, r6, r7, asr #16
.endm

#ifdef ASCON_SMALL
.macro to_halves even, odd /* changes lr */
    bl separate_here
    mov \even, r5
    mov \odd, r6
.endm

.macro to_bytes even, odd /* changes lr */
    mov r7, \even
    mov r6, \odd
    bl join_here
.endm
#else
.macro to_halves even, odd
    separate \even, \odd
.endm

.macro to_bytes even, odd
    join \even, \odd
.endm
#endif

/* The S-box on the even or the odd bits. */
.macro substitute x0, x1, x2, x3, x4
    eor r5, \x0, \x4  /* a0 */
    eor r6, \x3, \x4  /* a4 */
    orr r7, r6, \x0   /* of output 3 */
    orn \x4, \x3, \x4 /* of output 2 */
    eors \x3, \x1
    eors \x2, \x1       /* a2 */
    orr \x0, \x3, \x2   /* of output 1 */
    eor \x3, \x2, r7
    eor r7, r5, \x2
    orr r7, r7, \x1   /* of output 0 */
    eors \x2, \x4
    bic \x4, \x1, r5
    eor \x4, \x4, r6
    eor \x1, \x0, r5
    eor \x0, r6, r7
.endm

/* A round without its constant. Rotations of 64 bits by an even number are those of both halves by half of it.
 * By an odd number the halves change places, and the odd bits are rotated by one more. */
.macro permute
    substitute r0, r1, r2, r3, r4
    substitute r8, r9, r10, r11, r12
    /* x0: 19 and 28 */
    eor r5, r0, r8, ror #9
    eor r6, r8, r0, ror #10
    eor r0, r5, r0, ror #14
    eor r8, r6, r8, ror #14
    /* x1: 61 and 39, which are 22 apart */
    eor r5, r9, r9, ror #11
    eor r6, r1, r1, ror #11
    eor r1, r1, r5, ror #19
    eor r9, r9, r6, ror #20
    /* x2: 1 and 6 */
    eor r5, r2, r10
    eor r6, r10, r2, ror #1
    eor r2, r5, r2, ror #3
    eor r10, r6, r10, ror #3
    /* x3: 10 and 17 */
    eor r5, r3, r11, ror #8
    eor r6, r11, r3, ror #9
    eor r3, r5, r3, ror #5
    eor r11, r6, r11, ror #5
    /* x4: 7 and 41, which are 34 apart */
    eor r5, r12, r12, ror #17
    eor r6, r4, r4, ror #17
    eor r4, r4, r5, ror #3
    eor r12, r12, r6, ror #4
.endm

    .section .text.ascon_process, "ax", %progbits
    .balign 4

/* Twelve or eight rounds on the registers; change r5 to r7 and lr. */
    .type twelve_rounds, %function /* other sections call it */
    .thumb_func
#ifdef ASCON_SMALL
twelve_rounds:
    adr r5, constants
    b 1f
eight_rounds:
    adr r5, constants + 4
1:
    str lr, [sp, #PERMUTED]
    mov lr, r5
    ldrb r5, [lr], #1
one_round:
    eor r10, r10, r5, lsr #4
    and r5, r5, #15
    eors r2, r5
    permute
    ldrb r5, [lr], #1
    cmp r5, #0
    bne one_round
    ldr pc, [sp, #PERMUTED]
    .balign 4
constants: /* of the rounds: odd bits, even bits */
    .byte 0xcc, 0xc9, 0x9c, 0x99, 0xc6, 0xc3, 0x96, 0x93, 0x6c, 0x69, 0x3c, 0x39, 0
    .balign 4

separate_here:
    separate r5, r6
    bx lr

    .type join_here, %function
    .thumb_func
join_here: /* of r7, r6 */
    join r7, r6
    bx lr
#else
.macro one_round odd, even
    eor r2, r2, #\even
    eor r10, r10, #\odd
    permute
.endm

twelve_rounds:
    one_round 12, 12
    one_round 12, 9
    one_round 9, 12
    one_round 9, 9
eight_rounds:
    one_round 12, 6
    one_round 12, 3
    one_round 9, 6
    one_round 9, 3
    one_round 6, 12
    one_round 6, 9
    one_round 3, 12
    one_round 3, 9
    bx lr
#endif

/* Two words of the state += the key; changes r5 to r7 and lr. */
.macro add_key even, odd, next_even, next_odd
    ldr lr, [sp, #CONTEXT]
    ldm lr, {r5-r7, lr}
    eor \even, \even, r5
    eor \odd, \odd, r6
    eor \next_even, \next_even, r7
    eor \next_odd, \next_odd, lr
.endm

/* A word of a block: to the output goes input ^ rate, and to the rate the ciphertext. Flags: equal to encrypt. */
.macro crypt_word even, odd, at
    to_bytes \even, \odd
    ldr lr, [sp, #INPUT]
    ldr \even, [lr, #\at]
    ldr \odd, [lr, #\at + 4]
    eor r5, r5, \even
    eor r6, r6, \odd
    ldr lr, [sp, #OUTPUT]
    str r5, [lr, #\at]
    str r6, [lr, #\at + 4]
    itt ne
    movne r5, \even
    movne r6, \odd
    to_halves \even, \odd
.endm

/* Encrypt or decrypt LEFT bytes from INPUT to OUTPUT, and pad the rate. After a block the output moves on by STEP. */
crypt:
    str lr, [sp, #CRYPTED]
    b 2f
1:
    str r5, [sp, #LEFT]
    ldr r6, [sp, #DIRECTION]
    cmp r6, #0
    crypt_word r0, r8, 0
    crypt_word r1, r9, 8
    ldr r5, [sp, #INPUT]
    ldr r6, [sp, #OUTPUT]
    ldr r7, [sp, #STEP]
    adds r5, #16
    add r6, r7
    str r5, [sp, #INPUT]
    str r6, [sp, #OUTPUT]
    bl eight_rounds
2:
    ldr r5, [sp, #LEFT]
    subs r5, #16
    bhs 1b
    adds r5, #16
    bne rest
    eor r0, r0, #1
    ldr pc, [sp, #CRYPTED]
rest: /* in BLOCK, from its end: from the rate to the next one, which has ciphertext, then the padding */
    to_bytes r0, r8
    str r5, [sp, #BLOCK]
    str r6, [sp, #BLOCK + 4]
    to_bytes r1, r9
    str r5, [sp, #BLOCK + 8]
    str r6, [sp, #BLOCK + 12]
    ldr r5, [sp, #LEFT]
    ldr r6, [sp, #INPUT]
    ldr r7, [sp, #OUTPUT]
    ldr lr, [sp, #DIRECTION]
    subs lr, #1 /* a mask to encrypt with */
    mov r8, sp
    ldrb r0, [r8, r5]
    eor r0, r0, #1
    strb r0, [r8, r5]
    b 2f
1:
    subs r5, #1
    ldrb r0, [r6, r5]
    ldrb r1, [r8, r5]
    eor r9, r0, r1
    and r1, r1, lr
    strb r9, [r7, r5]
    eors r0, r1
    strb r0, [r8, r5]
2:
    tst r5, #3
    bne 1b
    b 2f
1:
    ldr r0, [r6, r5]
    ldr r1, [r8, r5]
    eor r9, r0, r1
    and r1, r1, lr
    str r9, [r7, r5]
    eors r0, r1
    str r0, [r8, r5]
2:
    subs r5, #4
    bhs 1b
    ldr r5, [sp, #BLOCK]
    ldr r6, [sp, #BLOCK + 4]
    to_halves r0, r8
    ldr r5, [sp, #BLOCK + 8]
    ldr r6, [sp, #BLOCK + 12]
    to_halves r1, r9
    ldr pc, [sp, #CRYPTED]

/* void ascon_process(const struct cipher_context *context, const struct cipher_io *io, uint8_t *tag,
 *                    uint8_t decrypting) */
    .global ascon_process
    .type ascon_process, %function
    .thumb_func
ascon_process:
    push {r0-r11, lr}
    sub sp, #SPACE
    ldr lr, [r1, #IO_NONCE]
    ldr r5, [lr]
    ldr r6, [lr, #4]
    ldr r4, [lr, #8]
    ldr r12, [lr, #12]
    to_halves r3, r11
    mov r5, r4
    mov r6, r12
    to_halves r4, r12
    ldr lr, [sp, #CONTEXT]
    ldr r1, [lr]
    ldr r9, [lr, #4]
    ldr r2, [lr, #8]
    ldr r10, [lr, #12]
    ldr r0, =0x00400201 /* the IV 0x00001000808c0001, its even bits and its odd ones */
    mov r8, #0x8a00
    bl twelve_rounds
    add_key r3, r11, r4, r12
    ldr r5, [sp, #IO]
    ldr r6, [r5, #IO_AD_BYTES]
    cbz r6, 1f
    ldr r5, [r5, #IO_AD]
    movs r7, #0
    add lr, sp, #BLOCK
    str r5, [sp, #INPUT]
    str lr, [sp, #OUTPUT]
    str r7, [sp, #STEP]
    str r6, [sp, #LEFT]
    str r7, [sp, #DIRECTION]
    bl crypt
    bl eight_rounds
    ldr r5, [sp, #IO]
1:
    eor r12, r12, #0x80000000 /* the last bit of the state keeps data and message apart */
    ldr r6, [r5, #IO_INPUT]
    ldr r7, [r5, #IO_OUTPUT]
    ldr lr, [r5, #IO_BYTES]
    ldr r5, [sp, #DECRYPTING]
    str r6, [sp, #INPUT]
    str r7, [sp, #OUTPUT]
    str lr, [sp, #LEFT]
    movs r6, #16
    str r6, [sp, #STEP]
    str r5, [sp, #DIRECTION]
    bl crypt
    add_key r2, r10, r3, r11
    bl twelve_rounds
    add_key r3, r11, r4, r12
    to_bytes r3, r11
    ldr r0, [sp, #TAG]
    str r5, [r0]
    str r6, [r0, #4]
    to_bytes r4, r12
    str r5, [r0, #8]
    str r6, [r0, #12]
    add sp, #CALLER
    pop {r4-r11, pc}
    .balign 4
    .ltorg
    .size ascon_process, . - ascon_process

/* void ascon_load(struct ascon_word *word, const uint8_t *bytes) */
    .global ascon_load
    .type ascon_load, %function
    .thumb_func
ascon_load:
    push {r5-r7, lr}
    ldr r5, [r1]
    ldr r6, [r1, #4]
    to_halves r5, r6
    str r5, [r0]
    str r6, [r0, #4]
    pop {r5-r7, pc}
    .size ascon_load, . - ascon_load

/* For other modes than the cipher's own, which keep their state in memory. */

/* void ascon_store(uint8_t *bytes, const struct ascon_word *word) */
    .section .text.ascon_store, "ax", %progbits
    .balign 4
    .global ascon_store
    .type ascon_store, %function
    .thumb_func
ascon_store:
    push {r5-r7, lr}
    ldrd r2, r3, [r1]
    to_bytes r2, r3
    str r5, [r0]
    str r6, [r0, #4]
    pop {r5-r7, pc}
    .size ascon_store, . - ascon_store

/* void ascon_permute(struct ascon_word *state, uint8_t rounds) */
    .section .text.ascon_permute, "ax", %progbits
    .balign 4
    .global ascon_permute
    .type ascon_permute, %function
    .thumb_func
ascon_permute:
    push {r0, r4-r11, lr}
    sub sp, #SPACE
    ldrd r1, r9, [r0, #8]
    ldrd r2, r10, [r0, #16]
    ldrd r3, r11, [r0, #24]
    ldrd r4, r12, [r0, #32]
    ldrd r0, r8, [r0]
    bl twelve_rounds
    ldr r5, [sp, #SPACE]
    strd r0, r8, [r5]
    strd r1, r9, [r5, #8]
    strd r2, r10, [r5, #16]
    strd r3, r11, [r5, #24]
    strd r4, r12, [r5, #32]
    add sp, #SPACE + 4
    pop {r4-r11, pc}
    .size ascon_permute, . - ascon_permute
