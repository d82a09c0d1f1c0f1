/* chacha_avr.S: the ChaCha20 block function (RFC 8439, 2.3) for AVR around its rounds, in assembly. Functions as
 * in parts.h and avr.h.
 *
 * `chacha20_rounds`, in a file of its own, gets the block in Y, with all words but the constants. It writes those,
 * does the rounds and adds the constants again: words 0 to 3 are then done, the others lack their second sum. It
 * leaves Y 16 bytes further on and may change every other register.
 *
 * No branch and no address depends on key, nonce or message.
 */
    .text

/* Copy or add r18 times four bytes from X to Y. Both move on. */
copy_words:
    .rept 4
    ld r0, X+
    st Y+, r0
    .endr
    dec r18
    brne copy_words
    ret

sum_words:
    clc
    .rept 4
    ld r0, Y
    ld r1, X+
    adc r0, r1
    st Y+, r0
    .endr
    dec r18
    brne sum_words
    ret

/* chacha20_block(block in r24, key in r22, nonce in r20, counter in r16 to r19) */
    .global chacha20_block
    .type chacha20_block, @function
chacha20_block:
    .irp i, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 28, 29, 20, 21, 22, 23, 16, 17, 18, 19
    push \i
    .endr
    movw r28, r24
    movw r26, r22
    .irp i, 0, 1, 2, 3
    std Y + 48 + \i, 16 + \i
    .endr
    adiw r28, 16
    ldi r18, 8
    rcall copy_words
    adiw r28, 4
    movw r26, r20
    ldi r18, 3
    rcall copy_words
    movw r28, r24
#ifdef __AVR_HAVE_JMP_CALL__
    call chacha20_rounds /* the linker may put the other file far away */
#else
    rcall chacha20_rounds
#endif
    .irp i, 5, 4, 3, 2, 27, 26, 31, 30 /* counter, key, nonce */
    pop \i
    .endr
    ldi r18, 8
    rcall sum_words
    ld r0, Y
    add r0, r2
    st Y+, r0
    .irp i, 3, 4, 5
    ld r0, Y
    adc r0, \i
    st Y+, r0
    .endr
    movw r26, r30
    ldi r18, 3
    rcall sum_words
    clr r1
    .irp i, 29, 28, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2
    pop \i
    .endr
    ret
    .size chacha20_block, . - chacha20_block

/* chacha20_add(output in r24, input in r22, stream in r20, bytes in r18) */
    .global chacha20_add
    .type chacha20_add, @function
chacha20_add:
    push r28
    push r29
    movw r28, r24
    movw r26, r22
    movw r30, r20
add_byte:
    ld r0, X+
    ld r19, Z+
    eor r0, r19
    st Y+, r0
    dec r18
    brne add_byte
    pop r29
    pop r28
    ret
    .size chacha20_add, . - chacha20_add
