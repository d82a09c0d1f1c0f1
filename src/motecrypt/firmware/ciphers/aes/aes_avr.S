/* aes_avr.S: AES (FIPS 197) for AVR, in assembly; see aes_avr.h. Functions as in block.h.
 *
 * The state stays in 16 registers. A round is done in place:
 *
 * - Shifting rows and substituting go along two cycles of eight bytes each, so that only one byte of a cycle
 *   waits elsewhere. Each lookup takes its index in ZL, where the round key has just been added to it: no byte
 *   is moved for the lookup alone.
 * - Mixing a column takes three doublings instead of four, since the four arguments of the doublings add up to
 *   zero. It leaves rows 0 and 1, and rows 2 and 3, in each other's place; the next shift puts them right.
 * - Unmixing a column takes three doublings, too: see `unmix`.
 *
 * No branch and no loop count depends on the key or the message: a block takes the same cycles always. The
 * addresses of table lookups do depend on them; lpm takes three cycles at any address.
 *
 * Cycles, tables in flash, called as a function: see `motecrypt measure --cipher aes128-ecb --variant avr`.
 */
#ifndef CIPHER_KEY_BYTES_MAX
#define CIPHER_KEY_BYTES_MAX 32 /* as in cipher.h */
#endif
#if CIPHER_KEY_BYTES_MAX > 16
#define ROUNDS_AT (4 * CIPHER_KEY_BYTES_MAX + 112)
#endif

#define KEYS r28 /* and r29: Y */
#define TWICE r1 /* holds 0x1b, which a doubling adds; 0 again at the end */
#define TEMPORARY r0
#define V01 r26 /* encrypting: sums of two neighbours in a column; V01 and V12 are a pair */
#define V12 r27
#define V23 r30
#define EVEN r26 /* decrypting: of rows 0 and 2, then h; EVEN and FIRST are a pair */
#define FIRST r27 /* of rows 0 and 1, then p */
#define ALL r8
#define ALL2 r30
#define WAITING r26 /* the byte of a cycle that is needed last */
#define LEFT r9 /* rounds */

/* The state, by row and column, where a round begins to mix. */
#define A00 r18
#define A10 r19
#define A20 r20
#define A30 r21
#define A01 r22
#define A11 r23
#define A21 r24
#define A31 r25
#define A02 r14
#define A12 r15
#define A22 r16
#define A32 r17
#define A03 r10
#define A13 r11
#define A23 r12
#define A33 r13

/* Tables begin at multiples of 256, so that an index is the low half of an address. */
    .section .progmem.data.aes_avr_sbox, "a", @progbits
    .balign 256
sbox:
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

    .type sbox, @object
    .size sbox, . - sbox

    .section .progmem.data.aes_avr_inverse_sbox, "a", @progbits
    .balign 256
inverse_sbox:
    .byte 0x52, 0x09, 0x6a, 0xd5, 0x30, 0x36, 0xa5, 0x38, 0xbf, 0x40, 0xa3, 0x9e, 0x81, 0xf3, 0xd7, 0xfb
    .byte 0x7c, 0xe3, 0x39, 0x82, 0x9b, 0x2f, 0xff, 0x87, 0x34, 0x8e, 0x43, 0x44, 0xc4, 0xde, 0xe9, 0xcb
    .byte 0x54, 0x7b, 0x94, 0x32, 0xa6, 0xc2, 0x23, 0x3d, 0xee, 0x4c, 0x95, 0x0b, 0x42, 0xfa, 0xc3, 0x4e
    .byte 0x08, 0x2e, 0xa1, 0x66, 0x28, 0xd9, 0x24, 0xb2, 0x76, 0x5b, 0xa2, 0x49, 0x6d, 0x8b, 0xd1, 0x25
    .byte 0x72, 0xf8, 0xf6, 0x64, 0x86, 0x68, 0x98, 0x16, 0xd4, 0xa4, 0x5c, 0xcc, 0x5d, 0x65, 0xb6, 0x92
    .byte 0x6c, 0x70, 0x48, 0x50, 0xfd, 0xed, 0xb9, 0xda, 0x5e, 0x15, 0x46, 0x57, 0xa7, 0x8d, 0x9d, 0x84
    .byte 0x90, 0xd8, 0xab, 0x00, 0x8c, 0xbc, 0xd3, 0x0a, 0xf7, 0xe4, 0x58, 0x05, 0xb8, 0xb3, 0x45, 0x06
    .byte 0xd0, 0x2c, 0x1e, 0x8f, 0xca, 0x3f, 0x0f, 0x02, 0xc1, 0xaf, 0xbd, 0x03, 0x01, 0x13, 0x8a, 0x6b
    .byte 0x3a, 0x91, 0x11, 0x41, 0x4f, 0x67, 0xdc, 0xea, 0x97, 0xf2, 0xcf, 0xce, 0xf0, 0xb4, 0xe6, 0x73
    .byte 0x96, 0xac, 0x74, 0x22, 0xe7, 0xad, 0x35, 0x85, 0xe2, 0xf9, 0x37, 0xe8, 0x1c, 0x75, 0xdf, 0x6e
    .byte 0x47, 0xf1, 0x1a, 0x71, 0x1d, 0x29, 0xc5, 0x89, 0x6f, 0xb7, 0x62, 0x0e, 0xaa, 0x18, 0xbe, 0x1b
    .byte 0xfc, 0x56, 0x3e, 0x4b, 0xc6, 0xd2, 0x79, 0x20, 0x9a, 0xdb, 0xc0, 0xfe, 0x78, 0xcd, 0x5a, 0xf4
    .byte 0x1f, 0xdd, 0xa8, 0x33, 0x88, 0x07, 0xc7, 0x31, 0xb1, 0x12, 0x10, 0x59, 0x27, 0x80, 0xec, 0x5f
    .byte 0x60, 0x51, 0x7f, 0xa9, 0x19, 0xb5, 0x4a, 0x0d, 0x2d, 0xe5, 0x7a, 0x9f, 0x93, 0xc9, 0x9c, 0xef
    .byte 0xa0, 0xe0, 0x3b, 0x4d, 0xae, 0x2a, 0xf5, 0xb0, 0xc8, 0xeb, 0xbb, 0x3c, 0x83, 0x53, 0x99, 0x61
    .byte 0x17, 0x2b, 0x04, 0x7e, 0xba, 0x77, 0xd6, 0x26, 0xe1, 0x69, 0x14, 0x63, 0x55, 0x21, 0x0c, 0x7d
    .type inverse_sbox, @object
    .size inverse_sbox, . - inverse_sbox

/* Double in GF(2^8), without a branch. */
.macro double x
    lsl \x
    sbc TEMPORARY, TEMPORARY
    and TEMPORARY, TWICE
    eor \x, TEMPORARY
.endm

/* Mix a column in place. Of a0 to a3 it leaves rows 1, 0, 3 and 2. */
.macro mix a0, a1, a2, a3
    movw V01, \a0
    eor V01, \a1
    eor V12, \a2
    mov V23, \a2
    eor V23, \a3
    eor \a0, V23
    eor \a1, V23
    eor \a2, V01
    eor \a3, V01
    double V01
    double V12
    double V23
    eor \a1, V01
    eor \a0, V12
    eor \a3, V23
    eor \a2, V01
    eor \a2, V12
    eor \a2, V23
.endm

/* Undo it: with all = a0 + a1 + a2 + a3, h = 2 (a0 + a2 + 2 all) and p = all + 2 (a0 + a1 + h), the unmixed
 * column is a0 + p, a1 + p + h, a2 + p + 2 all, a3 + p + h + 2 all. */
.macro unmix a0, a1, a2, a3
    movw EVEN, \a0
    eor FIRST, EVEN
    eor EVEN, \a2
    mov ALL, EVEN
    eor ALL, \a1
    eor ALL, \a3
    mov ALL2, ALL
    double ALL2
    eor EVEN, ALL2
    double EVEN
    eor FIRST, EVEN
    double FIRST
    eor FIRST, ALL
    eor \a0, FIRST
    eor EVEN, FIRST
    eor \a1, EVEN
    eor FIRST, ALL2
    eor \a2, FIRST
    eor EVEN, ALL2
    eor \a3, EVEN
.endm

/* Add a round key's byte to what was in `from`, look it up, put it in `to`. */
.macro substitute to, from, at
    ldd r30, Y + \at
    eor r30, \from
    lpm \to, Z
.endm

/* Look up what was in `from`, add a round key's byte, put it in `to`. */
.macro unsubstitute to, from, at
    mov r30, \from
    lpm \to, Z
    ldd TEMPORARY, Y + \at
    eor \to, TEMPORARY
.endm

.macro enter
    .irp register, 9, 10, 11, 12, 13, 14, 15, 16, 17, 28, 29
    push \register
    .endr
.endm

.macro leave
    .irp register, 29, 28, 17, 16, 15, 14, 13, 12, 11, 10, 9
    pop \register
    .endr
    clr TWICE
.endm

/* void block_encrypt(const struct block_key *key: r25:r24, uint8_t *block: r23:r22) */
    .section .text.block_encrypt, "ax", @progbits
    .global block_encrypt
    .type block_encrypt, @function
block_encrypt:
    enter
    push r22
    push r23
    movw KEYS, r24
    movw r26, r22
#if CIPHER_KEY_BYTES_MAX > 16
    movw r30, r24
    subi r30, lo8(-(ROUNDS_AT))
    sbci r31, hi8(-(ROUNDS_AT))
    ld LEFT, Z
#else
    ldi r31, 10
    mov LEFT, r31
#endif
    ldi r31, 0x1b
    mov TWICE, r31
    ldi r31, hi8(sbox)
    /* Rows 0 and 1, and rows 2 and 3, in each other's place. */
    .irp register, A10, A00, A30, A20, A11, A01, A31, A21, A12, A02, A32, A22, A13, A03, A33, A23
    ld \register, X+
    .endr
    rjmp 2f
1:  mix A00, A10, A20, A30
    mix A01, A11, A21, A31
    mix A02, A12, A22, A32
    mix A03, A13, A23, A33
2:  mov WAITING, A00
    substitute A00, A10, 0
    substitute A10, A01, 5
    substitute A01, A11, 4
    substitute A11, A02, 9
    substitute A02, A12, 8
    substitute A12, A03, 13
    substitute A03, A13, 12
    substitute A13, WAITING, 1
    mov WAITING, A20
    substitute A20, A32, 10
    substitute A32, A21, 7
    substitute A21, A33, 14
    substitute A33, A22, 11
    substitute A22, A30, 2
    substitute A30, A23, 15
    substitute A23, A31, 6
    substitute A31, WAITING, 3
    adiw KEYS, 16
    dec LEFT
    breq 3f
    rjmp 1b
3:  pop r27
    pop r26
    .irp register, A00, A10, A20, A30, A01, A11, A21, A31, A02, A12, A22, A32, A03, A13, A23, A33
    ld TEMPORARY, Y+
    eor TEMPORARY, \register
    st X+, TEMPORARY
    .endr
    leave
    ret
    .size block_encrypt, . - block_encrypt

/* void block_decrypt(const struct block_key *key: r25:r24, uint8_t *block: r23:r22) */
    .section .text.block_decrypt, "ax", @progbits
    .global block_decrypt
    .type block_decrypt, @function
block_decrypt:
    push ALL
    enter
    push r22
    push r23
    movw KEYS, r24
    movw r26, r22
#if CIPHER_KEY_BYTES_MAX > 16
    movw r30, r24
    subi r30, lo8(-(ROUNDS_AT))
    sbci r31, hi8(-(ROUNDS_AT))
    ld LEFT, Z
    mov r30, LEFT
    swap r30 /* times 16 */
    add r28, r30
    adc r29, TWICE
#else
    ldi r31, 10
    mov LEFT, r31
    subi r28, lo8(-160)
    sbci r29, hi8(-160)
#endif
    ldi r31, 0x1b
    mov TWICE, r31
    ldi r31, hi8(inverse_sbox)
    .set .Lat, 0
    .irp register, A00, A10, A20, A30, A01, A11, A21, A31, A02, A12, A22, A32, A03, A13, A23, A33
    ld \register, X+
    ldd TEMPORARY, Y + .Lat
    eor \register, TEMPORARY
    .set .Lat, .Lat + 1
    .endr
    rjmp 2f
1:  unmix A00, A10, A20, A30
    unmix A01, A11, A21, A31
    unmix A02, A12, A22, A32
    unmix A03, A13, A23, A33
2:  sbiw KEYS, 16
    unsubstitute A00, A00, 0
    unsubstitute A01, A01, 4
    unsubstitute A02, A02, 8
    unsubstitute A03, A03, 12
    mov WAITING, A10
    unsubstitute A10, A13, 1
    unsubstitute A13, A12, 13
    unsubstitute A12, A11, 9
    unsubstitute A11, WAITING, 5
    mov WAITING, A20
    unsubstitute A20, A22, 2
    unsubstitute A22, WAITING, 10
    mov WAITING, A21
    unsubstitute A21, A23, 6
    unsubstitute A23, WAITING, 14
    mov WAITING, A30
    unsubstitute A30, A31, 3
    unsubstitute A31, A32, 7
    unsubstitute A32, A33, 11
    unsubstitute A33, WAITING, 15
    dec LEFT
    breq 3f
    rjmp 1b
3:  pop r27
    pop r26
    .irp register, A00, A10, A20, A30, A01, A11, A21, A31, A02, A12, A22, A32, A03, A13, A23, A33
    st X+, \register
    .endr
    leave
    pop ALL
    ret
    .size block_decrypt, . - block_decrypt

#define BAD_KEY 1 /* CIPHER_BAD_KEY */
#define ROUND_CONSTANT r28

/* In front of the first table there is room up to a multiple of 256, behind the chip's vectors and this section, which linkers
 * place next to them. Where they leave enough, most of the set-up goes there, which saves its length of flash. */
#if CIPHER_KEY_BYTES_MAX == 16 && defined(__AVR_HAVE_JMP_CALL__)
#include <avr/io.h>
#define EXPANSION_BYTES 152
#define EXPANDS_APART (_VECTORS_SIZE % 256 + EXPANSION_BYTES <= 256)
#else
#define EXPANDS_APART 0
#endif

.macro add_substituted to, from
    mov r30, \from
    lpm TEMPORARY, Z
    eor \to, TEMPORARY
.endm

/* uint8_t block_setup(struct block_key *key: r25:r24, const uint8_t *bytes: r23:r22, uint8_t key_bytes: r20) */
    .section .text.block_setup, "ax", @progbits
    .global block_setup
    .type block_setup, @function
block_setup:
    cpi r20, 16
#if CIPHER_KEY_BYTES_MAX > 16
    breq 1f
    cpi r20, 24
#if CIPHER_KEY_BYTES_MAX > 24
    breq 1f
    cpi r20, 32
#endif
#endif
    breq 1f
    ldi r24, BAD_KEY
    ret
1:  movw r26, r24
#if CIPHER_KEY_BYTES_MAX > 16
    movw r30, r24
    subi r30, lo8(-(ROUNDS_AT))
    sbci r31, hi8(-(ROUNDS_AT))
    mov r0, r20
    lsr r0
    lsr r0
    ldi r21, 6
    add r0, r21
    st Z, r0
    cpi r20, 16
    breq 12f
    rjmp long_key
12:
#endif
    /* 16 bytes: the four words stay in registers and are replaced by four new ones ten times. */
    movw r30, r22
    .irp register, 10, 11, 12, 13, 14, 15, 16, 17, 28
    push \register
    .endr
#if EXPANDS_APART
    jmp expand
    .size block_setup, . - block_setup
    .section .progmem.gcc_aes_avr_expand, "ax", @progbits
    .type expand, @function
expand:
#endif
    .irp register, A00, A10, A20, A30, A01, A11, A21, A31, A02, A12, A22, A32, A03, A13, A23, A33
    ld \register, Z+
    .endr
    ldi ROUND_CONSTANT, 1
    ldi r31, hi8(sbox)
2:  .irp register, A00, A10, A20, A30, A01, A11, A21, A31, A02, A12, A22, A32, A03, A13, A23, A33
    st X+, \register
    .endr
    cpi ROUND_CONSTANT, 0x6c /* twice the tenth */
    breq 3f
    add_substituted A00, A13
    add_substituted A10, A23
    add_substituted A20, A33
    add_substituted A30, A03
    eor A00, ROUND_CONSTANT
    eor A01, A00
    eor A11, A10
    eor A21, A20
    eor A31, A30
    eor A02, A01
    eor A12, A11
    eor A22, A21
    eor A32, A31
    eor A03, A02
    eor A13, A12
    eor A23, A22
    eor A33, A32
    lsl ROUND_CONSTANT
    brcc 2b
    ldi ROUND_CONSTANT, 0x1b
    rjmp 2b
3:  .irp register, 28, 17, 16, 15, 14, 13, 12, 11, 10
    pop \register
    .endr
    ldi r24, 0
    ret

#if CIPHER_KEY_BYTES_MAX > 16
/* 24 or 32 bytes: words in groups that begin with a substituted one, as many as the key has; with a key of
 * 8 words two groups of 4, the second without rotation and constant. X: new words, Y: old ones. */
#define GROUP r23   /* words of a group */
#define IN_GROUP r24 /* left of this one */
#define WORDS r25   /* left to make */
long_key:
    push r28
    push r29
    movw r28, r26
    movw r30, r22
    mov r18, r20
13: ld r0, Z+
    st X+, r0
    dec r18
    brne 13b
    sbiw r26, 4
    ld r18, X+
    ld r19, X+
    ld r21, X+
    ld r22, X+
#define WORD0 r18
#define WORD1 r19
#define WORD2 r21
#define WORD3 r22
    ldi GROUP, 6
    ldi WORDS, 46
#if CIPHER_KEY_BYTES_MAX > 24
    cpi r20, 32
    brne 5f
    ldi GROUP, 4
    ldi WORDS, 52
5:
#endif
    ldi r31, hi8(sbox)
    push r16
    ldi r16, 1
    set
6:  .irp word, WORD0, WORD1, WORD2, WORD3
    mov r30, \word
    lpm \word, Z
    .endr
    brtc 7f
    mov TEMPORARY, WORD0
    mov WORD0, WORD1
    eor WORD0, r16
    mov WORD1, WORD2
    mov WORD2, WORD3
    mov WORD3, TEMPORARY
    lsl r16
    brcc 7f
    ldi r16, 0x1b
7:  cpi GROUP, 6
    breq 9f
    brtc 8f
    clt
    rjmp 9f
8:  set
9:  mov IN_GROUP, GROUP
10: .irp word, WORD0, WORD1, WORD2, WORD3
    ld TEMPORARY, Y+
    eor \word, TEMPORARY
    st X+, \word
    .endr
    dec WORDS
    breq 11f
    dec IN_GROUP
    brne 10b
    rjmp 6b
11: pop r16
    pop r29
    pop r28
    ldi r24, 0
    ret
#endif
#if EXPANDS_APART
    .size expand, . - expand
    .if . - expand > EXPANSION_BYTES
    .error "the set-up is longer than EXPANSION_BYTES"
    .endif
#else
    .size block_setup, . - block_setup
#endif
