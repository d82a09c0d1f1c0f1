/* aes_armv7m_fixsliced.S: AES (FIPS 197) in assembly for Cortex-M4, without tables; see aes_armv7m_fixsliced.h.
 * Functions as in block.h.
 *
 * - Register r4 + i has bit i of all bytes of two blocks. Byte r of it is row r; in it bit 2 c + b is column c of
 *   block b. The S-box is then a circuit, the one of 113 gates by Boyar and Peralta (with improvements by Calik). Its
 *   order here, and which seven of its values are kept on the stack, were found by simulated annealing with the
 *   cycles of this core as the measure.
 * - No round shifts its rows (Adomnicai and Peyrin, Fixslicing AES-like Ciphers, 2021). The state lags behind by one
 *   shift more in each round, and round keys are stored with it. Four shifts are none, so there are four kinds of
 *   MixColumns. What the next row has in the same column is to be found `shift` columns on.
 * - The first round takes the kind that is a rotation by a byte alone: the rows of the input are shifted once ahead.
 * - The constant 0x63 of the S-box is in the round keys.
 *
 * No branch, no loop count and no address depends on the key or the message.
 */
#include "aes_armv7m_fixsliced_parts.S"

#define BAD_KEY 1 /* CIPHER_BAD_KEY */

    .global aes_substitute
    function aes_substitute /* the bytes in r4 to r11, without adding 0x63; changes r0 to r3, r12 and lr */
    str lr, [sp, #RETURN]
    eor lr, r8, r6; eor r12, r11, r5; eor r3, r12, lr; eor r2, r7, r3; eor r1, r10, r9; eor r0, r11, r8
    eor r7, r2, r6; eor r9, r1, r4; eor r2, r2, r10; eor r10, r11, r6; eor r6, r9, r5; and r5, r3, r7
    str r3, [sp, #0]; eor r3, r6, r10; eor r6, r2, r0; eor r8, r9, r8; and r8, r8, r4; eor r2, r7, r4
    str r3, [sp, #4]; ands r3, r2; str r2, [sp, #8]; eor r2, r7, r1; and r7, r10, r2; eor r8, r8, r5
    str r10, [sp, #12]; eor r10, r2, r10; eors r3, r5; and r5, r0, r6; eors r1, r6; eors r2, r6
    str lr, [sp, #16]; and lr, lr, r2; eors r7, r5; eor r8, r8, r7; eor r8, r8, r10; eor r10, r4, r6
    eor r4, r9, r11; eor lr, lr, r5; eor r5, r3, lr; eor r3, r4, r12; and r3, r3, r9; eor r11, r11, r1
    and r9, r12, r1; eor r3, r3, r9; eor r3, r3, lr; eor lr, r12, r1; eor r3, r3, lr; eor lr, r6, r0
    eor r5, r5, lr; and lr, r4, r10; eor lr, lr, r9; eor r9, lr, r7; eor lr, r5, r8; eor r7, r9, r11
    and r9, r5, r3; eor r5, r8, r9; eor r11, r3, r7; and r5, r5, r11; eor r11, r7, r9; eor r9, r5, r7
    and r5, lr, r11; eor r5, r5, r8; eor r8, r11, r9; and r7, r7, r8; eor r8, r11, r7; and r11, r5, r8
    eor r8, r3, r9; eor r3, lr, r11; eor lr, r4, r12; and r11, r3, lr; eor lr, r7, r8; eor r7, r9, lr
    eor r8, r5, r3; str r11, [sp, #20]; eor r11, r1, r2; and r11, r7, r11; and r12, r8, r12; str r7, [sp, #24]
    eor r7, r10, r1; ands r7, r3; and r8, r8, r1; eor r1, r10, r6; and r1, r9, r1; eor r7, r8, r7
    and r10, r5, r10; eor r8, r8, r10; eor r10, r3, lr; eor r3, r11, r1; eor r1, r3, r8; eor r8, r4, r0
    and r8, r9, r8; eor r3, r12, r3; eor r9, r5, r9; ands r5, r4; ldr r4, [sp, #8]; and r4, lr, r4
    eor r4, r4, r11; and r11, r9, r0; eor r0, r6, r2; and r0, r10, r0; eors r0, r3; eor r3, r9, r10; ands r2, r3
    and r9, r9, r6; eor r6, r7, r4; ldr r4, [sp, #16]; ands r3, r4; ldr r4, [sp, #4]; and lr, lr, r4
    eor r4, r2, r7; eor r2, r9, r4; ldr r7, [sp, #24]; ldr r9, [sp, #0]; and r7, r7, r9; eor r9, r11, r2
    eors r4, r0; eor r0, r11, r3; eor r3, lr, r0; eor lr, r7, r3; eor r7, r3, r8; eor r8, lr, r6; eor r3, r5, r4
    eor r6, r7, r3; ldr r5, [sp, #20]; eor r7, r5, r0; eor r0, r3, r9; ldr r3, [sp, #12]; and r5, r10, r3
    eor r10, r8, r2; eor r9, r0, r5; eor r11, lr, r2; eor lr, r7, r1; eor r5, r4, lr; eor r4, r12, lr
    eor r7, r1, r8
    ldr pc, [sp, #RETURN]
    .size aes_substitute, . - aes_substitute

/* --- words and slices */

/* Exchange bits of `a` that are n above those in the mask with bits of `b` that are in it. */
.macro exchange a, b, n, mask
    eor r1, \b, \a, lsr #\n
    and r1, r1, #\mask
    eor \b, \b, r1
    eor \a, \a, r1, lsl #\n
.endm

    .global aes_transpose
    function aes_transpose /* words in r4 to r11, of column 0 of block 0, of block 1, and so on; or back */
    .irp mask, 0x55555555
    exchange r4, r5, 1, \mask
    exchange r6, r7, 1, \mask
    exchange r8, r9, 1, \mask
    exchange r10, r11, 1, \mask
    .endr
    .irp mask, 0x33333333
    exchange r4, r6, 2, \mask
    exchange r5, r7, 2, \mask
    exchange r8, r10, 2, \mask
    exchange r9, r11, 2, \mask
    .endr
    .irp mask, 0x0f0f0f0f
    exchange r4, r8, 4, \mask
    exchange r5, r9, 4, \mask
    exchange r6, r10, 4, \mask
    exchange r7, r11, 4, \mask
    .endr
    bx lr
    .size aes_transpose, . - aes_transpose

/* --- rounds */

.macro add_key
    ldr r0, [sp, #KEYS]
    ldmia r0!, {r1, r2, r3, r12, lr}
    eors r4, r1
    eors r5, r2
    eors r6, r3
    eor r7, r7, r12
    eor r8, r8, lr
    ldmia r0!, {r1, r2, r3}
    eor r9, r9, r1
    eor r10, r10, r2
    eor r11, r11, r3
    str r0, [sp, #KEYS]
.endm

/* Words in r4 to r11, as for aes_transpose; r0: the key. Changes r0 to r12. */
    function encrypt_pair
    push {lr}
    sub sp, #FRAME
#if CIPHER_KEY_BYTES_MAX > 16
    ldr r1, [r0], #AT_KEYS
    str r1, [sp, #BEFORE]
    adds r1, r0
#else
    add r1, r0, #320
#endif
    str r0, [sp, #KEYS]
    str r1, [sp, #LAST]
    select_odd_rows
    shift_rows r4, r6, r8, r10
    shift_rows r5, r7, r9, r11
    bl aes_transpose
    add_key
    .balign 4
1:  bl aes_substitute
    mix_columns 0
    add_key
    ldr r1, [sp, #LAST]
    cmp r0, r1
    beq 2f
    bl aes_substitute
    mix_columns 1
    add_key
    bl aes_substitute
    mix_columns 2
    add_key
#if CIPHER_KEY_BYTES_MAX > 16
    ldr r1, [sp, #LAST]
    cmp r0, r1
    beq 2f
#endif
    bl aes_substitute
    mix_columns 3
    add_key
    b 1b
2:  bl aes_substitute
    add_key
    bl aes_transpose
#if CIPHER_KEY_BYTES_MAX > 16
    ldr r0, [sp, #BEFORE] /* 320, 384 or 448 */
    ands r0, #64
3:
#endif
    shift_rows r4, r6, r8, r10
    shift_rows r5, r7, r9, r11
#if CIPHER_KEY_BYTES_MAX > 16
    adds r0, #32 /* once after nine and thirteen rounds, three times after eleven */
    cmp r0, #96
    bne 3b
#endif
    add sp, #FRAME
    pop {pc}
    .size encrypt_pair, . - encrypt_pair

/* void block_encrypt(const struct block_key *key, uint8_t *block), and the same for words */
    .global block_encrypt
    .global block_encrypt_words
    .type block_encrypt_words, %function
    function block_encrypt
    .thumb_func
block_encrypt_words:
    push {r1, r4-r11, lr}
    load_block r4, r6, r8, r10, r1, 0
    bl encrypt_pair
    pop {r1}
    store_block r4, r6, r8, r10, r1, 0
    pop {r4-r11, pc}
    .size block_encrypt, . - block_encrypt

/* void block_encrypt_pair(const struct block_key *key, uint32_t *blocks) */
    .global block_encrypt_pair
    function block_encrypt_pair
    push {r1, r4-r11, lr}
    load_block r4, r6, r8, r10, r1, 0
    load_block r5, r7, r9, r11, r1, 16
    bl encrypt_pair
    pop {r1}
    store_block r4, r6, r8, r10, r1, 0
    store_block r5, r7, r9, r11, r1, 16
    pop {r4-r11, pc}
    .size block_encrypt_pair, . - block_encrypt_pair

/* --- many blocks */

#define AT_MAC 0 /* struct block_stream */
#define AT_COUNTER 32
#define AT_INPUT 48
#define AT_OUTPUT 52
#define DECRYPTING 2 /* enum block_streaming */

#define STACKED_KEY 0 /* on the stack */
#define STACKED_STREAM 4
#define STACKED_BLOCKS 8
#define STACKED_KIND 12

/* Read the next block of input into r3, r12, lr and r0; r1: the stream; r2: the output. */
.macro take_block
    ldr r0, [r1, #AT_INPUT]
    ldr r2, [r1, #AT_OUTPUT]
    load_block r3, r12, lr, r0, r0, 0
.endm

/* Output a block that has been added to its input. */
.macro put_block w0, w1, w2, w3
    store_block \w0, \w1, \w2, \w3, r2, 0
    ldr r0, [r1, #AT_INPUT]
    adds r0, #16
    adds r2, #16
    str r0, [r1, #AT_INPUT]
    str r2, [r1, #AT_OUTPUT]
.endm

.macro add_block w0, w1, w2, w3
    eor \w0, \w0, r3
    eor \w1, \w1, r12
    eor \w2, \w2, lr
    eor \w3, \w3, r0
.endm

    function count /* adds one to the counter of the stream r1, a number with its highest byte first; changes r0, r12 */
    add r0, r1, #AT_COUNTER + 16
1:  ldr r12, [r0, #-4]!
    rev r12, r12
    adds r12, #1
    rev r12, r12
    str r12, [r0]
    bcs 2f
    bx lr
2:  sub r12, r0, r1
    cmp r12, #AT_COUNTER
    bne 1b
    bx lr
    .size count, . - count

/* void block_stream(const struct block_key *key, struct block_stream *stream, size_t blocks, uint32_t kind) */
    .global block_stream
    function block_stream
    push {r4-r11, lr}
    push {r0-r3}
    cmp r2, #0
    beq 4f
    cmp r3, #0
    bne 5f

    /* Two counters. */
1:  load_block r4, r6, r8, r10, r1, AT_COUNTER
    bl count
    cmp r2, #1
    beq 2f
    load_block r5, r7, r9, r11, r1, AT_COUNTER
    bl count
2:  ldr r0, [sp, #STACKED_KEY]
    bl encrypt_pair
    ldr r1, [sp, #STACKED_STREAM]
    take_block
    add_block r4, r6, r8, r10
    put_block r4, r6, r8, r10
    ldr r3, [sp, #STACKED_BLOCKS]
    cmp r3, #1
    beq 4f
    take_block
    add_block r5, r7, r9, r11
    put_block r5, r7, r9, r11
    ldr r2, [sp, #STACKED_BLOCKS]
    subs r2, #2
    str r2, [sp, #STACKED_BLOCKS]
    bne 1b
4:  add sp, #16
    pop {r4-r11, pc}

    /* The check value and a counter. */
5:  load_block r4, r6, r8, r10, r1, AT_MAC
    load_block r5, r7, r9, r11, r1, AT_COUNTER
    bl count
    ldr r0, [sp, #STACKED_KEY]
    bl encrypt_pair
    ldr r1, [sp, #STACKED_STREAM]
    ldr r3, [sp, #STACKED_KIND]
    cmp r3, #DECRYPTING
    take_block
    add_block r5, r7, r9, r11
    beq 6f
    add_block r4, r6, r8, r10
    b 7f
6:  eor r4, r4, r5
    eor r6, r6, r7
    eor r8, r8, r9
    eor r10, r10, r11
7:  put_block r5, r7, r9, r11
    store_block r4, r6, r8, r10, r1, AT_MAC
    ldr r2, [sp, #STACKED_BLOCKS]
    subs r2, #1
    str r2, [sp, #STACKED_BLOCKS]
    bne 5b
    b 4b
    .size block_stream, . - block_stream

/* --- round keys: FIPS 197, 5.2, then cut into slices */

#define OLD FRAME /* on the stack, too: the next word of the group before */
#define NEW (FRAME + 4)
#define COUNT (FRAME + 8) /* words left in the group */
#define CONSTANT (FRAME + 12)
#define GROUP (FRAME + 16) /* words in a group, as many as the key has */
#define FIRST (FRAME + 20) /* the first round key */
#define END (FRAME + 24)   /* behind the last one */
#define SETUP_FRAME (FRAME + 28)

/* uint8_t block_setup(struct block_key *key, const uint8_t *bytes, uint8_t key_bytes) */
    .global block_setup
    function block_setup
    cmp r2, #16
#if CIPHER_KEY_BYTES_MAX > 16
    beq 1f
    cmp r2, #24
#if CIPHER_KEY_BYTES_MAX > 24
    beq 1f
    cmp r2, #32
#endif
#endif
    beq 1f
    movs r0, #BAD_KEY
    bx lr
1:  push {r4-r11, lr}
    sub sp, #SETUP_FRAME
    lsls r4, r2, #3 /* 32 bytes a round: 8 * key_bytes + 192 */
    adds r4, #192
#if CIPHER_KEY_BYTES_MAX > 16
    str r4, [r0], #AT_KEYS
#endif
    adds r4, #ROUND_KEY_BYTES
    adds r5, r0, r4
    str r0, [sp, #FIRST]
    str r5, [sp, #END]
    /* The words of the standard fill the second half, until slices of the same round take their place. */
    add r0, r0, r4, lsr #1
    movs r4, #1
    str r4, [sp, #CONSTANT]
    lsrs r2, #2
    str r2, [sp, #GROUP]
    movs r4, r2
    adds r5, r0, #0
2:  ldr r3, [r1], #4
    str r3, [r5], #4
    subs r4, #1
    bne 2b
    mov r1, r5
    /* r0: the next word of the group before, r1: of this one, r2: words left in it, r3: the last word. */
new_word:
    str r0, [sp, #OLD]
    str r1, [sp, #NEW]
    str r2, [sp, #COUNT]
    mov r12, #0x01010101
    and r4, r12, r3
    and r5, r12, r3, lsr #1
    and r6, r12, r3, lsr #2
    and r7, r12, r3, lsr #3
    and r8, r12, r3, lsr #4
    and r9, r12, r3, lsr #5
    and r10, r12, r3, lsr #6
    and r11, r12, r3, lsr #7
    bl aes_substitute
    eor r4, r4, r5, lsl #1
    eor r4, r4, r6, lsl #2
    eor r4, r4, r7, lsl #3
    eor r4, r4, r8, lsl #4
    eor r4, r4, r9, lsl #5
    eor r4, r4, r10, lsl #6
    eor r4, r4, r11, lsl #7
    eor r3, r4, #0x63636363
    ldr r0, [sp, #OLD]
    ldr r1, [sp, #NEW]
    ldr r2, [sp, #COUNT]
    ldr r4, [sp, #GROUP]
    cmp r2, r4
    bne next_word /* in the middle of a group of eight */
    ldr r4, [sp, #CONSTANT]
    eor r3, r4, r3, ror #8
    lsls r4, #1
    cmp r4, #0x100
    it eq
    moveq r4, #0x1b
    str r4, [sp, #CONSTANT]
next_word:
    ldr r4, [r0], #4
    eors r3, r4
    str r3, [r1], #4
    ldr r4, [sp, #END]
    cmp r1, r4
    beq 3f
    subs r2, #1
#if CIPHER_KEY_BYTES_MAX > 24
    ldr r4, [sp, #GROUP]
    add r5, r4, r2
    cmp r5, #8 + 4
    beq new_word
    cmp r2, #0
#endif
    bne next_word
    ldr r2, [sp, #GROUP]
    b new_word

    /* r0: slices, r3: words, r12: by how much this round lags behind. */
3:  ldr r0, [sp, #FIRST]
    subs r3, r1, r0
    add r3, r0, r3, lsr #1
    mov r12, #1
    select_odd_rows
4:  ldmia r3!, {r4, r6, r8, r10}
    mov lr, r12
    b 6f
5:  shift_rows r4, r6, r8, r10
6:  subs lr, #1
    bcs 5b
    mov r5, r4
    mov r7, r6
    mov r9, r8
    mov r11, r10
    bl aes_transpose
    ldr r1, [sp, #FIRST]
    cmp r0, r1
    beq 7f
    .irp slice, r4, r5, r9, r10 /* 0x63 of the S-box before */
    mvn \slice, \slice
    .endr
7:  stmia r0!, {r4-r11}
    sub r12, #1
    and r12, #3
    ldr r1, [sp, #END]
    cmp r0, r1
    bne 4b
    movs r0, #0
    add sp, #SETUP_FRAME
    pop {r4-r11, pc}
    .size block_setup, . - block_setup
