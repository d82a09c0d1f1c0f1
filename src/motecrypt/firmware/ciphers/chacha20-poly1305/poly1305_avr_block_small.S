/* poly1305_avr_block_small.S: a block of Poly1305 (RFC 8439, 2.5) for AVR, in assembly, for little flash. See
 * poly1305_avr.S.
 *
 * The product of the sum, 17 bytes, and the multiplier r, 16 bytes, is made by `multiply` in two halves: eight
 * bytes of r stay in registers, and the bytes of the sum pass by. Ten registers hold the part of the product
 * that a row can still change. A row is two chains of carries: the products with even bytes of r do not overlap,
 * nor do those with odd bytes. Two rows make a turn of the loop, so that moving on is a matter of pairs.
 *
 * No branch and no address depends on key or message.
 */
#define SUM_AT 32
#define SUM_BYTES 17

/* In `multiply`: half of r, the window of the product, products that wait for their chain. */
#define R(i) (2 + (i))
#define W(i) (10 + (i))
#define T0 r20
#define T1 r21
#define T2 r22
#define T3 r23
#define T4 r24
#define T5 r25
#define BYTE r26
#define LEFT r27

/* Add r times BYTE to the window, `at` bytes above its beginning. The window's byte 8 above that is zero. */
.macro row at
    mul R(0), BYTE
    movw T0, r0
    mul R(2), BYTE
    movw T2, r0
    mul R(4), BYTE
    movw T4, r0
    mul R(6), BYTE
    add W(\at), T0
    adc W(\at + 1), T1
    adc W(\at + 2), T2
    adc W(\at + 3), T3
    adc W(\at + 4), T4
    adc W(\at + 5), T5
    adc W(\at + 6), r0
    adc W(\at + 7), r1
    adc W(\at + 8), W(\at + 8)
    mul R(1), BYTE
    movw T0, r0
    mul R(3), BYTE
    movw T2, r0
    mul R(5), BYTE
    movw T4, r0
    mul R(7), BYTE
    add W(\at + 1), T0
    adc W(\at + 2), T1
    adc W(\at + 3), T2
    adc W(\at + 4), T3
    adc W(\at + 5), T4
    adc W(\at + 6), T5
    adc W(\at + 7), r0
    adc W(\at + 8), r1 /* no carry: window and row are below 2^72 */
.endm

    .text

/* The sum at Y times eight bytes of r at X. A zero and the lowest 17 bytes go to Z, the others stay in the
 * window. Y and Z move on. The first turn has no first row. */
multiply:
    .irp i, 0, 1, 2, 3, 4, 5, 6, 7
    ld R(\i), X+
    .endr
    clr W(0)
    clr W(1)
    movw W(2), W(0)
    movw W(4), W(0)
    movw W(6), W(0)
    movw W(8), W(0)
    ldi LEFT, (SUM_BYTES + 1) / 2
    rjmp second_row
first_row:
    ld BYTE, Y+
    row 0
second_row:
    ld BYTE, Y+
    row 1
    st Z+, W(0)
    st Z+, W(1)
    movw W(0), W(2)
    movw W(2), W(4)
    movw W(4), W(6)
    movw W(6), W(8)
    clr W(8)
    clr W(9)
    dec LEFT
    breq multiplied
    rjmp first_row
multiplied:
    ret

/* poly1305_block(state in r24, block in r22) */
    .global poly1305_block
    .type poly1305_block, @function
poly1305_block:
    .irp i, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 28, 29
    push \i
    .endr
    movw r26, r22
    movw r28, r24
    adiw r28, SUM_AT
    ldi r18, 4
    clc
add_word:
    .rept 4
    ld r0, Y
    ld r1, X+
    adc r0, r1
    st Y+, r0
    .endr
    dec r18
    brne add_word
    ld r0, Y
    ldi r18, 1
    adc r0, r18
    st Y+, r0

    movw r30, r28 /* the product, right behind the sum */
    movw r26, r24
    sbiw r28, SUM_BYTES
    rcall multiply
    .irp i, 0, 1, 2, 3, 4, 5, 6, 7
    st Z+, W(\i)
    .endr
    sbiw r28, SUM_BYTES
    movw r26, r28
    sbiw r26, SUM_AT - 8
    rcall multiply
    sbiw r28, SUM_BYTES

/* From Y on: the sum; a zero and the lower product P of 25 bytes; a zero and the lowest 17 bytes of the upper
 * product Q. The window has the other bytes of Q; the highest, W(7), is zero, since the product, P + 2^64 Q,
 * is below 2^255. */
#define P(i) (SUM_BYTES + 1 + (i))
#define Q(i) (SUM_BYTES + 27 + (i))
#define ZERO W(7)
#define ABOVE(i) (1 + (i)) /* what counts 2^128: W(0) is ABOVE(9) already */
#define MIDDLE(i) (18 + (i)) /* bytes 8 to 15 of the product */
#define LOW0 r26
#define LOW1 r27
#define LOW2 r31
#define TOP r30
    ldd MIDDLE(0), Y + P(8)
    ldd r0, Y + Q(0)
    add MIDDLE(0), r0
    .irp i, 1, 2, 3, 4, 5, 6, 7
    ldd MIDDLE(\i), Y + P(8 + \i)
    ldd r0, Y + Q(\i)
    adc MIDDLE(\i), r0
    .endr
    .irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8
    ldd ABOVE(\i), Y + P(16 + \i)
    ldd r0, Y + Q(8 + \i)
    adc ABOVE(\i), r0
    .endr
    .irp i, 9, 10, 11, 12, 13, 14, 15
    adc ABOVE(\i), ZERO
    .endr

/* 2^130 counts as 5 = 4 + 1: the part above it, times 4, is ABOVE without its lowest two bits. */
    mov TOP, ABOVE(0)
    andi TOP, 0x03
    mov LOW2, ABOVE(0)
    andi LOW2, 0xfc
    ldd LOW0, Y + P(0)
    add LOW0, LOW2
    ldd LOW1, Y + P(1)
    adc LOW1, ABOVE(1)
    ldd LOW2, Y + P(2)
    adc LOW2, ABOVE(2)
    .irp i, 3, 4, 5, 6, 7
    ldd r0, Y + P(\i)
    adc r0, ABOVE(\i)
    std Y + P(\i), r0
    .endr
    .irp i, 0, 1, 2, 3, 4, 5, 6, 7
    adc MIDDLE(\i), ABOVE(8 + \i)
    .endr
    adc TOP, ZERO
    .rept 2
    lsr ABOVE(15)
    .irp i, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0
    ror ABOVE(\i)
    .endr
    .endr
    add LOW0, ABOVE(0)
    std Y + 0, LOW0
    adc LOW1, ABOVE(1)
    std Y + 1, LOW1
    adc LOW2, ABOVE(2)
    std Y + 2, LOW2
    .irp i, 3, 4, 5, 6, 7
    ldd r0, Y + P(\i)
    adc r0, ABOVE(\i)
    std Y + \i, r0
    .endr
    .irp i, 0, 1, 2, 3, 4, 5, 6, 7
    adc MIDDLE(\i), ABOVE(8 + \i)
    std Y + 8 + \i, MIDDLE(\i)
    .endr
    adc TOP, ZERO
    std Y + 16, TOP
    clr r1
    .irp i, 29, 28, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2
    pop \i
    .endr
    ret
    .size poly1305_block, . - poly1305_block
