/* aes_armv7m_fixsliced_parts.S: what the files of the fixsliced AES share (aes_armv7m_fixsliced.S): offsets and
 * macros, no code of its own. Each includes it.
 */
    .syntax unified
    .thumb

#ifndef CIPHER_KEY_BYTES_MAX
#define CIPHER_KEY_BYTES_MAX 32 /* as in cipher.h */
#endif

/* struct block_key */
#if CIPHER_KEY_BYTES_MAX > 16
#define AT_KEYS 4
#else
#define AT_KEYS 0
#endif
#define ROUND_KEY_BYTES 32

/* On the stack, while blocks are encrypted and keys are made: values of the S-box, then */
#define RETURN 32 /* of the S-box */
#define KEYS 36   /* the next round key */
#define LAST 40   /* the last one */
#define BEFORE 44 /* bytes before that */
#define FRAME 48

.macro function name
    .section .text.\name, "ax", %progbits
    .balign 4
    .type \name, %function
    .thumb_func
\name:
.endm

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

/* For shift_rows: SEL takes rows 1 and 3 from its first operand. */
.macro select_odd_rows
    mov r1, #0xff00ff00
    uadd8 r1, r1, r1
.endm

/* ShiftRows of a block of words; changes r1 and r2. */
.macro shift_rows c0, c1, c2, c3
    pkhbt r1, \c0, \c2 /* rows 2 and 3 by two columns */
    pkhbt \c2, \c2, \c0
    pkhbt r2, \c1, \c3
    pkhbt \c3, \c3, \c1
    sel \c0, r2, r1 /* rows 1 and 3 by one */
    sel \c1, \c2, r2
    sel \c2, \c3, \c2
    sel \c3, r1, \c3
.endm

/* What the next row has `shift` columns on, yet to be rotated by 8 + 2 * shift. */
.macro next_row to, from, shift
    and \to, \from, #(0x01010101 << (2 * \shift)) - 0x01010101
    eor \to, \to, \to, ror #24
    eor \to, \from, \to
.endm

/* Bit i of mixed columns, in place. `own`, `below`, r0: rows and next rows added, bits i, i - 1 and 7. */
.macro mix_bit shift, x, below, own, reduced
    .if \shift == 0
    .ifnc \own, r0
    eor \own, \x, \x, ror #8
    .endif
    eor \x, \below, \x, ror #8
    eor \x, \x, \own, ror #16
    .else
    .ifnc \own, r0
    next_row r3, \x, \shift
    eor \own, \x, r3, ror #(8 + 2 * \shift)
    eor \x, \below, r3, ror #(8 + 2 * \shift)
    .else
    eor \x, \x, \own
    eor \x, \x, \below
    .endif
    .if \shift == 2
    eor \x, \x, \own, ror #16
    .else
    and r12, \own, #0x0f0f0f0f
    eor r12, r12, r12, ror #24
    eor r12, \own, r12
    eor \x, \x, r12, ror #20
    .endif
    .endif
    .if \reduced
    eor \x, \x, r0
    .endif
.endm

.macro mix_columns shift
    .if \shift == 0
    eor r0, r11, r11, ror #8
    .else
    next_row r3, r11, \shift
    eor r0, r11, r3, ror #(8 + 2 * \shift)
    .endif
    mix_bit \shift, r4, r0, r1, 0
    mix_bit \shift, r5, r1, r2, 1
    mix_bit \shift, r6, r2, r1, 0
    mix_bit \shift, r7, r1, r2, 1
    mix_bit \shift, r8, r2, r1, 1
    mix_bit \shift, r9, r1, r2, 0
    mix_bit \shift, r10, r2, r1, 0
    mix_bit \shift, r11, r1, r0, 0
.endm
