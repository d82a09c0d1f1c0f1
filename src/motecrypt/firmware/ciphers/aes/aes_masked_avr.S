/* aes_masked_avr.S: the masked AES-128 for AVR; see aes_masked.h.
 *
 * Masks of a block: IN on each byte in front of the S-box, OUT behind it, ROW0 to ROW3 on the rows while columns are
 * mixed, KEY0 to KEY3 on the rows of all round keys. Bytes of a column need masks of their own, because their sums are
 * taken. Mixing turns the ROW masks into others (the same columns of masks, mixed); with a round key the KEY
 * masks are added; REMASK brings IN back.
 *
 * The S-box replaces the bytes of the state in memory, in the order of a permutation. A network of 32 exchanges, each
 * with a random bit, changes it for each block: a byte is then at each of the 16 places with the same
 * probability. With AES_MASKED_IN_ORDER the order never changes.
 *
 * Two values behind one mask must never meet: their difference has no mask. On an AVR they meet where a register is
 * overwritten, on the bus from one access of memory to the next, and in the address of the accesses. Therefore:
 *
 * - between two bytes behind IN or OUT, a byte of a round key, a mask or a number of the order is on the bus;
 * - bytes of one row of round keys never follow each other;
 * - a register gets no value behind the mask of the value that it holds, or it is cleared before.
 *
 * No branch and no loop count depends on the key, the message or the masks.
 */

/* struct block_key, from its second page on */
#define STATE 0
#define ORDER 16
#define ROW_MASKS 32
#define KEY_MASKS 36
#define RANDOM 40
#define RANDOM_KEYS RANDOM
#define RANDOM_ROWS (RANDOM + 4)
#define RANDOM_IN (RANDOM + 8)
#define RANDOM_OUT (RANDOM + 9)
#define RANDOM_ORDER (RANDOM + 12)
#define ROUND_KEYS 56

/* X: round keys. Y: the structure's second page. Z: the table. */
#define KEYS_LOW r26
#define TABLE_LOW r30
#define TABLE_HIGH r31

#define REMASK0 r16 /* from a mixed row's mask, and its round key's, to IN */
#define REMASK1 r17
#define REMASK2 r18
#define REMASK3 r19
#define KEY_BYTE r20
#define PAIR r20
#define COUNT r21
#define BYTE r22
#define MASK r23
#define ALL r24
#define FIRST r25
#define CARRY r30

/* SubBytes in the order of the permutation. */
.macro substitute
    mov MASK, KEYS_LOW
    ldi KEYS_LOW, ORDER
    ldi COUNT, 16
5:  ld r28, X+
    ld BYTE, Y
    mov TABLE_LOW, BYTE
    ld BYTE, Z
    st Y, BYTE
    clr BYTE
    clr TABLE_LOW
    dec COUNT
    brne 5b
    clr r28
    mov KEYS_LOW, MASK
.endm

/* ShiftRows while bytes are loaded; each gets its row's mask. */
.macro take number, place, row
    ldd r\number, Y + STATE + \place
    ldd MASK, Y + ROW_MASKS + \row
    eor r\number, MASK
.endm

.macro shift
    ldd MASK, Y + ROW_MASKS
    take 0, 0, 0
    take 1, 5, 1
    take 2, 10, 2
    take 3, 15, 3
    take 4, 4, 0
    take 5, 9, 1
    take 6, 14, 2
    take 7, 3, 3
    take 8, 8, 0
    take 9, 13, 1
    take 10, 2, 2
    take 11, 7, 3
    take 12, 12, 0
    take 13, 1, 1
    take 14, 6, 2
    take 15, 11, 3
.endm

/* \byte = 2 (\byte ^ \next) ^ \byte ^ ALL in GF(2^8). */
.macro mix_byte byte, next
    mov PAIR, \byte
    eor PAIR, \next
    lsl PAIR
    sbc CARRY, CARRY
    andi CARRY, 0x1b
    eor PAIR, CARRY
    eor \byte, PAIR
    eor \byte, ALL
.endm

.macro mix_column a, b, c, d
    mov ALL, \a
    eor ALL, \b
    eor ALL, \c
    eor ALL, \d
    mov FIRST, \a
    mix_byte \a, \b
    mix_byte \b, \c
    mix_byte \c, \d
    mix_byte \d, FIRST
    clr FIRST /* the next column's first byte has the same mask */
.endm

.macro add_key number, remask
    ld KEY_BYTE, X+
    eor r\number, KEY_BYTE
    eor r\number, \remask
    std Y + STATE + \number, r\number
.endm

.macro add_last_key number
    ld KEY_BYTE, X+
    eor r\number, KEY_BYTE
    std Y + STATE + \number, r\number
.endm

.macro add_first_key number, row
    ldd MASK, Y + KEY_MASKS + \row
    ldd BYTE, Y + STATE + \number
    ld KEY_BYTE, X+
    eor BYTE, KEY_BYTE
    eor BYTE, MASK
    std Y + STATE + \number, TABLE_LOW /* zero: both values are behind IN */
    std Y + STATE + \number, BYTE
    clr BYTE
.endm

.section .progmem.data, "a", @progbits
.global aes_masked_sbox
.type aes_masked_sbox, @object
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

.section .text.aes_masked, "ax", @progbits

/* Write the S-box behind the masks in r18 (in front) and r19 (behind). Changes r20 to r22, r26, r27, Z. */
make_table:
    ldi r30, lo8(aes_masked_sbox)
    ldi r31, hi8(aes_masked_sbox)
    mov r27, r29
    dec r27
    clr r21
1:  lpm r20, Z+
    eor r20, r19
    mov r26, r21
    eor r26, r18
    st X, r20
    inc r21
    brne 1b
    mov TABLE_HIGH, r27
    ret

#ifndef AES_MASKED_IN_ORDER
/* One layer of the network: exchange elements i and i + 8 at Z where bit i of r22 is set, and put them to X, one
 * behind the other. Changes r20 to r25. */
exchange:
    ldi r21, 8
1:  ld r20, Z+
    ldd r23, Z + 7
    mov r24, r20
    eor r24, r23
    lsr r22
    sbc r25, r25
    and r24, r25
    eor r20, r24
    eor r23, r24
    st X+, r20
    st X+, r23
    dec r21
    brne 1b
    ret

/* The first places of the table, which is made later, take every second layer. */
.macro layer number, from, from_page, to, to_page
    ldd r22, Y + RANDOM_ORDER + \number
    ldi r30, \from
    mov r31, \from_page
    ldi r26, \to
    mov r27, \to_page
    rcall exchange
.endm
#endif

/* Y: the structure's second page. All registers but Y change. */
.global aes_masked_rounds
.type aes_masked_rounds, @function
aes_masked_rounds:
    /* the round keys: fresh masks */
    ldd r16, Y + RANDOM_KEYS + 0
    ldd r17, Y + RANDOM_KEYS + 1
    ldd r18, Y + RANDOM_KEYS + 2
    ldd r19, Y + RANDOM_KEYS + 3
    ldi r26, ROUND_KEYS
    mov r27, r29
    ldi COUNT, 44
1:  .irp row, 0, 1, 2, 3
    ld r\row, X
    eor r\row, 16 + \row
    st X+, r\row
    .endr
    dec COUNT
    brne 1b
    .irp row, 0, 1, 2, 3
    clr r\row
    .endr
    .irp row, 0, 1, 2, 3
    ldd MASK, Y + KEY_MASKS + \row
    eor MASK, 16 + \row
    std Y + KEY_MASKS + \row, MASK
    .endr

#ifndef AES_MASKED_IN_ORDER
    mov r16, r29
    dec r16
    layer 0, ORDER, r29, 0, r16
    layer 1, 0, r16, ORDER, r29
    layer 2, ORDER, r29, 0, r16
    layer 3, 0, r16, ORDER, r29
#endif

    ldd r18, Y + RANDOM_IN
    ldd r19, Y + RANDOM_OUT
    rcall make_table
    .irp row, 0, 1, 2, 3
    ldd r\row, Y + RANDOM_ROWS + \row
    mov MASK, r\row
    eor MASK, r19
    std Y + ROW_MASKS + \row, MASK
    .endr
    mix_column r0, r1, r2, r3
    .irp row, 0, 1, 2, 3
    eor r\row, r18
    ldd MASK, Y + KEY_MASKS + \row
    eor r\row, MASK
    .endr
    movw r16, r0
    movw r18, r2
    clr PAIR
    clr ALL
    clr TABLE_LOW

    ldi KEYS_LOW, ROUND_KEYS
    mov r27, r29
    .irp column, 0, 4, 8, 12
    add_first_key (\column + 0), 0
    add_first_key (\column + 1), 1
    add_first_key (\column + 2), 2
    add_first_key (\column + 3), 3
    .endr
    clr MASK

2:  substitute
    shift
    cpi KEYS_LOW, ROUND_KEYS + 160
    brne 3f
    rjmp 4f
3:  mix_column r0, r1, r2, r3
    mix_column r4, r5, r6, r7
    mix_column r8, r9, r10, r11
    mix_column r12, r13, r14, r15
    clr PAIR
    clr ALL
    clr CARRY
    add_key 0, REMASK0
    add_key 1, REMASK1
    add_key 2, REMASK2
    add_key 3, REMASK3
    add_key 4, REMASK0
    add_key 5, REMASK1
    add_key 6, REMASK2
    add_key 7, REMASK3
    add_key 8, REMASK0
    add_key 9, REMASK1
    add_key 10, REMASK2
    add_key 11, REMASK3
    add_key 12, REMASK0
    add_key 13, REMASK1
    add_key 14, REMASK2
    add_key 15, REMASK3
    clr KEY_BYTE
    rjmp 2b

4:  .irp number, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    add_last_key \number
    .endr
    clr KEY_BYTE
    ret
.size aes_masked_rounds, . - aes_masked_rounds

/* r25:r24: the key's structure; r23:r22: the block. */
.global aes_masked_encrypt
.type aes_masked_encrypt, @function
aes_masked_encrypt:
    .irp register, r2, r3, r4, r5, r6, r7, r8, r9, r10, r11, r12, r13, r14, r15, r16, r17, r28, r29
    push \register
    .endr
    movw r28, r24
    inc r29 /* past the table */
    movw r26, r22
    ldd r18, Y + RANDOM_IN
    mov r31, r29
    ldi r30, STATE
    ldi r25, 16
1:  ld r19, X+
    eor r19, r18
    st Z+, r19
    clr r19
    dec r25
    brne 1b
    push r22
    push r23
    .irp register, r0, r1, r2, r3, r20, r21 /* what the caller left there meets nothing */
    clr \register
    .endr
    rcall aes_masked_rounds
    pop r27
    pop r26
    mov r31, r29
    ldi r30, STATE
    ldi r25, 4
2:  .irp row, 0, 1, 2, 3
    ld r19, Z+
    ldd r18, Y + RANDOM_ROWS + \row
    eor r19, r18
    ldd r18, Y + KEY_MASKS + \row
    eor r19, r18
    st X+, r19
    .endr
    dec r25
    breq 3f
    rjmp 2b
3:  clr r1 /* as avr-gcc expects */
    .irp register, r29, r28, r17, r16, r15, r14, r13, r12, r11, r10, r9, r8, r7, r6, r5, r4, r3, r2
    pop \register
    .endr
    ret
.size aes_masked_encrypt, . - aes_masked_encrypt

/* Y: the structure's second page, with the first round key behind its masks. Registers but Y change. */
#define S_MASK r19 /* of a word of the key while its sum is taken */
#define CONSTANT r25
.global aes_masked_schedule
.type aes_masked_schedule, @function
aes_masked_schedule:
    ldd r18, Y + RANDOM_IN
    ldd r19, Y + RANDOM_OUT
    rcall make_table
    .irp row, 0, 1, 2, 3
    ldd r20, Y + KEY_MASKS + \row
    mov 8 + \row, r20
    eor 8 + \row, r18 /* from a row's mask to IN */
    mov 12 + \row, r20
    eor 12 + \row, r19 /* from OUT to a row's mask */
    .endr
    ldd r19, Y + RANDOM_ROWS
    .irp row, 0, 1, 2, 3
    ldd 20 + \row, Y + KEY_MASKS + \row
    eor 20 + \row, S_MASK
    .endr
    ldi CONSTANT, 1
    clr TABLE_LOW
    ldi r28, ROUND_KEYS
    .irp row, 0, 1, 2, 3
    ldd r\row, Y + 12 + \row
    .endr
1:  .irp row, 0, 1, 2, 3
    mov TABLE_LOW, (\row + 1) & 3
    eor TABLE_LOW, 8 + ((\row + 1) & 3)
    ld 4 + \row, Z
    eor 4 + \row, 12 + \row
    clr TABLE_LOW
    ld r24, Y
    .endr
    eor r4, CONSTANT
    lsl CONSTANT
    brcc 2f
    ldi CONSTANT, 0x1b
2:  .irp row, 0, 1, 2, 3
    clr r\row
    mov r\row, 4 + \row
    .endr
    ldi r18, 4
3:  .irp row, 0, 1, 2, 3
    eor r\row, S_MASK
    ldd r24, Y + \row
    eor r\row, r24
    eor r\row, 20 + \row
    .endr
    .irp row, 0, 1, 2, 3
    std Y + 16 + \row, r\row
    .endr
    subi r28, -4
    dec r18
    brne 3b
    cpi r28, ROUND_KEYS + 160
    brne 1b
    .irp row, 0, 1, 2, 3
    clr r\row
    clr 4 + \row
    .endr
    clr r24
    clr r28
    ret
.size aes_masked_schedule, . - aes_masked_schedule

/* r25:r24: the key's structure; r23:r22: the key. */
.global aes_masked_expand
.type aes_masked_expand, @function
aes_masked_expand:
    .irp register, r2, r3, r4, r5, r6, r7, r8, r9, r10, r11, r12, r13, r14, r15, r16, r17, r28, r29
    push \register
    .endr
    movw r28, r24
    inc r29
    .irp row, 0, 1, 2, 3
    ldd 16 + \row, Y + RANDOM_KEYS + \row
    std Y + KEY_MASKS + \row, 16 + \row
    .endr
    movw r26, r22
    mov r31, r29
    ldi r30, ROUND_KEYS
    ldi r24, 4
1:  .irp row, 0, 1, 2, 3
    ld r0, X+
    eor r0, 16 + \row
    st Z+, r0
    clr r0
    .endr
    dec r24
    brne 1b
    clr r20
    clr r21
    rcall aes_masked_schedule
    clr r1
    .irp register, r29, r28, r17, r16, r15, r14, r13, r12, r11, r10, r9, r8, r7, r6, r5, r4, r3, r2
    pop \register
    .endr
    ret
.size aes_masked_expand, . - aes_masked_expand
