/* ascon_avr.S: the Ascon permutation (NIST SP 800-232, section 3) for AVR, in assembly; see ascon_avr.h.
 *
 * The state has 40 bytes and the core 32 registers. Word x0 stays in r2 to r9 for all rounds, and two bytes of
 * x4 in r30 and r31. The other words pass through r10 to r17:
 *
 * - The S-box works on one byte of each word at a time. It takes x1 from r10 to r17, where the last diffusion
 *   left it, and leaves x2 there for the first one. So neither is written to memory in between.
 * - A diffusion x ^ (x >>> a) ^ (x >>> b) works on x and one copy of it. Rotations by whole bytes only rename
 *   registers. Rotations by one or two bits are shifts through carry. A rotation by more is a product with a
 *   power of two, whose two halves are added where they belong.
 * - x0 and x2 take their second rotation of a sum: x ^ (x >>> a) ^ (x >>> b) = x ^ ((x ^ (x >>> (b - a))) >>> a).
 *
 * No branch depends on the state, and there is no table: a permutation takes the same cycles always.
 */
#define STATE r28 /* and r29: Y */
#define CONSTANT r26
#define FACTOR r27
#define ZERO r1
#define LAST_CONSTANT 0x4b
#define CONSTANT_STEP 0x0f

/* Bytes of a word that stays, of the word being worked on, and of its copy. */
#define X0(i) (2 + ((i) & 7))
#define WORD(i) (10 + ((i) & 7))
#define COPY(i) (18 + ((i) & 7))

/* In the S-box: one byte of x2, x3 and x4, and temporaries. */
#define S2 r18
#define S3 r19
#define S4 r20
#define T0 r22
#define T1 r23
#define T2 r24

/* The S-box on byte i of all words: x0 and x1 in registers a and b, x4 in register e. With the sums a0 = x0 ^ x4,
 * a2 = x1 ^ x2 and a4 = x3 ^ x4 the outputs are
 *
 *     a: a4 ^ ((a0 ^ a2) | x1)     x1: a0 ^ (a2 | (x1 ^ x3))     b: x2, a2 ^ (x3 | ~x4)
 *     x3: a2 ^ (a4 | x0)           e: a4 ^ (x1 & ~a0)
 *
 * which is the standard's S-box: a ^ (~a & b) is a | b, and x | (x ^ y) is x | y. */
.macro substitute i, a, b, e
    mov T0, \a
    mov T1, \e
    com T1
    or T1, S3
    eor \a, \e /* a0 */
    eor \e, S3 /* a4 */
    or T0, \e
    eor S2, \b /* a2 */
    eor T0, S2
    eor T1, S2
    eor S3, \b
    or S3, S2
    eor S3, \a
    mov T2, \a
    com T2
    and T2, \b
    eor \a, S2
    or \a, \b
    eor \a, \e
    eor \e, T2
    mov \b, T1
    std Y + 8 + \i, S3
    std Y + 24 + \i, T0
.endm

.macro substitute_byte i, a, b
    ldd S2, Y + 16 + \i
    ldd S3, Y + 24 + \i
    ldd S4, Y + 32 + \i
    .if \i == 0
    eor S2, CONSTANT
    .endif
    substitute \i, \a, \b, S4
    std Y + 32 + \i, S4
.endm

/* The same where x4's byte is in a register. */
.macro substitute_kept i, a, b, e
    ldd S2, Y + 16 + \i
    ldd S3, Y + 24 + \i
    .if \i == 0
    eor S2, CONSTANT
    .endif
    substitute \i, \a, \b, \e
.endm

/* A word from memory, or to it. */
.macro load_word n, from=0
    .irp i, 0, 1, 2, 3, 4, 5, 6, 7
    .if \i >= \from
    ldd WORD(\i), Y + 8 * \n + \i
    .endif
    .endr
.endm

.macro store_word n, from=0
    .irp i, 0, 1, 2, 3, 4, 5, 6, 7
    .if \i >= \from
    std Y + 8 * \n + \i, WORD(\i)
    .endif
    .endr
.endm

/* Copy the word in eight registers from `from` on. */
.macro copy from
    movw 18, \from
    movw 20, \from + 2
    movw 22, \from + 4
    movw 24, \from + 6
.endm

/* Rotate the copy by one bit. */
.macro rotate_right
    bst 18, 0
    lsr 25
    .irp i, 24, 23, 22, 21, 20, 19, 18
    ror \i
    .endr
    bld 25, 7
.endm

.macro rotate_left
    lsl 18
    .irp i, 19, 20, 21, 22, 23, 24, 25
    rol \i
    .endr
    adc 18, ZERO
.endm

/* Add the copy, rotated right by so many bytes, to the word. */
.macro add_copy bytes
    .irp i, 0, 1, 2, 3, 4, 5, 6, 7
    eor WORD(\i), COPY(\i + \bytes)
    .endr
.endm

    .text
    .global ascon_permute
    .type ascon_permute, @function
ascon_permute:
    .irp i, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 28, 29
    push \i
    .endr
    movw STATE, r24
    ldi CONSTANT, CONSTANT_STEP
    mul r22, CONSTANT
    mov CONSTANT, r0
    subi CONSTANT, -(LAST_CONSTANT - CONSTANT_STEP)
    .irp i, 0, 1, 2, 3, 4, 5, 6, 7
    ldd X0(\i), Y + \i
    .endr
    load_word 1
    ldd r30, Y + 32
    ldd r31, Y + 33

round:
    substitute_kept 0, X0(0), WORD(0), r30
    substitute_kept 1, X0(1), WORD(1), r31
    substitute_byte 2, X0(2), WORD(2)
    substitute_byte 3, X0(3), WORD(3)
    substitute_byte 4, X0(4), WORD(4)
    substitute_byte 5, X0(5), WORD(5)
    substitute_byte 6, X0(6), WORD(6)
    substitute_byte 7, X0(7), WORD(7)

    /* x2 ^ ((x2 ^ (x2 >>> 5)) >>> 1): a product with 8 is a rotation by 5 to the right. */
    copy WORD(0)
    ldi FACTOR, 8
    .irp i, 0, 1, 2, 3, 4, 5, 6, 7
    mul WORD(\i), FACTOR
    eor COPY(\i), r1
    eor COPY(\i + 7), r0
    .endr
    rotate_right
    add_copy 0
    store_word 2

    /* x0 ^ ((x0 ^ (x0 >>> 9)) >>> 19): of the copy, byte i + 1 becomes byte i of the sum. */
    copy X0(0)
    rotate_right
    .irp i, 0, 1, 2, 3, 4, 5, 6, 7
    eor COPY(\i + 1), X0(\i)
    .endr
    ldi FACTOR, 32
    .irp i, 0, 1, 2, 3, 4, 5, 6, 7
    mul COPY(\i + 1), FACTOR
    eor X0(\i + 6), r1
    eor X0(\i + 5), r0
    .endr
    clr ZERO

    /* x4 ^ (x4 >>> 7) ^ (x4 >>> 41) */
    movw WORD(0), r30
    load_word 4, 2
    copy WORD(0)
    rotate_right
    add_copy 5
    rotate_left
    rotate_left
    add_copy 1
    movw r30, WORD(0)
    store_word 4, 2

    /* x3 ^ (x3 >>> 10) ^ (x3 >>> 17) */
    load_word 3
    copy WORD(0)
    rotate_right
    add_copy 2
    rotate_right
    add_copy 1
    store_word 3

    /* x1 ^ (x1 >>> 61) ^ (x1 >>> 39): three to the left, and one to the left of 40 to the right */
    load_word 1
    copy WORD(0)
    rotate_left
    add_copy 5
    rotate_left
    rotate_left
    add_copy 0

    cpi CONSTANT, LAST_CONSTANT
    breq done
    subi CONSTANT, CONSTANT_STEP
    rjmp round
done:
    .irp i, 0, 1, 2, 3, 4, 5, 6, 7
    std Y + \i, X0(\i)
    .endr
    store_word 1
    std Y + 32, r30
    std Y + 33, r31
    .irp i, 29, 28, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2
    pop \i
    .endr
    ret
    .size ascon_permute, . - ascon_permute

/* Copy eight bytes: the word is the message's bytes. */
    .global ascon_load
    .type ascon_load, @function
    .global ascon_store
    .type ascon_store, @function
ascon_load:
ascon_store:
    movw r26, r24
    movw r30, r22
    ldi r24, 8
copy_byte:
    ld r0, Z+
    st X+, r0
    dec r24
    brne copy_byte
    ret

    .global ascon_add
    .type ascon_add, @function
ascon_add:
    movw r26, r24
    movw r30, r22
    ldi r24, 8
add_byte:
    ld r25, X
    ld r0, Z+
    eor r25, r0
    st X+, r25
    dec r24
    brne add_byte
    ret
