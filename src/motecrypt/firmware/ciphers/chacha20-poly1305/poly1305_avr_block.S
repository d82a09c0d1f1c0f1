/* poly1305_avr_block.S: a block of Poly1305 (RFC 8439, 2.5) for AVR, in assembly, for few cycles. See
 * poly1305_avr.S.
 *
 * The sum h = h0 + 2^64 h1, of 17 bytes, is multiplied by r = r0 + 2^64 r1 with three products instead of four
 * (Karatsuba): high = h1 r1, low = h0 r0 and both = (h0 + h1)(r0 + r1). The middle one is both - high - low.
 * Since r is clamped, r0 and r1 are below 2^60, so their sum has eight bytes. h1 and h0 + h1 have nine.
 *
 * In a product, eight bytes stay in registers, and the bytes of the other factor pass by. Nine registers hold the
 * part of the product that a row can still change. A row is two chains of carries: the products with even bytes
 * of r do not overlap, nor do those with odd bytes.
 *
 * No branch and no address depends on key or message.
 */
#define SUM_AT 32
#define SUM_BYTES 17

/* Behind the sum: h0 + h1; high; low; the lowest nine bytes of `both`. */
#define FOLDED_AT 17
#define HIGH_AT 26
#define LOW_AT 42
#define BOTH_AT 58

/* In a product: the factor that stays, the window, products that wait for their chain. */
#define R(i) (2 + (i))
#define W(i) (10 + (i) % 9)
#define BYTE r19
#define T0 r20
#define T1 r21
#define T2 r22
#define T3 r23
#define T4 r24
#define T5 r25

/* Row i: add the factor times the next byte to the window, whose byte i + 8 is zero; then byte i is done. */
.macro row i
    ld BYTE, Y+
    mul R(0), BYTE
    movw T0, r0
    mul R(2), BYTE
    movw T2, r0
    mul R(4), BYTE
    movw T4, r0
    mul R(6), BYTE
    add W(\i), T0
    adc W(\i + 1), T1
    adc W(\i + 2), T2
    adc W(\i + 3), T3
    adc W(\i + 4), T4
    adc W(\i + 5), T5
    adc W(\i + 6), r0
    adc W(\i + 7), r1
    adc W(\i + 8), W(\i + 8)
    mul R(1), BYTE
    movw T0, r0
    mul R(3), BYTE
    movw T2, r0
    mul R(5), BYTE
    movw T4, r0
    mul R(7), BYTE
    add W(\i + 1), T0
    adc W(\i + 2), T1
    adc W(\i + 3), T2
    adc W(\i + 4), T3
    adc W(\i + 5), T4
    adc W(\i + 6), T5
    adc W(\i + 7), r0
    adc W(\i + 8), r1 /* no carry: window and row are below 2^72 */
    st Z+, W(\i)
    clr W(\i)
.endm

.macro clear_window
    clr W(0)
    clr W(1)
    movw W(2), W(0)
    movw W(4), W(0)
    movw W(6), W(0)
    clr W(8)
.endm

    .text

/* The factor times nine bytes at Y, or eight. As many bytes of the product go to Z, the others stay in W(0) to
 * W(7). Y and Z move on. */
multiply_eight:
    clear_window
    rjmp eight_rows
multiply_nine:
    clear_window
    row 0
eight_rows:
    .irp i, 1, 2, 3, 4, 5, 6, 7, 8
    row \i
    .endr
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

/* The sum, in registers from r2 on, takes the block and 2^128. Its upper half becomes h0 + h1. */
    ldd r2, Y + 0
    ld r0, X+
    add r2, r0
    std Y + 0, r2
    .irp i, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    ldd 2 + \i, Y + \i
    ld r0, X+
    adc 2 + \i, r0
    std Y + \i, 2 + \i
    .endr
    ldd r18, Y + 16
    ldi r19, 1
    adc r18, r19
    std Y + 16, r18
    add r10, r2
    std Y + FOLDED_AT, r10
    .irp i, 1, 2, 3, 4, 5, 6, 7
    adc 10 + \i, 2 + \i
    std Y + FOLDED_AT + \i, 10 + \i
    .endr
    adc r18, r1
    std Y + FOLDED_AT + 8, r18

    movw r26, r28
    sbiw r26, SUM_AT - 8
    movw r30, r28
    adiw r30, HIGH_AT
    adiw r28, 8
    .irp i, 0, 1, 2, 3, 4, 5, 6, 7
    ld R(\i), X+
    .endr
    rcall multiply_nine
    .irp i, 0, 1, 2, 3, 4, 5, 6
    st Z+, W(\i) /* W(7) is zero: the product is below 2^127 */
    .endr

    sbiw r28, SUM_BYTES
    sbiw r26, 16
    .irp i, 0, 1, 2, 3, 4, 5, 6, 7
    ld R(\i), X+
    .endr
    rcall multiply_eight
    .irp i, 0, 1, 2, 3, 4, 5, 6, 7
    st Z+, W(\i)
    .endr

    adiw r28, FOLDED_AT - 8
    ld r0, X+
    add R(0), r0
    .irp i, 1, 2, 3, 4, 5, 6, 7
    ld r0, X+
    adc R(\i), r0
    .endr
    rcall multiply_nine

/* The middle product counts 2^64. It is below 2^128, so all is done modulo that. Its lower half, MIDDLE, stays;
 * the upper half is added to `high`, as both count 2^128: ABOVE. What W(0) to W(6) hold is in place. Y is at
 * `high` here. */
#define MIDDLE(i) (18 + (i))
#define UPPER(i) (9 + (i))
#define ABOVE(i) (1 + (((i) + 8) & 15)) /* 0 to 7 are UPPER */
#define ZERO r17
    ldd MIDDLE(0), Y + BOTH_AT - HIGH_AT
    ldd r0, Y + LOW_AT - HIGH_AT
    sub MIDDLE(0), r0
    .irp i, 1, 2, 3, 4, 5, 6, 7
    ldd MIDDLE(\i), Y + BOTH_AT - HIGH_AT + \i
    ldd r0, Y + LOW_AT - HIGH_AT + \i
    sbc MIDDLE(\i), r0
    .endr
    ldd UPPER(0), Y + BOTH_AT - HIGH_AT + 8
    .irp i, 0, 1, 2, 3, 4, 5, 6, 7
    ldd r0, Y + LOW_AT - HIGH_AT + 8 + \i
    sbc UPPER(\i), r0
    .endr
    sbiw r28, HIGH_AT
    ldd r0, Y + HIGH_AT
    sub MIDDLE(0), r0
    .irp i, 1, 2, 3, 4, 5, 6, 7
    ldd r0, Y + HIGH_AT + \i
    sbc MIDDLE(\i), r0
    .endr
    .irp i, 0, 1, 2, 3, 4, 5, 6, 7
    ldd ABOVE(8 + \i), Y + HIGH_AT + 8 + \i
    sbc UPPER(\i), ABOVE(8 + \i)
    .endr
    clr ZERO
    ldd r0, Y + HIGH_AT
    add ABOVE(0), r0
    .irp i, 1, 2, 3, 4, 5, 6, 7
    ldd r0, Y + HIGH_AT + \i
    adc ABOVE(\i), r0
    .endr
    .irp i, 8, 9, 10, 11, 12, 13, 14, 15
    adc ABOVE(\i), ZERO
    .endr

/* 2^130 counts as 5 = 4 + 1: the part above it, times 4, is ABOVE without its lowest two bits. */
#define LOW0 r26
#define LOW1 r27
#define LOW2 r31
#define TOP r30
    mov TOP, ABOVE(0)
    andi TOP, 0x03
    ldd r0, Y + LOW_AT + 8
    add MIDDLE(0), r0
    .irp i, 1, 2, 3, 4, 5, 6, 7
    ldd r0, Y + LOW_AT + 8 + \i
    adc MIDDLE(\i), r0
    .endr
    adc TOP, ZERO
    mov LOW2, ABOVE(0)
    andi LOW2, 0xfc
    ldd LOW0, Y + LOW_AT
    add LOW0, LOW2
    ldd LOW1, Y + LOW_AT + 1
    adc LOW1, ABOVE(1)
    ldd LOW2, Y + LOW_AT + 2
    adc LOW2, ABOVE(2)
    .irp i, 3, 4, 5, 6, 7
    ldd r0, Y + LOW_AT + \i
    adc r0, ABOVE(\i)
    std Y + LOW_AT + \i, r0
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
    ldd r0, Y + LOW_AT + \i
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
