/* aes_armv7m_small.S: AES (FIPS 197) in assembly for Cortex-M4, in little flash; see aes_armv7m_small.h. Functions as
 * in block.h.
 *
 * - One loop makes a column: four bytes looked up, mixed, and the round key added. The four columns of the round before are
 *   in registers, which move on by one for each column.
 * - Decryption is the same loop with columns 1 and 3 in each other's place.
 * - It has no table: the inverse of the S-box is S between two times the inverse of its affine part, since S is that part
 *   of an inverse in the field (FIPS 197, 5.1.1), and of four bytes at a time.
 * - InvMixColumns is MixColumns of 5 x + 4 y, where y is x rotated by two bytes (The Design of Rijndael, 4.1.3).
 *
 * No branch and no loop count depends on the key or the message. The addresses of table reads do: their time is
 * the same where flash has no wait states, and in RAM, but not behind a flash cache.
 */
    .syntax unified
    .thumb

#ifndef CIPHER_KEY_BYTES_MAX
#define CIPHER_KEY_BYTES_MAX 32 /* as in cipher.h */
#endif
#define BAD_KEY 1 /* CIPHER_BAD_KEY */

#define TABLE r0
#define COLUMN r9 /* 3 to 0 */
#define BACK r10  /* 1 to decrypt, 0 to encrypt */
#define KEYS r11  /* of this round */
#define LEFT r12  /* rounds */

#ifdef TABLES_IN_RAM
#define TABLE_SECTION .section .data.tables.aes_armv7m_small, "aw", %progbits
#else
#define TABLE_SECTION .section .rodata.aes_armv7m_small, "a", %progbits
#endif

.macro function name
    .section .text.\name, "ax", %progbits
    .balign 4
    .type \name, %function
    .thumb_func
\name:
.endm

/* --- the table, which the assembler computes: .Lbyte_N is N substituted */

    .altmacro
.macro substitute from, to
    .set .Lbyte_\from, \to
.endm

    substitute 0, 99
    .set .Lpower, 1   /* of three, which generates the field */
    .set .Linverse, 1 /* of that power */
    .rept 255
    .set .Lspread, .Linverse ^ (.Linverse << 1) ^ (.Linverse << 2) ^ (.Linverse << 3) ^ (.Linverse << 4)
    .set .Lspread, (.Lspread ^ (.Lspread >> 8)) & 0xff
    substitute %.Lpower, %(.Lspread ^ 0x63)
    .set .Lpower, .Lpower ^ (.Lpower << 1) ^ ((.Lpower >> 7) * 0x11b)
    .set .Linverse, .Linverse ^ (.Linverse << 1)
    .set .Linverse, .Linverse ^ (.Linverse << 2)
    .set .Linverse, (.Linverse ^ (.Linverse << 4)) & 0xff
    .set .Linverse, .Linverse ^ ((.Linverse >> 7) * 0x09)
    .endr

.macro entry number
    .byte .Lbyte_\number
.endm

    TABLE_SECTION
sbox:
    .set .Lnumber, 0
    .rept 256
    entry %.Lnumber
    .set .Lnumber, .Lnumber + 1
    .endr
    .type sbox, %object
    .size sbox, . - sbox
    .noaltmacro

/* --- one block */

/* Four bytes twice, in GF(2^8); changes t. */
.macro double x, t
    and \t, \x, #0x80808080
    eors \x, \t
    sub \t, \t, \t, lsr #7
    and \t, \t, #0x1b1b1b1b
    eor \x, \t, \x, lsl #1
.endm

#ifndef BLOCK_ENCRYPTS_ALONE
.macro add_rotated by, low
    and r2, r1, #\low
    eor r3, r1, r2
    .if \by == 1
    lsl r8, r2, #1
    .else
    eor r8, r8, r2, lsl #\by
    .endif
    eor r8, r8, r3, lsr #(8 - \by)
.endm

/* The inverse of the affine part for four bytes in r1; changes r2, r3 and r8. */
    function unspread
    add_rotated 1, 0x7f7f7f7f
    add_rotated 3, 0x1f1f1f1f
    add_rotated 6, 0x03030303
    eor r1, r8, #0x05050505
    bx lr
    .size unspread, . - unspread

/* A column in r1; changes r2 and r3. */
    function unmix
    eor r2, r1, r1, ror #16
    double r2, r3
    double r2, r3
    eors r1, r2
    .thumb_func
mix:
    eor r2, r1, r1, ror #8
    eors r1, r2
    eor r1, r1, r2, ror #16
    double r2, r3
    eors r1, r2
    bx lr
    .size unmix, . - unmix

/* void block_decrypt(const struct block_key *key, uint8_t *block) */
    .global block_decrypt
    function block_decrypt
    movs r2, #1
    b crypt
    .size block_decrypt, . - block_decrypt
#endif

/* void block_encrypt(const struct block_key *key, uint8_t *block) */
    .global block_encrypt
    function block_encrypt
#ifndef BLOCK_ENCRYPTS_ALONE
    movs r2, #0
    .thumb_func
crypt:
#endif
    push {r1, r4-r11, lr}
#if CIPHER_KEY_BYTES_MAX > 16
    ldr LEFT, [r0], #4
#else
    mov LEFT, #10
#endif
    mov KEYS, r0
#ifndef BLOCK_ENCRYPTS_ALONE
    mov BACK, r2
    cbz r2, 1f
    add KEYS, KEYS, LEFT, lsl #4
1:
#endif
    /* r4: column 3, r5 to r7: columns 0 to 2. */
    ldr r5, [r1]
    ldr r6, [r1, #4]
    ldr r7, [r1, #8]
    ldr r4, [r1, #12]
    ldm KEYS, {r1-r3, r8}
    eors r5, r1
    eors r6, r2
    eors r7, r3
    eor r4, r4, r8
    ldr TABLE, =sbox
#ifndef BLOCK_ENCRYPTS_ALONE
    cmp BACK, #0
    beq next_round
    mov r1, r4
    mov r4, r6
    mov r6, r1
#endif
next_round:
    mov COLUMN, #3
#ifndef BLOCK_ENCRYPTS_ALONE
    add KEYS, #16
    sub KEYS, KEYS, BACK, lsl #5
    cmp BACK, #0
    beq next_column
1:  mov r1, r4
    bl unspread
    mov r4, r5
    mov r5, r6
    mov r6, r7
    mov r7, r1
    subs COLUMN, #1
    bpl 1b
    mov COLUMN, #3
#else
    add KEYS, #16
#endif
next_column:
    uxtb r1, r4
    uxtb r2, r5, ror #8
    uxtb r3, r6, ror #16
    lsr r8, r7, #24
    ldrb r1, [TABLE, r1]
    ldrb r2, [TABLE, r2]
    ldrb r3, [TABLE, r3]
    ldrb r8, [TABLE, r8]
    orr r1, r1, r2, lsl #8
    orr r1, r1, r3, lsl #16
    orr r1, r1, r8, lsl #24
#ifndef BLOCK_ENCRYPTS_ALONE
    cmp BACK, #0
    beq 1f
    bl unspread
    b 2f
1:
#endif
    cmp LEFT, #1
    beq 2f
#ifdef BLOCK_ENCRYPTS_ALONE
    eor r2, r1, r1, ror #8
    eors r1, r2
    eor r1, r1, r2, ror #16
    double r2, r3
    eors r1, r2
2:  ldr r2, [KEYS, COLUMN, lsl #2]
    eors r1, r2
#else
    bl mix
2:  and r2, COLUMN, BACK
    eor r2, COLUMN, r2, lsl #1 /* 1 and 3 in each other's place to decrypt */
    ldr r2, [KEYS, r2, lsl #2]
    eors r1, r2
    cmp BACK, #0
    beq 3f
    cmp LEFT, #1
    beq 3f
    bl unmix
3:
#endif
    push {r1}
    mov r8, r7
    mov r7, r6
    mov r6, r5
    mov r5, r4
    mov r4, r8
    subs COLUMN, #1
    bpl next_column
    pop {r5-r7}
    pop {r4}
    subs LEFT, #1
    bne next_round
    pop {r1}
#ifndef BLOCK_ENCRYPTS_ALONE
    cmp BACK, #0
    beq 1f
    mov r2, r4
    mov r4, r6
    mov r6, r2
1:
#endif
    str r5, [r1]
    str r6, [r1, #4]
    str r7, [r1, #8]
    str r4, [r1, #12]
    pop {r4-r11, pc}
    .size block_encrypt, . - block_encrypt

/* --- round keys: FIPS 197, 5.2 */

/* uint8_t block_setup(struct block_key *key, const uint8_t *bytes, uint8_t key_bytes) */
    .global block_setup
    function block_setup
    cmp r2, #16
#if CIPHER_KEY_BYTES_MAX > 16
    beq 1f
    cmp r2, #24
#if CIPHER_KEY_BYTES_MAX > 24
    beq 1f
    cmp r2, #32
#endif
#endif
    beq 1f
    movs r0, #BAD_KEY
    bx lr
1:  push {r4-r8, lr}
    lsrs r4, r2, #2 /* words of the key */
#if CIPHER_KEY_BYTES_MAX > 16
    adds r3, r4, #6
    str r3, [r0], #4
#endif
    mov r5, r4
1:  ldr r3, [r1], #4
    str r3, [r0], #4
    subs r5, #1
    bne 1b
    /* r3: the last word, r5: the number of the next in its group, r6: words left, r7: the constant. */
    add r6, r4, r4, lsl #1
    adds r6, #28
    movs r7, #1
    ldr r1, =sbox
next_word:
    cmp r5, #0
    ite eq
    moveq r8, r7
    movne r8, #0
    beq 2f
#if CIPHER_KEY_BYTES_MAX > 24
    cmp r4, #8
    bne 4f
    cmp r5, #4
    beq 3f /* in the middle of a group of eight */
#endif
    b 4f
2:  ror r3, r3, #8
    lsls r7, #1
    cmp r7, #0x100
    it eq
    moveq r7, #0x1b
3:  movs r2, #4
1:  uxtb r12, r3
    ldrb r12, [r1, r12]
    lsrs r3, #8
    orr r3, r3, r12, lsl #24
    subs r2, #1
    bne 1b
    eor r3, r3, r8
4:  sub r2, r0, r4, lsl #2
    ldr r2, [r2]
    eors r3, r2
    str r3, [r0], #4
    adds r5, #1
    cmp r5, r4
    it eq
    moveq r5, #0
    subs r6, #1
    bne next_word
    movs r0, #0
    pop {r4-r8, pc}
    .size block_setup, . - block_setup
