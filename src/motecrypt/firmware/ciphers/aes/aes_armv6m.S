/* aes_armv6m.S: AES (FIPS 197) in assembly for Cortex-M0 and M0+; see aes_armv6m.h. What is around the
 * rounds is in aes_armv6m_blocks.S.
 *
 * A table of 1 KB for each direction has what a byte adds to a mixed column (The Rijndael Block Cipher, 5.2.1).
 * A round:
 *
 * - A byte becomes the offset of its table entry in two instructions: a shift that brings it to bits 2 to 9, and
 *   a mask.
 * - The other three rows of a column need the entry rotated. The sum is rotated instead, between one look-up and
 *   the next: three rotations a column, and one table.
 * - The rotation takes its 8 bits from the low byte of the table's own address, which is 8 beyond a multiple of
 *   32. That saves the register which would hold the 8, and so all of the state stays in low registers.
 * - Decryption is encryption with another table, and with columns 1 and 3 in each other's place, in the state and
 *   in the round keys.
 *
 * No branch and no loop count depends on the key or the message. The addresses of table look-ups do: with the
 * tables in flash, RP2040's cache makes the time depend on them; with the tables in RAM it does not.
 */
    .syntax unified
    .thumb

#ifndef CIPHER_KEY_BYTES_MAX
#define CIPHER_KEY_BYTES_MAX 32 /* as in cipher.h */
#endif
#define SCHEDULE_BYTES (4 * CIPHER_KEY_BYTES_MAX + 112)

/* State: r1 to r4. High registers: r8 the next round key, r12 the last; r9 to r11 finished columns. */
#define T r0
#define SUM r5
#define MASK r6 /* 0x3fc */
#define TABLE r7

#ifdef TABLES_IN_RAM
#define TABLE_SECTION(name) .section .data.tables.name, "aw", %progbits
#else
#define TABLE_SECTION(name) .section .rodata.name, "a", %progbits
#endif

/* --- tables */

.macro entries kind, bytes:vararg
    .irp byte, \bytes
    \kind \byte
    .endr
.endm

/* The S-box (FIPS 197, 5.1.1), and its inverse. */
.macro sbox kind
    entries \kind, 0x63, 0x7c, 0x77, 0x7b, 0xf2, 0x6b, 0x6f, 0xc5, 0x30, 0x01, 0x67, 0x2b, 0xfe, 0xd7, 0xab, 0x76
    entries \kind, 0xca, 0x82, 0xc9, 0x7d, 0xfa, 0x59, 0x47, 0xf0, 0xad, 0xd4, 0xa2, 0xaf, 0x9c, 0xa4, 0x72, 0xc0
    entries \kind, 0xb7, 0xfd, 0x93, 0x26, 0x36, 0x3f, 0xf7, 0xcc, 0x34, 0xa5, 0xe5, 0xf1, 0x71, 0xd8, 0x31, 0x15
    entries \kind, 0x04, 0xc7, 0x23, 0xc3, 0x18, 0x96, 0x05, 0x9a, 0x07, 0x12, 0x80, 0xe2, 0xeb, 0x27, 0xb2, 0x75
    entries \kind, 0x09, 0x83, 0x2c, 0x1a, 0x1b, 0x6e, 0x5a, 0xa0, 0x52, 0x3b, 0xd6, 0xb3, 0x29, 0xe3, 0x2f, 0x84
    entries \kind, 0x53, 0xd1, 0x00, 0xed, 0x20, 0xfc, 0xb1, 0x5b, 0x6a, 0xcb, 0xbe, 0x39, 0x4a, 0x4c, 0x58, 0xcf
    entries \kind, 0xd0, 0xef, 0xaa, 0xfb, 0x43, 0x4d, 0x33, 0x85, 0x45, 0xf9, 0x02, 0x7f, 0x50, 0x3c, 0x9f, 0xa8
    entries \kind, 0x51, 0xa3, 0x40, 0x8f, 0x92, 0x9d, 0x38, 0xf5, 0xbc, 0xb6, 0xda, 0x21, 0x10, 0xff, 0xf3, 0xd2
    entries \kind, 0xcd, 0x0c, 0x13, 0xec, 0x5f, 0x97, 0x44, 0x17, 0xc4, 0xa7, 0x7e, 0x3d, 0x64, 0x5d, 0x19, 0x73
    entries \kind, 0x60, 0x81, 0x4f, 0xdc, 0x22, 0x2a, 0x90, 0x88, 0x46, 0xee, 0xb8, 0x14, 0xde, 0x5e, 0x0b, 0xdb
    entries \kind, 0xe0, 0x32, 0x3a, 0x0a, 0x49, 0x06, 0x24, 0x5c, 0xc2, 0xd3, 0xac, 0x62, 0x91, 0x95, 0xe4, 0x79
    entries \kind, 0xe7, 0xc8, 0x37, 0x6d, 0x8d, 0xd5, 0x4e, 0xa9, 0x6c, 0x56, 0xf4, 0xea, 0x65, 0x7a, 0xae, 0x08
    entries \kind, 0xba, 0x78, 0x25, 0x2e, 0x1c, 0xa6, 0xb4, 0xc6, 0xe8, 0xdd, 0x74, 0x1f, 0x4b, 0xbd, 0x8b, 0x8a
    entries \kind, 0x70, 0x3e, 0xb5, 0x66, 0x48, 0x03, 0xf6, 0x0e, 0x61, 0x35, 0x57, 0xb9, 0x86, 0xc1, 0x1d, 0x9e
    entries \kind, 0xe1, 0xf8, 0x98, 0x11, 0x69, 0xd9, 0x8e, 0x94, 0x9b, 0x1e, 0x87, 0xe9, 0xce, 0x55, 0x28, 0xdf
    entries \kind, 0x8c, 0xa1, 0x89, 0x0d, 0xbf, 0xe6, 0x42, 0x68, 0x41, 0x99, 0x2d, 0x0f, 0xb0, 0x54, 0xbb, 0x16
.endm

#ifndef BLOCK_ENCRYPTS_ALONE
.macro inverse_sbox kind
    entries \kind, 0x52, 0x09, 0x6a, 0xd5, 0x30, 0x36, 0xa5, 0x38, 0xbf, 0x40, 0xa3, 0x9e, 0x81, 0xf3, 0xd7, 0xfb
    entries \kind, 0x7c, 0xe3, 0x39, 0x82, 0x9b, 0x2f, 0xff, 0x87, 0x34, 0x8e, 0x43, 0x44, 0xc4, 0xde, 0xe9, 0xcb
    entries \kind, 0x54, 0x7b, 0x94, 0x32, 0xa6, 0xc2, 0x23, 0x3d, 0xee, 0x4c, 0x95, 0x0b, 0x42, 0xfa, 0xc3, 0x4e
    entries \kind, 0x08, 0x2e, 0xa1, 0x66, 0x28, 0xd9, 0x24, 0xb2, 0x76, 0x5b, 0xa2, 0x49, 0x6d, 0x8b, 0xd1, 0x25
    entries \kind, 0x72, 0xf8, 0xf6, 0x64, 0x86, 0x68, 0x98, 0x16, 0xd4, 0xa4, 0x5c, 0xcc, 0x5d, 0x65, 0xb6, 0x92
    entries \kind, 0x6c, 0x70, 0x48, 0x50, 0xfd, 0xed, 0xb9, 0xda, 0x5e, 0x15, 0x46, 0x57, 0xa7, 0x8d, 0x9d, 0x84
    entries \kind, 0x90, 0xd8, 0xab, 0x00, 0x8c, 0xbc, 0xd3, 0x0a, 0xf7, 0xe4, 0x58, 0x05, 0xb8, 0xb3, 0x45, 0x06
    entries \kind, 0xd0, 0x2c, 0x1e, 0x8f, 0xca, 0x3f, 0x0f, 0x02, 0xc1, 0xaf, 0xbd, 0x03, 0x01, 0x13, 0x8a, 0x6b
    entries \kind, 0x3a, 0x91, 0x11, 0x41, 0x4f, 0x67, 0xdc, 0xea, 0x97, 0xf2, 0xcf, 0xce, 0xf0, 0xb4, 0xe6, 0x73
    entries \kind, 0x96, 0xac, 0x74, 0x22, 0xe7, 0xad, 0x35, 0x85, 0xe2, 0xf9, 0x37, 0xe8, 0x1c, 0x75, 0xdf, 0x6e
    entries \kind, 0x47, 0xf1, 0x1a, 0x71, 0x1d, 0x29, 0xc5, 0x89, 0x6f, 0xb7, 0x62, 0x0e, 0xaa, 0x18, 0xbe, 0x1b
    entries \kind, 0xfc, 0x56, 0x3e, 0x4b, 0xc6, 0xd2, 0x79, 0x20, 0x9a, 0xdb, 0xc0, 0xfe, 0x78, 0xcd, 0x5a, 0xf4
    entries \kind, 0x1f, 0xdd, 0xa8, 0x33, 0x88, 0x07, 0xc7, 0x31, 0xb1, 0x12, 0x10, 0x59, 0x27, 0x80, 0xec, 0x5f
    entries \kind, 0x60, 0x51, 0x7f, 0xa9, 0x19, 0xb5, 0x4a, 0x0d, 0x2d, 0xe5, 0x7a, 0x9f, 0x93, 0xc9, 0x9c, 0xef
    entries \kind, 0xa0, 0xe0, 0x3b, 0x4d, 0xae, 0x2a, 0xf5, 0xb0, 0xc8, 0xeb, 0xbb, 0x3c, 0x83, 0x53, 0x99, 0x61
    entries \kind, 0x17, 0x2b, 0x04, 0x7e, 0xba, 0x77, 0xd6, 0x26, 0xe1, 0x69, 0x14, 0x63, 0x55, 0x21, 0x0c, 0x7d
.endm
#endif

/* Products in GF(2^8): twice, thrice ... */
.macro mixed_entry s
    .set .Ltwice, (\s << 1) ^ ((\s >> 7) * 0x11b)
    .word .Ltwice | (\s << 8) | (\s << 16) | ((.Ltwice ^ \s) << 24)
.endm

#ifndef BLOCK_ENCRYPTS_ALONE
.macro unmixed_entry s
    .set .Ltwice, (\s << 1) ^ ((\s >> 7) * 0x11b)
    .set .Lfour, (.Ltwice << 1) ^ ((.Ltwice >> 7) * 0x11b)
    .set .Leight, (.Lfour << 1) ^ ((.Lfour >> 7) * 0x11b)
    .set .Lnine, .Leight ^ \s
    .word (.Leight ^ .Lfour ^ .Ltwice) | (.Lnine << 8) | ((.Lnine ^ .Lfour) << 16) | ((.Lnine ^ .Ltwice) << 24)
.endm

.macro byte_entry s
    .byte \s
.endm
#endif

    TABLE_SECTION(aes_armv6m_mixed)
    .balign 32
    .skip 8
mixed:
    sbox mixed_entry
    .type mixed, %object
    .size mixed, . - mixed

#ifndef BLOCK_ENCRYPTS_ALONE
    TABLE_SECTION(aes_armv6m_unmixed)
    .balign 32
    .skip 8
unmixed:
    inverse_sbox unmixed_entry
    .type unmixed, %object
    .size unmixed, . - unmixed

    TABLE_SECTION(aes_armv6m_inverse_sbox)
bytes_back:
    inverse_sbox byte_entry
    .type bytes_back, %object
    .size bytes_back, . - bytes_back
#endif

/* --- rounds */

/* The offset of the table entry for a row's byte of a column. */
.macro offset to, from, row
    .if \row == 0
    lsls \to, \from, #2
    .else
    lsrs \to, \from, #8 * \row - 2
    .endif
    ands \to, MASK
.endm

.macro mixed_byte to, from, row
    offset \to, \from, \row
    ldr \to, [TABLE, \to]
.endm

/* A column of substituted and mixed bytes, of one row in each of four columns. */
.macro mix_column w0, w1, w2, w3
    mixed_byte SUM, \w1, 1
    rors SUM, TABLE
    mixed_byte T, \w2, 2
    eors SUM, T
    rors SUM, TABLE
    mixed_byte T, \w3, 3
    eors SUM, T
    rors SUM, TABLE
    mixed_byte T, \w0, 0
    eors SUM, T
.endm

/* The same without mixing; TABLE is one byte into the table, where an entry has the substituted byte itself. */
.macro substituted_byte to, from, row
    offset \to, \from, \row
    ldrb \to, [TABLE, \to]
.endm

/* The same from a table of bytes. */
.macro unsubstituted_byte to, from, row
    .if \row == 0
    uxtb \to, \from
    .else
    lsrs \to, \from, #8 * \row
    .if \row < 3
    uxtb \to, \to
    .endif
    .endif
    ldrb \to, [TABLE, \to]
.endm

.macro gather_column byte, w0, w1, w2, w3
    \byte SUM, \w3, 3
    lsls SUM, #8
    \byte T, \w2, 2
    eors SUM, T
    lsls SUM, #8
    \byte T, \w1, 1
    eors SUM, T
    lsls SUM, #8
    \byte T, \w0, 0
    eors SUM, T
.endm

/* All columns, with shifted rows, and the round key. */
.macro one_round column:vararg
    \column r1, r2, r3, r4
    mov r9, SUM
    \column r2, r3, r4, r1
    mov r10, SUM
    \column r3, r4, r1, r2
    mov r11, SUM
    \column r4, r1, r2, r3
    mov T, r8
    ldmia T!, {r1-r4}
    mov r8, T
    eors r4, SUM
    mov T, r9
    eors r1, T
    mov T, r10
    eors r2, T
    mov T, r11
    eors r3, T
.endm

/* A block for block_encrypt and the like. r0: the key; the block in r4 to r7, the result in r1 to r4. Changes r0 to
 * r12. */
    .section .text.aes_encrypt_words, "ax", %progbits
    .balign 4
    .global aes_encrypt_words
    .type aes_encrypt_words, %function
    .thumb_func
aes_encrypt_words:
#if CIPHER_KEY_BYTES_MAX > 16
    ldmia r0!, {r1}
#else
    movs r1, #160
#endif
    adds r1, r0
    mov r12, r1
    ldmia r0!, {r1-r3}
    eors r1, r4
    eors r2, r5
    eors r3, r6
    ldmia r0!, {r4}
    eors r4, r7
    mov r8, r0
    ldr TABLE, =mixed
    .thumb_func
aes_rounds: /* the block and its first round key, added, in r1 to r4 */
    movs MASK, #0xff
    lsls MASK, #2
1:  one_round mix_column
    cmp r8, r12
    bne 1b
#ifndef BLOCK_ENCRYPTS_ALONE
    ldr T, =unmixed
    cmp T, TABLE
    beq 2f
#endif
    adds TABLE, #1
    one_round gather_column substituted_byte
    bx lr
#ifndef BLOCK_ENCRYPTS_ALONE
2:  ldr TABLE, =bytes_back
    one_round gather_column unsubstituted_byte
    bx lr
#endif
    .size aes_encrypt_words, . - aes_encrypt_words

#ifndef BLOCK_ENCRYPTS_ALONE
/* The same for block_decrypt. */
    .section .text.aes_decrypt_words, "ax", %progbits
    .balign 4
    .global aes_decrypt_words
    .type aes_decrypt_words, %function
    .thumb_func
aes_decrypt_words:
#if CIPHER_KEY_BYTES_MAX > 16
    ldmia r0!, {r1}
    adds r0, #SCHEDULE_BYTES
#else
    adds r0, #SCHEDULE_BYTES
    movs r1, #160
#endif
    adds r1, r0
    mov r12, r1
    ldmia r0!, {r1-r3}
    eors r1, r4
    eors r2, r7
    eors r3, r6
    ldmia r0!, {r4}
    eors r4, r5
    mov r8, r0
    push {lr}
    ldr TABLE, =unmixed
    bl aes_rounds
    mov r5, r2
    mov r2, r4
    mov r4, r5
    pop {pc}
    .size aes_decrypt_words, . - aes_decrypt_words
#endif

/* --- round keys */

/* Substitute the bytes of r3, for aes_expand_key; changes r4, r2, r6 and r7. */
    .section .text.aes_substitute_word, "ax", %progbits
    .balign 4
    .global aes_substitute_word
    .type aes_substitute_word, %function
    .thumb_func
aes_substitute_word:
    movs MASK, #0xff
    lsls MASK, #2
    ldr TABLE, =mixed + 1
    substituted_byte r4, r3, 3
    .irp row, 2, 1, 0
    lsls r4, #8
    substituted_byte r2, r3, \row
    orrs r4, r2
    .endr
    movs r3, r4
    bx lr
    .size aes_substitute_word, . - aes_substitute_word

#ifndef BLOCK_ENCRYPTS_ALONE
/* What a byte adds to an unmixed column; r5: the table. MASK and TABLE are as in aes_substitute_word. */
.macro unmixed_byte to, from, row
    substituted_byte \to, \from, \row
    lsls \to, #2
    ldr \to, [r5, \to]
.endm
#endif

/* uint8_t block_setup(struct block_key *key, const uint8_t *bytes, uint8_t key_bytes) */
    .section .text.block_setup, "ax", %progbits
    .balign 4
    .global block_setup
    .type block_setup, %function
    .thumb_func
block_setup:
    push {r4-r7, lr}
    bl aes_expand_key
#ifndef BLOCK_ENCRYPTS_ALONE
    cmp r0, #0
    bne 4f
    /* FIPS 197, 5.3.5: the round keys from the last to the first, with their words in the order of block_decrypt,
     * all but the first and the last unmixed. r1: behind the round keys, r0: where to. */
    mov r12, r2
    movs r0, r2
    adds r0, #SCHEDULE_BYTES
    ldr r5, =unmixed
    subs r1, #16
    bl copy_back
1:  subs r1, #16
    cmp r1, r12
    beq 3f
    movs r2, #0
2:  mov lr, r2 /* of the word */
    ldr r3, [r1, r2]
    unmixed_byte r4, r3, 1
    .irp row, 2, 3, 0
    rors r4, r5
    unmixed_byte r2, r3, \row
    eors r4, r2
    .endr
    stmia r0!, {r4}
    mov r2, lr
    subs r2, #4
    lsls r2, #28
    lsrs r2, #28
    bne 2b
    b 1b
3:  bl copy_back
    movs r0, #0
4:
#endif
    pop {r4-r7, pc}
#ifndef BLOCK_ENCRYPTS_ALONE
copy_back:
    .irp word, 0, 3, 2, 1
    ldr r2, [r1, #4 * \word]
    stmia r0!, {r2}
    .endr
    bx lr
#endif
    .size block_setup, . - block_setup
