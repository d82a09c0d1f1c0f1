/* chacha_avr_rounds_small.S: the rounds of ChaCha20 (RFC 8439, 2.3) for AVR, in assembly, for little flash.
 * See chacha_avr.S.
 *
 * All quarter rounds use one body of code, on four words in registers. They differ in where the words come from.
 * A rotation by 16 or 8 bits only renames registers: a word that was rotated by n bytes has its byte i in register
 * i - n of its four. One by 12 is one by 8 and one by 4 bits, for which each byte is multiplied by 16. One by 7 is
 * one by 8 and one by a bit back.
 *
 * No branch and no address depends on key, nonce or message.
 */
#define A 2
#define B 6
#define C 10
#define D 14
#define NEW 18 /* b from its first rotation on */
#define FACTOR r22
#define LEFT r23 /* double rounds */
#define COLUMN r24

/* Byte i of `to` is in register i - to_by, that of `by` in register i - by_by. */
.macro add_word to, by, by_by
    add \to, \by + ((0 - \by_by) & 3)
    adc \to + 1, \by + ((1 - \by_by) & 3)
    adc \to + 2, \by + ((2 - \by_by) & 3)
    adc \to + 3, \by + ((3 - \by_by) & 3)
.endm

.macro eor_word to, to_by, by
    .irp i, 0, 1, 2, 3
    eor \to + ((\i - \to_by) & 3), \by + \i
    .endr
.endm

/* Byte i of the word goes to Y + at + i, or comes from there. */
.macro load_word to, at
    .irp i, 0, 1, 2, 3
    ldd \to + \i, Y + (\at) + \i
    .endr
.endm

.macro store_word at, from, from_by
    .irp i, 0, 1, 2, 3
    std Y + (\at) + \i, \from + ((\i - \from_by) & 3)
    .endr
.endm

.macro quarter a, b, c, d
    load_word A, 4 * (\a)
    load_word B, 4 * (\b)
    load_word C, 4 * (\c)
    load_word D, 4 * (\d)
    rcall quarter_round
    store_word 4 * (\a), A, 0
    store_word 4 * (\b), NEW, 2
    store_word 4 * (\c), C, 0
    store_word 4 * (\d), D, 3
.endm

    .section .progmem.data.chacha_avr_small, "a", @progbits
constants:
    .ascii "expand 32-byte k"

    .text

/* Section 2.1. */
quarter_round:
    add_word A, B, 0
    eor_word D, 0, A
    add_word C, D, 2
    eor_word B, 0, C
    mul B, FACTOR
    movw NEW, r0
    mul B + 2, FACTOR
    movw NEW + 2, r0
    mul B + 1, FACTOR
    or NEW + 1, r0
    or NEW + 2, r1
    mul B + 3, FACTOR
    or NEW + 3, r0
    or NEW, r1
    add_word A, NEW, 1
    eor_word D, 2, A
    add_word C, D, 3
    eor_word NEW, 1, C
    bst NEW + 3, 0
    lsr NEW + 2
    ror NEW + 1
    ror NEW
    ror NEW + 3
    bld NEW + 2, 7
    ret

    .global chacha20_rounds
    .type chacha20_rounds, @function
chacha20_rounds:
    ldi r30, lo8(constants)
    ldi r31, hi8(constants)
    ldi r18, 16
copy_constant:
    lpm r0, Z+
    st Y+, r0
    dec r18
    brne copy_constant
    sbiw r28, 16
    ldi FACTOR, 1 << 4
    ldi LEFT, 10
double_round:
    ldi COLUMN, 4
columns:
    quarter 0, 4, 8, 12
    adiw r28, 4
    dec COLUMN
    brne columns
    sbiw r28, 16
    quarter 0, 5, 10, 15
    quarter 1, 6, 11, 12
    quarter 2, 7, 8, 13
    quarter 3, 4, 9, 14
    dec LEFT
    breq rounds_done
    rjmp double_round
rounds_done:
    sbiw r30, 16
    ldi r18, 4
sum_constant:
    clc
    .rept 4
    lpm r0, Z+
    ld r1, Y
    adc r0, r1
    st Y+, r0
    .endr
    dec r18
    brne sum_constant
    ret
    .size chacha20_rounds, . - chacha20_rounds
