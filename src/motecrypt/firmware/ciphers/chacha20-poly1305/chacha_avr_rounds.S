/* chacha_avr_rounds.S: the rounds of ChaCha20 (RFC 8439, 2.3) for AVR, in assembly, for few cycles. See
 * chacha_avr.S.
 *
 * Six of the sixteen words fit into registers. Four of them are in a quarter round; the other two are those
 * that are needed soonest. So 22 words are read and written in two rounds, and not 32. Which word is where was
 * found by a search: the loop ends with the words where it began.
 *
 * The assembler keeps account of that: x5_0 is the register of the lowest byte of word 5, as long as it is in
 * registers. A rotation by 16 or 8 bits only changes this account. One by 12 is one by 8 and one by 4 bits, for
 * which each byte is multiplied by 16. One by 7 is one by 8 and one by a bit back.
 *
 * No branch and no address depends on key, nonce or message.
 */
#define FACTOR r30
#define LEFT r31

/* Read a word into two pairs of registers: `low` and the next one, `high` and the next one. */
.macro take word, low, high
    .set x\word\()_0, \low
    .set x\word\()_1, \low + 1
    .set x\word\()_2, \high
    .set x\word\()_3, \high + 1
    .irp i, 0, 1, 2, 3
    ldd x\word\()_\i, Y + 4 * \word + \i
    .endr
.endm

.macro put_one word
    .irp i, 0, 1, 2, 3
    std Y + 4 * \word + \i, x\word\()_\i
    .endr
.endm

.macro put words:vararg
    .irp word, \words
    put_one \word
    .endr
.endm

.macro sum_word to, by
    add x\to\()_0, x\by\()_0
    adc x\to\()_1, x\by\()_1
    adc x\to\()_2, x\by\()_2
    adc x\to\()_3, x\by\()_3
.endm

.macro eor_word to, by
    .irp i, 0, 1, 2, 3
    eor x\to\()_\i, x\by\()_\i
    .endr
.endm

/* Byte 0 of the word is now where b0 says, and so on. */
.macro account word, b0, b1, b2, b3
    .set to_0, \b0
    .set to_1, \b1
    .set to_2, \b2
    .set to_3, \b3
    .irp i, 0, 1, 2, 3
    .set x\word\()_\i, to_\i
    .endr
.endm

/* The account at the end of the loop must be the one at its beginning. */
.macro expect word, b0, b1, b2, b3
    .if (x\word\()_0 - \b0) | (x\word\()_1 - \b1) | (x\word\()_2 - \b2) | (x\word\()_3 - \b3)
    .error "a word is not where the loop began with it"
    .endif
.endm

.macro turn_16 w
    account \w, x\w\()_2, x\w\()_3, x\w\()_0, x\w\()_1
.endm

.macro turn_8 w
    account \w, x\w\()_3, x\w\()_0, x\w\()_1, x\w\()_2
.endm

/* The free pair takes the lower half of the result, and the lower half of the word is free afterwards. */
.macro turn_4 w
    mul x\w\()_0, FACTOR
    movw free, r0
    mul x\w\()_3, FACTOR
    or free, r1
    mov x\w\()_3, r0
    mul x\w\()_2, FACTOR
    or x\w\()_3, r1
    mov x\w\()_2, r0
    mul x\w\()_1, FACTOR
    or free + 1, r0
    or x\w\()_2, r1
    .set freed, x\w\()_0
    account \w, free, free + 1, x\w\()_2, x\w\()_3
    .set free, freed
.endm

.macro turn_back_1 w
    bst x\w\()_0, 0
    lsr x\w\()_3
    ror x\w\()_2
    ror x\w\()_1
    ror x\w\()_0
    bld x\w\()_3, 7
.endm

/* Section 2.1. Words a, c and d stay in their registers, b moves by half into the free pair. */
.macro quarter a, b, c, d
    sum_word \a, \b
    eor_word \d, \a
    turn_16 \d
    sum_word \c, \d
    eor_word \b, \c
    turn_4 \b
    turn_8 \b
    sum_word \a, \b
    eor_word \d, \a
    turn_8 \d
    sum_word \c, \d
    eor_word \b, \c
    turn_back_1 \b
    turn_8 \b
.endm

.macro constant word, value
    .irp i, 0, 1, 2, 3
    ldi r18, (\value >> (8 * \i)) & 0xff
    std Y + 4 * \word + \i, r18
    .endr
.endm

.macro sum_constant value
    .irp i, 0, 1, 2, 3
    ld r18, Y
    .if \i == 0
    subi r18, lo8(-(\value))
    .else
    sbci r18, (-(\value) >> (8 * \i)) & 0xff
    .endif
    st Y+, r18
    .endr
.endm

    .text
    .global chacha20_rounds
    .type chacha20_rounds, @function
chacha20_rounds:
    constant 0, 0x61707865
    constant 1, 0x3320646e
    constant 2, 0x79622d32
    constant 3, 0x6b206574
    ldi FACTOR, 1 << 4
    ldi LEFT, 11

/* Five words are in registers where the loop begins and ends. */
    .set free, 8
    account 0, 16, 17, 20, 21
    account 4, 22, 23, 4, 5
    account 8, 14, 15, 26, 27
    account 9, 10, 11, 24, 25
    account 14, 7, 2, 3, 6
    .irp word, 0, 4, 8, 9, 14
    .irp i, 0, 1, 2, 3
    ldd x\word\()_\i, Y + 4 * \word + \i
    .endr
    .endr
    rjmp columns
sum_constants:
    sum_constant 0x61707865
    sum_constant 0x3320646e
    sum_constant 0x79622d32
    sum_constant 0x6b206574
    ret
rounds_done:
    put 0, 4, 8, 9, 14
    rjmp sum_constants
columns:
    dec LEFT
    breq rounds_done

    take 12, 18, 12
    quarter 0, 4, 8, 12
    put 4, 8, 12

    take 1, 26, 14
    take 5, 18, 12
    take 13, 4, 8
    quarter 1, 5, 9, 13
    put 1, 9, 13

    take 2, 8, 24
    take 6, 14, 26
    take 10, 4, 10
    quarter 2, 6, 10, 14
    put 2, 6, 10, 14

    .set free, 6 /* several pairs are free here */
    take 3, 14, 10
    take 7, 2, 4
    take 11, 26, 8
    take 15, 18, 24
    quarter 3, 7, 11, 15
    put 3

    take 10, 14, 10
    quarter 0, 5, 10, 15
    put 5, 10, 15

    take 1, 2, 22
    take 6, 24, 14
    take 12, 10, 18
    quarter 1, 6, 11, 12
    put 1, 6, 11

    take 2, 2, 22
    take 8, 14, 26
    take 13, 8, 12
    quarter 2, 7, 8, 13
    put 2, 7, 12, 13

    take 3, 18, 12
    take 4, 8, 22
    take 9, 10, 24
    take 14, 6, 2
    quarter 3, 4, 9, 14
    put 3
    expect 0, 16, 17, 20, 21
    expect 4, 22, 23, 4, 5
    expect 8, 14, 15, 26, 27
    expect 9, 10, 11, 24, 25
    expect 14, 7, 2, 3, 6
    .if free - 8
    .error "another pair is free than the one with which the loop began"
    .endif
    rjmp columns
    .size chacha20_rounds, . - chacha20_rounds
