/* aes_armv7m_keys.S: round keys of AES (FIPS 197, 5.2) in assembly for Cortex-M4; see aes_armv7m.h and aes_armv7m.S.
 *
 * The longest key that a build takes stays in registers, and each group of as many words is made from the group before. Its
 * first word is substituted by the table of the rounds, whose entries have the substituted byte lowest. Words are stored
 * behind table reads, where a store takes no time. Shorter keys go through a loop.
 *
 * No branch and no loop count depends on the key. The addresses of table reads do, as in the rounds.
 */
    .syntax unified
    .thumb

#ifndef CIPHER_KEY_BYTES_MAX
#define CIPHER_KEY_BYTES_MAX 32 /* as in cipher.h */
#endif
#define BAD_KEY 1 /* CIPHER_BAD_KEY */

/* struct block_key */
#if CIPHER_KEY_BYTES_MAX > 16
#define AT_KEYS 4
#endif
#define SCHEDULE_BYTES (4 * CIPHER_KEY_BYTES_MAX + 112)

#define TABLE r12

.macro load_block w0, w1, w2, w3, from, at
    ldr \w0, [\from, #\at]
    ldr \w1, [\from, #\at + 4]
    ldr \w2, [\from, #\at + 8]
    ldr \w3, [\from, #\at + 12]
.endm

.macro store_block w0, w1, w2, w3, to, at
    str \w0, [\to, #\at]
    str \w1, [\to, #\at + 4]
    str \w2, [\to, #\at + 8]
    str \w3, [\to, #\at + 12]
.endm

/* The substituted bytes of a word, from its lowest. */
.macro substitute_bytes word, b0, b1, b2, b3
    uxtb \b0, \word
    uxtb \b1, \word, ror #8
    uxtb \b2, \word, ror #16
    lsrs \b3, \word, #24
    .irp byte, \b0, \b1, \b2, \b3
    ldrb.w \byte, [TABLE, \byte, lsl #2]
    .endr
.endm

/* Add bytes, from the lowest, to a word. */
.macro add_bytes word, b0, b1, b2, b3
    eors \word, \b0
    eor \word, \word, \b1, lsl #8
    eor \word, \word, \b2, lsl #16
    eor \word, \word, \b3, lsl #24
.endm

#ifndef BLOCK_ENCRYPTS_ALONE
/* Four bytes twice; r12: 0x1b in each byte, r3: 0. */
.macro double x
    uadd8 \x, \x, \x
    sel r14, r12, r3 /* where a byte was above 127 */
    eor \x, \x, r14
.endm

/* InvMixColumns is MixColumns of 5 x + 4 y, where y is x rotated by two bytes (The Design of Rijndael, 4.1.3). */
.macro unmix x
    eor r2, \x, \x, ror #16
    double r2
    double r2
    eors \x, r2
    eor r2, \x, \x, ror #8
    eor \x, r2, \x            /* rotated by 8 */
    eor \x, \x, r2, ror #16
    double r2
    eors \x, r2
.endm

.macro put_back
    store_block r4, r7, r6, r5, r0, 0
    adds r0, #16
    subs r1, #16
.endm
#endif

#if CIPHER_KEY_BYTES_MAX > 24
#define SAVED r4-r11
#elif CIPHER_KEY_BYTES_MAX > 16
#define SAVED r4-r9
#elif defined(BLOCK_ENCRYPTS_ALONE)
#define SAVED r4-r7
#else
#define SAVED r4-r8
#endif

/* uint8_t block_setup(struct block_key *key, const uint8_t *bytes, uint8_t key_bytes) */
    .section .text.block_setup, "ax", %progbits
    .balign 4
    .global block_setup
    .type block_setup, %function
    .thumb_func
block_setup:
    cmp r2, #CIPHER_KEY_BYTES_MAX
#if CIPHER_KEY_BYTES_MAX == 16
    bne refused
    push {SAVED, lr}
    load_block r4, r5, r6, r7, r1, 0
    ldr.w TABLE, =aes_mixed
    .set .Lat, 0
    .irp constant, 0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0x1b, 0x36
    substitute_bytes r7, lr, r1, r2, r3
    store_block r4, r5, r6, r7, r0, .Lat
    eor r4, #\constant
    add_bytes r4, r1, r2, r3, lr
    eors r5, r4
    eors r6, r5
    eors r7, r6
    .set .Lat, .Lat + 16
    .endr
    store_block r4, r5, r6, r7, r0, .Lat
#elif CIPHER_KEY_BYTES_MAX == 24
    bne shorter
#ifdef BLOCK_ENCRYPTS_ALONE
    push {r4-r8}
#else
    push {SAVED, lr}
#endif
    movs r2, #176
    load_block r3, r4, r5, r6, r1, 0
    ldr r7, [r1, #16]
    ldr r8, [r1, #20]
    ldr.w TABLE, =aes_mixed
    str r2, [r0], #AT_KEYS
    .set .Lat, 0
    .irp constant, 0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80
    uxtb r1, r8, ror #8
    uxtb r2, r8, ror #16
    ldrb r1, [TABLE, r1, lsl #2]
    ldrb r2, [TABLE, r2, lsl #2]
    str r3, [r0, #.Lat]
    eors r3, r1
    uxtb r1, r8
    eor r3, r3, r2, lsl #8
    lsr r2, r8, #24
    ldrb r1, [TABLE, r1, lsl #2]
    ldrb r2, [TABLE, r2, lsl #2]
    store_block r4, r5, r6, r7, r0, .Lat + 4
    str r8, [r0, #.Lat + 20]
    eor r3, #\constant
    eor r3, r3, r1, lsl #24
    eor r3, r3, r2, lsl #16
    eors r4, r3
    eors r5, r4
    eors r6, r5
    .if \constant != 0x80
    eors r7, r6
    eor r8, r8, r7
    .endif
    .set .Lat, .Lat + 24
    .endr
    store_block r3, r4, r5, r6, r0, .Lat
#ifdef BLOCK_ENCRYPTS_ALONE
    movs r0, #0
    pop {r4-r8}
    bx lr
#endif
#else
    bne shorter
    push {SAVED, lr}
    movs r2, #208
    load_block r4, r5, r6, r7, r1, 0
    load_block r8, r9, r10, r11, r1, 16
    ldr.w TABLE, =aes_mixed
    str r2, [r0]
    mov lr, #1 << 24 /* the constant, shifted */
    /* r4 to r11: the words before; r0: four bytes in front of where these go. */
1:  uxtb r1, r11, ror #8
    uxtb r2, r11, ror #16
    lsr r3, r11, #24
    ldrb r1, [TABLE, r1, lsl #2]
    ldrb r2, [TABLE, r2, lsl #2]
    ldrb r3, [TABLE, r3, lsl #2]
    str r4, [r0, #4]
    eors r4, r1
    uxtb r1, r11
    ldrb r1, [TABLE, r1, lsl #2]
    str r5, [r0, #8]
    str r6, [r0, #12]
    str r7, [r0, #16]
    eor r4, r4, lr, lsr #24
    eor r4, r4, r2, lsl #8
    eor r4, r4, r3, lsl #16
    eor r4, r4, r1, lsl #24
    eors r5, r4
    eors r6, r5
    eors r7, r6
    lsls lr, #1
    bmi 2f /* the seventh */
    uxtb r1, r7
    uxtb r2, r7, ror #8
    uxtb r3, r7, ror #16
    ldrb r1, [TABLE, r1, lsl #2]
    ldrb r2, [TABLE, r2, lsl #2]
    ldrb r3, [TABLE, r3, lsl #2]
    str r8, [r0, #20]
    eor r8, r8, r1
    lsrs r1, r7, #24
    ldrb r1, [TABLE, r1, lsl #2]
    str r9, [r0, #24]
    str r10, [r0, #28]
    str r11, [r0, #32]!
    eor r8, r8, r2, lsl #8
    eor r8, r8, r3, lsl #16
    eor r8, r8, r1, lsl #24
    eor r9, r9, r8
    eor r10, r10, r9
    eor r11, r11, r10
    b 1b
2:  store_block r8, r9, r10, r11, r0, 20
    store_block r4, r5, r6, r7, r0, 36
#ifndef BLOCK_ENCRYPTS_ALONE
    sub r0, #192 - AT_KEYS
#endif
#endif
#ifndef BLOCK_ENCRYPTS_ALONE
    mov r8, r0
    add r1, r0, #SCHEDULE_BYTES - 16
    adds r0, #SCHEDULE_BYTES
unmix_keys:
    /* FIPS 197, 5.3.5: the round keys from the last to the first, with their words in the order of block_decrypt,
     * all but the first and the last unmixed. r1: the last round key, r8: the first, r0: where to. */
    ldr r12, =0x1b1b1b1b
    movs r3, #0
    load_block r4, r5, r6, r7, r1, 0
    put_back
1:  load_block r4, r5, r6, r7, r1, 0
    .irp word, r4, r5, r6, r7
    unmix \word
    .endr
    put_back
    cmp r1, r8
    bne 1b
    load_block r4, r5, r6, r7, r1, 0
    put_back
#endif
#if CIPHER_KEY_BYTES_MAX != 24 || !defined(BLOCK_ENCRYPTS_ALONE)
    movs r0, #0
    pop {SAVED, pc}
#endif

#if CIPHER_KEY_BYTES_MAX > 16
shorter:
    cmp r2, #16
#if CIPHER_KEY_BYTES_MAX > 24
    it ne
    cmpne r2, #24
#endif
    bne refused
    push {SAVED, lr}
    lsls r4, r2, #2
    adds r4, #80
    str r4, [r0], #AT_KEYS
    mov r8, r0
    adds r4, #32
    add r9, r0, r4 /* behind the last round key */
    ldr.w TABLE, =aes_mixed
    lsr lr, r2, #2 /* words of the key */
    mov r4, lr
1:  ldr r3, [r1], #4
    str r3, [r0], #4
    subs r4, #1
    bne 1b
    mov r1, r0
    mov r0, r8
    movs r7, #1
    /* Words in groups, of as many as the key has: r0 the old words, r1 the new ones, r3 the last of them. */
next_group:
    substitute_bytes r3, r6, r2, r4, r5
    eors r2, r7
    eor r2, r2, r4, lsl #8
    eor r2, r2, r5, lsl #16
    eor r3, r2, r6, lsl #24
    lsls r7, #1
    cmp r7, #0x100
    it eq
    moveq r7, #0x1b
    load_block r2, r4, r5, r6, r0, 0
    adds r0, #16
    eors r2, r3
    eors r4, r2
    eors r5, r4
    eor r3, r6, r5
    store_block r2, r4, r5, r3, r1, 0
    adds r1, #16
    cmp r1, r9 /* each schedule ends behind the first four of a group */
    beq 2f
#if CIPHER_KEY_BYTES_MAX > 24
    cmp lr, #4
    beq next_group
    ldr r2, [r0], #4
    ldr r4, [r0], #4
    eors r2, r3
    eor r3, r4, r2
    str r2, [r1], #4
    str r3, [r1], #4
#endif
    b next_group
2:
#ifdef BLOCK_ENCRYPTS_ALONE
    movs r0, #0
    pop {SAVED, pc}
#else
    add r0, r8, #SCHEDULE_BYTES
    subs r1, #16
    b unmix_keys
#endif
#endif

refused:
    movs r0, #BAD_KEY
    bx lr
    .size block_setup, . - block_setup
