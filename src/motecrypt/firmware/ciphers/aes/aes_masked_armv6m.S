/* aes_masked_armv6m.S: the masked AES-128 for Cortex-M0 and M0+; see aes_masked.h.
 *
 * Masks and the order of S-boxes as in aes_masked_avr.S, where they are explained; here a column is a word, with the
 * masks ROW0 to ROW3 on its bytes while it is mixed, and the masks of round keys are the bytes of one word. Two
 * values behind one mask must not meet in a register, on the bus, in a cell, or in the words that the RAM delivers
 * one after the other: what loads a byte loads its whole word. Therefore:
 *
 * - between bytes of the state, between columns and between words of the round keys, a value behind another mask is
 *   loaded;
 * - a cell of the state becomes zero before it is written, and no word has bytes behind IN and behind OUT;
 * - a register gets no value behind the mask of the value that it holds, or it is cleared before.
 *
 * No branch and no loop count depends on the key, the message or the masks.
 */
.syntax unified
.thumb

/* struct block_key */
#define STATE 256
#define STATE_BYTES 32
#define ORDER (STATE + STATE_BYTES)
#define KEY_MASKS (ORDER + 16)
#define RANDOM (KEY_MASKS + 4)
#define ROUND_KEYS (RANDOM + 16)
#define ROUND_KEYS_BYTES 176
/* struct aes_masks */
#define RANDOM_KEYS 0
#define RANDOM_ROWS 4
#define RANDOM_IN 8
#define RANDOM_OUT 9
#define RANDOM_ORDER 12

#define TABLE r0
#define FROM r1 /* the state; TO: the state behind the S-box */
#define TO r7
#define COLUMN r2
#define BYTE r3
#define REST r3
#define SCRATCH r4
#define HIGH r5
#define KEYS r6
#define UNMASK r8 /* from behind the S-box to the rows' own masks */
#define REMASK r9 /* from the mixed rows' masks, and the round key's, to IN */
#define ONES r10 /* 0x01010101 */
#define KEYS_END r11 /* the last round's key */
#define NUMBERS r12 /* the order */

/* \register = the structure and \offset, from 256 on. */
.macro point register, offset
    movs \register, 255
    adds \register, \offset - 255
    adds \register, TABLE
.endm

/* SubBytes in the order of the permutation. */
.macro substitute
    mov HIGH, NUMBERS
    movs SCRATCH, 15
5:  ldrb BYTE, [HIGH, SCRATCH]
    ldrb COLUMN, [FROM, BYTE]
    ldrb COLUMN, [TABLE, COLUMN]
    strb COLUMN, [TO, BYTE]
    movs COLUMN, 0
    subs SCRATCH, 1
    bpl 5b
    movs BYTE, 0
    ldr SCRATCH, [HIGH]
.endm

/* ShiftRows of one column; its bytes get their rows' masks. */
.macro shift a, b, c, d
    ldrb COLUMN, [TO, \a]
    ldr SCRATCH, [KEYS]
    ldrb BYTE, [TO, \b]
    lsls BYTE, BYTE, 8
    orrs COLUMN, BYTE
    ldr SCRATCH, [KEYS]
    ldrb BYTE, [TO, \c]
    lsls BYTE, BYTE, 16
    orrs COLUMN, BYTE
    ldr SCRATCH, [KEYS]
    ldrb BYTE, [TO, \d]
    lsls BYTE, BYTE, 24
    orrs COLUMN, BYTE
    mov SCRATCH, UNMASK
    eors COLUMN, SCRATCH
.endm

/* MixColumns: byte i = 2 (b[i] ^ b[i + 1]) ^ b[i + 1] ^ b[i + 2] ^ b[i + 3] in GF(2^8). */
.macro mix
    movs SCRATCH, 8
    mov REST, COLUMN
    rors REST, SCRATCH
    eors COLUMN, REST
    movs SCRATCH, 16
    mov HIGH, COLUMN
    rors HIGH, SCRATCH
    eors REST, HIGH
    mov SCRATCH, ONES
    lsrs HIGH, COLUMN, 7
    ands HIGH, SCRATCH
    lsls SCRATCH, HIGH, 7
    eors COLUMN, SCRATCH
    lsls COLUMN, COLUMN, 1
    movs SCRATCH, 0x1b
    muls HIGH, SCRATCH
    eors COLUMN, HIGH
    eors COLUMN, REST
.endm

.macro put place
    movs SCRATCH, 0
    str SCRATCH, [FROM, \place]
    str COLUMN, [FROM, \place]
    movs COLUMN, 0
    movs BYTE, 0
.endm

.macro add_key place
    ldr SCRATCH, [KEYS, \place]
    eors COLUMN, SCRATCH
.endm

.macro round_of place, a, b, c, d
    shift \a, \b, \c, \d
    mix
    add_key \place
    mov SCRATCH, REMASK
    eors COLUMN, SCRATCH
    put \place
.endm

.macro last_round_of place, a, b, c, d
    shift \a, \b, \c, \d
    add_key \place
    put \place
.endm

/* HIGH: the masks of the round keys. */
.macro first_key place
    ldr COLUMN, [FROM, \place]
    movs SCRATCH, 0
    add_key \place
    eors COLUMN, HIGH
    put \place
    mov SCRATCH, NUMBERS
    ldr SCRATCH, [SCRATCH]
.endm

.section .rodata.aes_masked_sbox, "a", %progbits
.global aes_masked_sbox
.type aes_masked_sbox, %object
aes_masked_sbox:
    .byte 0x63, 0x7c, 0x77, 0x7b, 0xf2, 0x6b, 0x6f, 0xc5, 0x30, 0x01, 0x67, 0x2b, 0xfe, 0xd7, 0xab, 0x76
    .byte 0xca, 0x82, 0xc9, 0x7d, 0xfa, 0x59, 0x47, 0xf0, 0xad, 0xd4, 0xa2, 0xaf, 0x9c, 0xa4, 0x72, 0xc0
    .byte 0xb7, 0xfd, 0x93, 0x26, 0x36, 0x3f, 0xf7, 0xcc, 0x34, 0xa5, 0xe5, 0xf1, 0x71, 0xd8, 0x31, 0x15
    .byte 0x04, 0xc7, 0x23, 0xc3, 0x18, 0x96, 0x05, 0x9a, 0x07, 0x12, 0x80, 0xe2, 0xeb, 0x27, 0xb2, 0x75
    .byte 0x09, 0x83, 0x2c, 0x1a, 0x1b, 0x6e, 0x5a, 0xa0, 0x52, 0x3b, 0xd6, 0xb3, 0x29, 0xe3, 0x2f, 0x84
    .byte 0x53, 0xd1, 0x00, 0xed, 0x20, 0xfc, 0xb1, 0x5b, 0x6a, 0xcb, 0xbe, 0x39, 0x4a, 0x4c, 0x58, 0xcf
    .byte 0xd0, 0xef, 0xaa, 0xfb, 0x43, 0x4d, 0x33, 0x85, 0x45, 0xf9, 0x02, 0x7f, 0x50, 0x3c, 0x9f, 0xa8
    .byte 0x51, 0xa3, 0x40, 0x8f, 0x92, 0x9d, 0x38, 0xf5, 0xbc, 0xb6, 0xda, 0x21, 0x10, 0xff, 0xf3, 0xd2
    .byte 0xcd, 0x0c, 0x13, 0xec, 0x5f, 0x97, 0x44, 0x17, 0xc4, 0xa7, 0x7e, 0x3d, 0x64, 0x5d, 0x19, 0x73
    .byte 0x60, 0x81, 0x4f, 0xdc, 0x22, 0x2a, 0x90, 0x88, 0x46, 0xee, 0xb8, 0x14, 0xde, 0x5e, 0x0b, 0xdb
    .byte 0xe0, 0x32, 0x3a, 0x0a, 0x49, 0x06, 0x24, 0x5c, 0xc2, 0xd3, 0xac, 0x62, 0x91, 0x95, 0xe4, 0x79
    .byte 0xe7, 0xc8, 0x37, 0x6d, 0x8d, 0xd5, 0x4e, 0xa9, 0x6c, 0x56, 0xf4, 0xea, 0x65, 0x7a, 0xae, 0x08
    .byte 0xba, 0x78, 0x25, 0x2e, 0x1c, 0xa6, 0xb4, 0xc6, 0xe8, 0xdd, 0x74, 0x1f, 0x4b, 0xbd, 0x8b, 0x8a
    .byte 0x70, 0x3e, 0xb5, 0x66, 0x48, 0x03, 0xf6, 0x0e, 0x61, 0x35, 0x57, 0xb9, 0x86, 0xc1, 0x1d, 0x9e
    .byte 0xe1, 0xf8, 0x98, 0x11, 0x69, 0xd9, 0x8e, 0x94, 0x9b, 0x1e, 0x87, 0xe9, 0xce, 0x55, 0x28, 0xdf
    .byte 0x8c, 0xa1, 0x89, 0x0d, 0xbf, 0xe6, 0x42, 0x68, 0x41, 0x99, 0x2d, 0x0f, 0xb0, 0x54, 0xbb, 0x16
.size aes_masked_sbox, . - aes_masked_sbox

.section .text.aes_masked, "ax", %progbits
.balign 4

/* Write the S-box behind the masks in r1 (in front) and r2 (behind). Changes r3 to r6. */
.type make_table, %function
.thumb_func
make_table:
    ldr r3, =aes_masked_sbox
    movs r4, 0
1:  ldrb r5, [r3, r4]
    eors r5, r2
    movs r6, r4
    eors r6, r1
    strb r5, [TABLE, r6]
    adds r4, 1
    cmp r4, 255
    bls 1b
    bx lr
.ltorg

#ifndef AES_MASKED_IN_ORDER
/* One layer of the network: exchange elements i and i + 8 at r1 where bit i of r3 is set, and put them to r2, one
 * behind the other. Changes r1 to r7. */
.type exchange, %function
.thumb_func
exchange:
    adds r7, r1, 7
1:  ldrb r4, [r1]
    ldrb r5, [r1, 8]
    lsrs r3, 1
    sbcs r6, r6
    eors r4, r5
    ands r6, r4
    eors r5, r6
    eors r4, r5
    strb r4, [r2]
    strb r5, [r2, 1]
    adds r1, 1
    adds r2, 2
    cmp r1, r7
    bls 1b
    bx lr

/* The second half of the state takes every second layer. */
.macro layer number, from, to
    point r1, RANDOM
    ldrb r3, [r1, RANDOM_ORDER + \number]
    point r1, \from
    point r2, \to
    bl exchange
.endm
#endif

/* TABLE: the structure. Registers r1 to r12 change. */
.global aes_masked_rounds
.type aes_masked_rounds, %function
.thumb_func
aes_masked_rounds:
    push {lr}
    /* the round keys: fresh masks */
    point r1, RANDOM
    point r2, ROUND_KEYS
    movs r5, 44
1:  ldr r4, [r1, RANDOM_KEYS]
    ldr r3, [r2]
    eors r3, r4
    stmia r2!, {r3}
    subs r5, 1
    bne 1b
    movs r3, 0
    ldr r4, [r1, RANDOM_KEYS]
    point r2, KEY_MASKS
    ldr r3, [r2]
    eors r3, r4
    str r3, [r2]

#ifndef AES_MASKED_IN_ORDER
    layer 0, ORDER, STATE + 16
    layer 1, STATE + 16, ORDER
    layer 2, ORDER, STATE + 16
    layer 3, STATE + 16, ORDER
#endif
    point r7, ORDER
    mov NUMBERS, r7

    point r7, RANDOM
    ldrb r1, [r7, RANDOM_IN]
    ldrb r2, [r7, RANDOM_OUT]
    bl make_table
    ldr r4, =0x01010101
    mov ONES, r4
    muls r1, r4
    muls r2, r4
    mov REMASK, r1
    mov UNMASK, r2
    ldr r2, [r7, RANDOM_ROWS]
    mov r4, UNMASK
    eors r4, r2
    mov UNMASK, r4
    mix
    point r7, KEY_MASKS
    ldr HIGH, [r7]
    mov r4, REMASK
    eors r4, r2
    eors r4, HIGH
    mov REMASK, r4

    point FROM, STATE
    movs TO, FROM
    adds TO, 16
    point KEYS, ROUND_KEYS
    movs SCRATCH, ROUND_KEYS_BYTES - 16
    adds SCRATCH, KEYS
    mov KEYS_END, SCRATCH
    first_key 0
    first_key 4
    first_key 8
    first_key 12
2:  substitute
    adds KEYS, 16
    cmp KEYS, KEYS_END
    bne 6f
    b 3f
6:  round_of 0, 0, 5, 10, 15
    round_of 4, 4, 9, 14, 3
    round_of 8, 8, 13, 2, 7
    round_of 12, 12, 1, 6, 11
    movs SCRATCH, 0
    .irp place, 0, 4, 8, 12
    str SCRATCH, [TO, \place]
    .endr
    b 2b

3:  last_round_of 0, 0, 5, 10, 15
    last_round_of 4, 4, 9, 14, 3
    last_round_of 8, 8, 13, 2, 7
    last_round_of 12, 12, 1, 6, 11
    pop {pc}
.size aes_masked_rounds, . - aes_masked_rounds
.ltorg

/* r0: the key's structure; r1: the block. */
.global aes_masked_encrypt
.type aes_masked_encrypt, %function
.thumb_func
aes_masked_encrypt:
    push {r1, r4-r7, lr}
    mov r4, r8
    mov r5, r9
    mov r6, r10
    mov r7, r11
    push {r4-r7}
    point r7, STATE
    point r2, RANDOM
    ldrb r5, [r2, RANDOM_IN]
    movs r4, 15
4:  ldrb r6, [r1, r4]
    eors r6, r5
    strb r6, [r7, r4]
    movs r6, 0
    subs r4, 1
    bpl 4b
    movs r3, 0 /* what the caller left there meets nothing */
    movs r5, 0
    .irp register, r8, r9, r10, r11, r12
    mov \register, r3
    .endr
    bl aes_masked_rounds
    point r2, RANDOM
    pop {r4-r7}
    mov r8, r4
    mov r9, r5
    mov r10, r6
    mov r11, r7
    pop {r1}
    ldr r4, [r2, RANDOM_ROWS]
    point r3, KEY_MASKS
    ldr r5, [r3]
    eors r5, r4
    point r7, STATE
    movs r4, 0
5:  ldrb r6, [r7, r4]
    eors r6, r5
    strb r6, [r1, r4]
    movs r3, 8
    rors r5, r3
    adds r4, 1
    cmp r4, 15
    bls 5b
    pop {r4-r7, pc}
.size aes_masked_encrypt, . - aes_masked_encrypt

/* TABLE: the structure, with the first round key behind its masks. Registers r1 to r12 change. */
#define WORD r2 /* of the key; SUBSTITUTED: that word, or a byte of the next */
#define SUBSTITUTED r4
#define OTHER r3
#define SHARE r5
#define MASKS r7 /* in memory, for a value between two words of the key on the bus */
#define TO_IN r8 /* from a word's masks to IN */
#define FROM_OUT r9 /* from OUT to a word's masks */
#define FROM_SUM r10 /* from the mask of a sum to a word's masks */
#define CONSTANT r11
#define KEY_END r12
.global aes_masked_schedule
.type aes_masked_schedule, %function
.thumb_func
aes_masked_schedule:
    push {lr}
    point r7, RANDOM
    ldrb r1, [r7, RANDOM_IN]
    ldrb r2, [r7, RANDOM_OUT]
    bl make_table
    ldr r4, =0x01010101
    muls r1, r4
    muls r2, r4
    point r3, KEY_MASKS
    ldr r3, [r3]
    eors r1, r3
    eors r2, r3
    mov TO_IN, r1
    mov FROM_OUT, r2
    ldr r4, [r7, RANDOM_ROWS]
    eors r4, r3
    mov FROM_SUM, r4
    movs r3, 1
    mov CONSTANT, r3
    adds MASKS, RANDOM_ROWS
    point KEYS, ROUND_KEYS
    movs r3, 160
    adds r3, KEYS
    mov KEY_END, r3
    ldr WORD, [KEYS, 12]
    ldr SHARE, [MASKS]
1:  movs r1, WORD /* the word, turned, behind IN */
    mov SCRATCH, TO_IN
    eors r1, SCRATCH
    movs SUBSTITUTED, 0
    movs WORD, 0
    .irp row, 1, 2, 3, 0
    lsrs OTHER, r1, 8 * \row
    uxtb OTHER, OTHER
    ldrb OTHER, [TABLE, OTHER]
    .if \row != 1
    lsls OTHER, OTHER, (8 * (\row - 1)) & 31
    .endif
    orrs SUBSTITUTED, OTHER
    movs OTHER, 0
    ldr SHARE, [MASKS]
    .endr
    mov r1, FROM_OUT
    eors SUBSTITUTED, r1
    mov WORD, SUBSTITUTED
    movs SUBSTITUTED, 0
    mov r1, CONSTANT
    eors WORD, r1
    lsls r1, 1
    lsrs OTHER, r1, 8
    beq 2f
    movs r1, 0x1b
2:  mov CONSTANT, r1
    movs r1, 4
3:  eors WORD, SHARE
    movs OTHER, 0
    ldr OTHER, [KEYS]
    ldr SHARE, [MASKS]
    eors WORD, OTHER
    mov SUBSTITUTED, FROM_SUM
    eors WORD, SUBSTITUTED
    str WORD, [KEYS, 16]
    ldr SHARE, [MASKS]
    adds KEYS, 4
    subs r1, 1
    bne 3b
    movs OTHER, 0
    cmp KEYS, KEY_END
    bne 1b
    movs WORD, 0
    pop {pc}
.size aes_masked_schedule, . - aes_masked_schedule
.ltorg

/* r0: the key's structure; r1: the key. */
.global aes_masked_expand
.type aes_masked_expand, %function
.thumb_func
aes_masked_expand:
    push {r4-r7, lr}
    mov r4, r8
    mov r5, r9
    mov r6, r10
    mov r7, r11
    push {r4-r7}
    point r7, RANDOM
    ldr r5, [r7, RANDOM_KEYS]
    point r6, KEY_MASKS
    str r5, [r6]
    point r7, ROUND_KEYS
    movs r4, 0
4:  ldrb r6, [r1, r4]
    eors r6, r5
    strb r6, [r7, r4]
    movs r6, 0
    movs r3, 8
    rors r5, r3
    adds r4, 1
    cmp r4, 15
    bls 4b
    movs r5, 0
    movs r3, 0
    .irp register, r8, r9, r10, r11, r12
    mov \register, r3
    .endr
    bl aes_masked_schedule
    pop {r4-r7}
    mov r8, r4
    mov r9, r5
    mov r10, r6
    mov r11, r7
    pop {r4-r7, pc}
.size aes_masked_expand, . - aes_masked_expand
