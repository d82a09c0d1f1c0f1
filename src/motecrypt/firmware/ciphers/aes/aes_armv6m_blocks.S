/* aes_armv6m_blocks.S: AES on Cortex-M0 and M0+ around the rounds, which are those of aes_armv6m.S or of
 * aes_armv6m_small.S. Functions as in block.h.
 *
 * These cores load and store words at multiples of four alone: elsewhere a word is put together from bytes. No
 * branch and no loop count depends on the key or the message.
 */
    .syntax unified
    .thumb

#ifndef CIPHER_KEY_BYTES_MAX
#define CIPHER_KEY_BYTES_MAX 32 /* as in cipher.h */
#endif
#define BAD_KEY 1 /* CIPHER_BAD_KEY */

.macro function name
    .section .text.\name, "ax", %progbits
    .balign 4
    .type \name, %function
    .thumb_func
\name:
.endm

.macro save
    push {r4-r7, lr}
    mov r4, r8
    mov r5, r9
    mov r6, r10
    mov r7, r11
    push {r4-r7}
.endm

.macro restore
    pop {r4-r7}
    mov r8, r4
    mov r9, r5
    mov r10, r6
    mov r11, r7
    pop {r4-r7, pc}
.endm

/* --- one block */

    .section .text.aes_bytes, "ax", %progbits
    .balign 4
    .type load_bytes, %function
    .thumb_func
load_bytes: /* r4 to r7 from r1; changes r2 */
    .set .Lat, 0
    .irp word, r4, r5, r6, r7
    ldrb \word, [r1, #.Lat + 3]
    .irp at, 2, 1, 0
    ldrb r2, [r1, #.Lat + \at]
    lsls \word, #8
    orrs \word, r2
    .endr
    .set .Lat, .Lat + 4
    .endr
    bx lr
    .size load_bytes, . - load_bytes

    .type store_bytes, %function
    .thumb_func
store_bytes: /* r1 to r4 to r0; changes them */
    .set .Lat, 0
    .irp word, r1, r2, r3, r4
    strb \word, [r0, #.Lat]
    .irp at, 1, 2, 3
    lsrs \word, #8
    strb \word, [r0, #.Lat + \at]
    .endr
    .set .Lat, .Lat + 4
    .endr
    bx lr
    .size store_bytes, . - store_bytes

.macro crypt_block words
    save
    push {r1}
    lsls r2, r1, #30
    bne 1f
    ldmia r1!, {r4-r7}
    bl \words
    pop {r0}
    stmia r0!, {r1-r4}
    restore
1:  bl load_bytes
    bl \words
    pop {r0}
    bl store_bytes
    restore
.endm

/* void block_encrypt(const struct block_key *key, uint8_t *block) */
    .global block_encrypt
    function block_encrypt
    crypt_block aes_encrypt_words
    .size block_encrypt, . - block_encrypt

#ifndef BLOCK_ENCRYPTS_ALONE
/* void block_decrypt(const struct block_key *key, uint8_t *block) */
    .global block_decrypt
    function block_decrypt
    crypt_block aes_decrypt_words
    .size block_decrypt, . - block_decrypt
#endif

/* --- many blocks */

#define AT_STREAM 16 /* struct block_stream */
#define AT_COUNTER 32
#define AT_INPUT 48
#define AT_OUTPUT 52
#define DECRYPTING 2 /* enum block_streaming */

#define STACKED_KEY 0 /* on the stack */
#define STACKED_STREAM 4
#define STACKED_BLOCKS 8
#define STACKED_KIND 12

/* void block_stream(const struct block_key *key, struct block_stream *stream, size_t blocks, uint32_t kind) */
    .global block_stream
    function block_stream
    save
    push {r0-r3}
    b next_block

one_block:
    adds r1, #AT_COUNTER
    ldmia r1!, {r4-r7}
    bl aes_encrypt_words
    ldr r0, [sp, #STACKED_STREAM]
    adds r0, #AT_STREAM
    stmia r0!, {r1-r4}
    /* Add one to the counter, whose highest byte is its first: to its last word, and on a carry to the others. */
    adds r0, #16
count:
    subs r0, #4
    ldr r4, [r0]
    rev r4, r4
    adds r4, #1
    rev r4, r4
    str r4, [r0]
    bcs carried
counted:
    ldr r0, [sp, #STACKED_STREAM]
    ldr r1, [r0, #AT_INPUT]
    ldr r2, [r0, #AT_OUTPUT]
    ldr r3, [sp, #STACKED_KIND]
    movs r7, #4 /* words */
    movs r4, r1
    orrs r4, r2
    lsls r4, #30
    bne by_bytes
by_words:
    ldmia r1!, {r4}
    ldr r5, [r0, #AT_STREAM]
    eors r5, r4
    stmia r2!, {r5}
    cmp r3, #DECRYPTING
    bne 1f
    movs r4, r5
1:  ldr r5, [r0]
    eors r5, r4
    stmia r0!, {r5}
    subs r7, #1
    bne by_words
added:
    subs r0, #16
    str r1, [r0, #AT_INPUT]
    str r2, [r0, #AT_OUTPUT]
    cmp r3, #0
    beq next_block
    ldmia r0!, {r4-r7}
    ldr r0, [sp, #STACKED_KEY]
    bl aes_encrypt_words
    ldr r0, [sp, #STACKED_STREAM]
    stmia r0!, {r1-r4}
next_block:
    ldr r0, [sp, #STACKED_KEY]
    ldr r1, [sp, #STACKED_STREAM]
    ldr r2, [sp, #STACKED_BLOCKS]
    subs r2, #1
    str r2, [sp, #STACKED_BLOCKS]
    bcs one_block
    pop {r0-r3}
    restore

carried:
    ldr r4, [sp, #STACKED_STREAM]
    adds r4, #AT_COUNTER
    cmp r0, r4
    bne count
    b counted

by_bytes:
    ldrb r4, [r1, #3]
    .irp at, 2, 1, 0
    lsls r4, #8
    ldrb r5, [r1, #\at]
    orrs r4, r5
    .endr
    ldr r5, [r0, #AT_STREAM]
    eors r5, r4
    cmp r3, #DECRYPTING
    bne 2f
    movs r4, r5
2:  ldr r6, [r0]
    eors r6, r4
    stmia r0!, {r6}
    strb r5, [r2]
    .irp at, 1, 2, 3
    lsrs r5, #8
    strb r5, [r2, #\at]
    .endr
    adds r1, #4
    adds r2, #4
    subs r7, #1
    bne by_bytes
    b added
    .size block_stream, . - block_stream

/* --- chained blocks: for both, struct block_stream has the block before in `mac` */

/* The next block of input to r4 to r7; r3: the stream. */
.macro take
    ldr r3, [sp, #STACKED_STREAM]
    ldr r1, [r3, #AT_INPUT]
    movs r2, r1
    adds r2, #16
    str r2, [r3, #AT_INPUT]
    lsls r2, r1, #30
    bne 1f
    ldmia r1!, {r4-r7}
    b 2f
1:  bl load_bytes
2:
.endm

/* r1 to r4 to the next block of output; then the next turn of the loop. */
.macro put loop
    ldr r5, [sp, #STACKED_STREAM]
    ldr r0, [r5, #AT_OUTPUT]
    movs r6, r0
    adds r6, #16
    str r6, [r5, #AT_OUTPUT]
    lsls r6, r0, #30
    bne 1f
    stmia r0!, {r1-r4}
    b 9f
1:  bl store_bytes
9:  ldr r0, [sp, #STACKED_BLOCKS]
    subs r0, #1
    str r0, [sp, #STACKED_BLOCKS]
    bcs \loop
    pop {r0-r2}
    restore
.endm

/* void block_chain_encrypt(const struct block_key *key, struct block_stream *stream, size_t blocks) */
    .global block_chain_encrypt
    function block_chain_encrypt
    save
    push {r0-r2}
    b 9f
3:  take
    ldmia r3!, {r0-r2}
    eors r4, r0
    eors r5, r1
    eors r6, r2
    ldr r0, [r3]
    eors r7, r0
    ldr r0, [sp, #STACKED_KEY]
    bl aes_encrypt_words
    ldr r0, [sp, #STACKED_STREAM]
    stmia r0!, {r1-r4}
    put 3b
    .size block_chain_encrypt, . - block_chain_encrypt

#ifndef BLOCK_ENCRYPTS_ALONE
/* void block_chain_decrypt(const struct block_key *key, struct block_stream *stream, size_t blocks) */
    .global block_chain_decrypt
    function block_chain_decrypt
    save
    push {r0-r2}
    b 9f
3:  take
    ldmia r3!, {r0-r2}
    ldr r3, [r3]
    push {r0-r3}
    ldr r0, [sp, #16 + STACKED_STREAM]
    stmia r0!, {r4-r7}
    ldr r0, [sp, #16 + STACKED_KEY]
    bl aes_decrypt_words
    pop {r5-r7}
    eors r1, r5
    eors r2, r6
    eors r3, r7
    pop {r5}
    eors r4, r5
    put 3b
    .size block_chain_decrypt, . - block_chain_decrypt
#endif

/* void block_encrypt_words(const struct block_key *key, uint32_t *block) */
    .global block_encrypt_words
    function block_encrypt_words
    save
    push {r1}
    ldmia r1!, {r4-r7}
    bl aes_encrypt_words
    pop {r0}
    stmia r0!, {r1-r4}
    restore
    .size block_encrypt_words, . - block_encrypt_words

/* --- round keys */

/* FIPS 197, 5.2. As block_setup, but changes r0 to r7. Returns the status in r0, the first round key in r2, and in r1
 * what follows the last. */
    .global aes_expand_key
    function aes_expand_key
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
1:  lsls r4, r2, #2 /* 16 bytes a round: 4 * key_bytes + 96 */
    adds r4, #96
#if CIPHER_KEY_BYTES_MAX > 16
    stmia r0!, {r4}
#endif
    adds r4, #16
    adds r4, r0
    mov r12, r4
    push {r0, lr}
    movs r3, r2
2:  subs r3, #1
    ldrb r4, [r1, r3]
    strb r4, [r0, r3]
    bne 2b
    adds r1, r0, r2
    subs r3, r1, #4
    ldr r3, [r3]
    movs r5, #1
    /* Words in groups, of as many as the key has: r0 the old words, r1 the new ones, r3 the last of them. */
next_group:
    bl aes_substitute_word
    movs r4, #8
    rors r3, r4
    eors r3, r5
    lsls r5, #1
    lsrs r4, r5, #8
    beq 3f
    movs r5, #0x1b
3:  subs r4, r1, r0
    lsrs r4, #2
next_word:
    ldmia r0!, {r2}
    eors r3, r2
    stmia r1!, {r3}
    cmp r1, r12
    beq 4f
    subs r4, #1
    beq next_group
#if CIPHER_KEY_BYTES_MAX > 24
    cmp r4, #4
    bne next_word
    subs r2, r1, r0
    cmp r2, #32
    bne next_word
    bl aes_substitute_word
    movs r4, #4
#endif
    b next_word
4:  movs r0, #0
    pop {r2, pc}
    .size aes_expand_key, . - aes_expand_key
