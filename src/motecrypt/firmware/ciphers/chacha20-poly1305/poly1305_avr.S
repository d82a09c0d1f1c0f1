/* poly1305_avr.S: the begin and the end of Poly1305 (RFC 8439, 2.5) for AVR, in assembly. Functions as in
 * parts.h, state as in avr.h. What a block does is in a file of its own.
 *
 * No branch and no address depends on key or message.
 */
#define S_AT 16
#define SUM_AT 32
#define SUM_BYTES 17

    .text

/* poly1305_start(state in r24, key in r22): clamping is RFC 8439, 2.5.1. */
    .global poly1305_start
    .type poly1305_start, @function
poly1305_start:
    movw r26, r22
    movw r30, r24
    ldi r18, 32
copy_key:
    ld r0, X+
    st Z+, r0
    dec r18
    brne copy_key
    ldi r18, SUM_BYTES
clear_sum:
    st Z+, r1
    dec r18
    brne clear_sum
    movw r30, r24
    ldi r18, 0xff
    ldi r19, 4
clamp_word:
    ld r20, Z
    and r20, r18
    st Z, r20
    ldi r18, 0xfc
    ldd r20, Z + 3
    andi r20, 0x0f
    std Z + 3, r20
    adiw r30, 4
    dec r19
    brne clamp_word
    ret
    .size poly1305_start, . - poly1305_start

/* poly1305_finish(state in r24, tag in r22). The sum is below 2p, with p = 2^130 - 5. So it is sum + 5q - 2^130 q
 * modulo p, where q = (sum + 5) >> 130 is 0 or 1. The tag takes only the lowest 128 bits. */
    .global poly1305_finish
    .type poly1305_finish, @function
poly1305_finish:
    movw r30, r24
    adiw r30, SUM_AT
    ldi r18, SUM_BYTES
    ldi r19, 5
    clc
count_primes:
    ld r0, Z+
    adc r0, r19
    ldi r19, 0
    dec r18
    brne count_primes
    lsr r0
    lsr r0
    mov r19, r0
    add r0, r0
    add r0, r0
    add r19, r0 /* 5q, then the carry */
    movw r26, r22
    movw r30, r24
    adiw r30, S_AT
    ldi r18, 16
write_tag:
    ldd r0, Z + SUM_AT - S_AT
    add r0, r19
    ld r20, Z+
    ldi r19, 0
    adc r19, r1
    add r0, r20
    adc r19, r1
    st X+, r0
    dec r18
    brne write_tag
    ret
    .size poly1305_finish, . - poly1305_finish
