/* aes_armv7m.S: AES (FIPS 197) in assembly for Cortex-M4; see aes_armv7m.h. Functions as in
 * block.h; block_setup is in aes_armv7m_keys.S.
 *
 * A table of 1 KB for each direction has what a byte adds to a mixed column (The Rijndael Block Cipher, 5.2.1).
 * A round:
 *
 * - A byte becomes an index in one instruction, a table read multiplies it by four, and a sum rotates its second
 *   operand for nothing.
 * - Loads overlap with the load before them. So they come in runs, as long as there are registers: nine table
 *   reads, seven, and the round key.
 * - The state ends in the registers in which it began. Each instruction has 32 bits, so that none is in two words.
 * - An entry has the substituted byte itself lowest, for the last round and the round keys. A column is therefore
 *   rotated once more, as the operand of the sum with its round key.
 * - Decryption is encryption with another table, and with columns 1 and 3 in each other's place, in the state and
 *   in the round keys.
 *
 * No branch and no loop count depends on the key or the message. The addresses of table reads do: their time is
 * the same where flash has no wait states, and in RAM, but not behind a flash cache.
 */
    .syntax unified
    .thumb

#ifndef CIPHER_KEY_BYTES_MAX
#define CIPHER_KEY_BYTES_MAX 32 /* as in cipher.h */
#endif

/* struct block_key */
#if CIPHER_KEY_BYTES_MAX > 16
#define AT_KEYS 4
#else
#define AT_KEYS 0
#endif
#define SCHEDULE_BYTES (4 * CIPHER_KEY_BYTES_MAX + 112)

/* State: r4 to r7. r1 to r3 and r8 to r11 change. */
#define KEYS r0 /* the next round key */
#define TABLE r12
#define LAST lr /* the last round key */

#ifdef TABLES_IN_RAM
#define TABLE_SECTION(name) .section .data.tables.name, "aw", %progbits
#else
#define TABLE_SECTION(name) .section .rodata.name, "a", %progbits
#endif

.macro function name
    .section .text.\name, "ax", %progbits
    .balign 4
    .type \name, %function
    .thumb_func
\name:
.endm

/* --- tables, which the assembler computes: FIPS 197, 5.1.1. .Lbyte_N is N substituted, .Lback_N the inverse. */

    .altmacro
.macro substitute from, to
    .set .Lbyte_\from, \to
    .set .Lback_\to, \from
.endm

    substitute 0, 99
    .set .Lpower, 1   /* of three, which generates the field */
    .set .Linverse, 1 /* of that power */
    .rept 255
    .set .Lspread, .Linverse ^ (.Linverse << 1) ^ (.Linverse << 2) ^ (.Linverse << 3) ^ (.Linverse << 4)
    .set .Lspread, (.Lspread ^ (.Lspread >> 8)) & 0xff
    substitute %.Lpower, %(.Lspread ^ 0x63)
    .set .Lpower, .Lpower ^ (.Lpower << 1) ^ ((.Lpower >> 7) * 0x11b)
    .set .Linverse, .Linverse ^ (.Linverse << 1)
    .set .Linverse, .Linverse ^ (.Linverse << 2)
    .set .Linverse, (.Linverse ^ (.Linverse << 4)) & 0xff
    .set .Linverse, .Linverse ^ ((.Linverse >> 7) * 0x09)
    .endr

.macro entries kind
    .set .Lnumber, 0
    .rept 256
    \kind %.Lnumber
    .set .Lnumber, .Lnumber + 1
    .endr
.endm

/* Products in GF(2^8): twice, thrice ... */
.macro mixed_entry number
    .set .Lsubstituted, .Lbyte_\number
    .set .Ltwice, (.Lsubstituted << 1) ^ ((.Lsubstituted >> 7) * 0x11b)
    .word .Lsubstituted | (.Lsubstituted << 8) | ((.Ltwice ^ .Lsubstituted) << 16) | (.Ltwice << 24)
.endm

    TABLE_SECTION(aes_armv7m_mixed)
    .balign 4
    .global aes_mixed
aes_mixed:
    entries mixed_entry
    .type aes_mixed, %object
    .size aes_mixed, . - aes_mixed

#ifndef BLOCK_ENCRYPTS_ALONE
.macro unmixed_entry number
    .set .Lsubstituted, .Lback_\number
    .set .Ltwice, (.Lsubstituted << 1) ^ ((.Lsubstituted >> 7) * 0x11b)
    .set .Lfour, (.Ltwice << 1) ^ ((.Ltwice >> 7) * 0x11b)
    .set .Leight, (.Lfour << 1) ^ ((.Lfour >> 7) * 0x11b)
    .set .Lnine, .Leight ^ .Lsubstituted
    .word .Lnine | ((.Lnine ^ .Lfour) << 8) | ((.Lnine ^ .Ltwice) << 16) | ((.Leight ^ .Lfour ^ .Ltwice) << 24)
.endm

.macro back_entry number
    .byte .Lback_\number
.endm

    TABLE_SECTION(aes_armv7m_unmixed)
    .balign 4
unmixed:
    entries unmixed_entry
    .type unmixed, %object
    .size unmixed, . - unmixed
bytes_back: /* UNMIXED_BYTES behind `unmixed` */
    entries back_entry
    .type bytes_back, %object
    .size bytes_back, . - bytes_back
#define UNMIXED_BYTES 1024
#endif
    .noaltmacro

/* --- rounds */

.macro mixed_word register
    ldr.w \register, [TABLE, \register, lsl #2]
.endm

.macro mixed_byte register
    ldrb.w \register, [TABLE, \register, lsl #2]
.endm

.macro plain_byte register
    ldrb.w \register, [TABLE, \register]
.endm

.macro look_up kind, registers:vararg
    .irp register, \registers
    \kind \register
    .endr
.endm

/* `more`: a load that overlaps with the others, once the round keys are counted. */
.macro one_round kind, turn, more:vararg
    uxtb.w r1, r4
    uxtb.w r2, r4, ror #8
    uxtb.w r3, r4, ror #16
    lsr.w r4, r4, #24
    uxtb.w r8, r5
    uxtb.w r9, r5, ror #8
    uxtb.w r10, r5, ror #16
    lsr.w r5, r5, #24
    uxtb.w r11, r6, ror #16
    look_up \kind, r1, r2, r3, r4, r5, r8, r9, r10, r11
    eor.w r3, r3, r5, ror #24  /* column 2, yet to be rotated by 16 */
    eor.w r5, r8, r4, ror #8   /* column 1 */
    eor.w r4, r1, r9, ror #24  /* column 0 */
    eor.w r2, r2, r10, ror #24 /* column 3, yet to be rotated by 8 */
    eor.w r4, r4, r11, ror #16
    uxtb.w r1, r6
    uxtb.w r8, r6, ror #8
    lsr.w r6, r6, #24
    uxtb.w r9, r7
    uxtb.w r10, r7, ror #8
    uxtb.w r11, r7, ror #16
    lsr.w r7, r7, #24
    \more
    look_up \kind, r1, r6, r8, r9, r10, r11, r7
    eor.w r1, r1, r3, ror #16
    eor.w r9, r9, r2, ror #24
    eor.w r5, r5, r8, ror #24
    eor.w r4, r4, r7, ror #8
    eor.w r1, r1, r10, ror #24
    eor.w r9, r9, r6, ror #8
    eor.w r5, r5, r11, ror #16
    ldmia.w KEYS!, {r2, r3, r7, r8}
    eor.w r4, r2, r4, ror #\turn
    eor.w r5, r3, r5, ror #\turn
    eor.w r6, r7, r1, ror #\turn
    eor.w r7, r8, r9, ror #\turn
.endm

/* The key's first words into r2, r3, r8 and r9. */
.macro begin table, at
    ldr.w TABLE, =\table
#if CIPHER_KEY_BYTES_MAX > 16
    ldr.w LAST, [r0]
#endif
    ldr.w r3, [r0, #\at + 4]
    ldr.w r8, [r0, #\at + 8]
    ldr.w r9, [r0, #\at + 12]
    .if \at == 0
    ldr.w r2, [r0], #16
    .else
    ldr.w r2, [r0, #\at]
    add.w KEYS, r0, #\at + 16
    .endif
#if CIPHER_KEY_BYTES_MAX > 16
    add.w LAST, KEYS
#else
    add.w LAST, KEYS, #144
#endif
    eor.w r4, r2
    eor.w r5, r3
    eor.w r6, r8
    eor.w r7, r9
.endm

/* There is an even number of rounds: the first one is the second of the loop. */
.macro rounds byte_kind, more:vararg
    b.w 2f
1:  one_round mixed_word, 24
2:  one_round mixed_word, 24
    cmp.w KEYS, LAST
    bne.w 1b
    .ifc \byte_kind, plain_byte
    add.w TABLE, #UNMIXED_BYTES
    .endif
    one_round \byte_kind, 0, \more
.endm

/* --- one block: at any address, as these cores load and store words anywhere */

.macro crypt_block byte_kind, table, at, w1, w3
    push.w {r1, r4-r11, lr}
    ldr.w r4, [r1]
    ldr.w \w1, [r1, #4]
    ldr.w r6, [r1, #8]
    ldr.w \w3, [r1, #12]
    begin \table, \at
    rounds \byte_kind, ldr.w lr, [sp], #4
    str.w r4, [lr]
    str.w \w1, [lr, #4]
    str.w r6, [lr, #8]
    str.w \w3, [lr, #12]
    pop.w {r4-r11, pc}
.endm

/* void block_encrypt(const struct block_key *key, uint8_t *block) */
    .global block_encrypt
    function block_encrypt
    crypt_block mixed_byte, aes_mixed, AT_KEYS, r5, r7
    .size block_encrypt, . - block_encrypt

#ifndef BLOCK_ENCRYPTS_ALONE
/* void block_decrypt(const struct block_key *key, uint8_t *block) */
    .global block_decrypt
    function block_decrypt
    crypt_block plain_byte, unmixed, AT_KEYS + SCHEDULE_BYTES, r7, r5
    .size block_decrypt, . - block_decrypt
#endif

/* The same for a block in r4 to r7; r0: the key. Changes r0 to r12. */
    function encrypt_words
    push.w {lr}
    begin aes_mixed, AT_KEYS
    rounds mixed_byte
    pop.w {pc}
    .size encrypt_words, . - encrypt_words

/* void block_encrypt_words(const struct block_key *key, uint32_t *block) */
    .global block_encrypt_words
    function block_encrypt_words
    push.w {r1, r4-r11, lr}
    ldmia.w r1, {r4-r7}
    bl encrypt_words
    ldr.w r1, [sp], #4
    stmia.w r1, {r4-r7}
    pop.w {r4-r11, pc}
    .size block_encrypt_words, . - block_encrypt_words

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

.macro load_block w0, w1, w2, w3, from, at
    ldr \w0, [\from, #\at]
    ldr \w1, [\from, #\at + 4]
    ldr \w2, [\from, #\at + 8]
    ldr \w3, [\from, #\at + 12]
.endm

.macro store_block w0, w1, w2, w3, to, at
    str \w0, [\to, #\at]
    str \w1, [\to, #\at + 4]
    str \w2, [\to, #\at + 8]
    str \w3, [\to, #\at + 12]
.endm

.macro add_block w0, w1, w2, w3
    eor r4, \w0
    eor r5, \w1
    eor r6, \w2
    eor r7, \w3
.endm

/* void block_stream(const struct block_key *key, struct block_stream *stream, size_t blocks, uint32_t kind) */
    .global block_stream
    function block_stream
    push {r4-r11, lr}
    push {r0-r3}
    b next_block

    .balign 4
one_block:
    load_block r4, r5, r6, r7, r1, AT_COUNTER
    bl encrypt_words
    ldr r2, [sp, #STACKED_STREAM]
    ldr r3, [sp, #STACKED_KIND]
    ldr r0, [r2, #AT_INPUT]
    ldr r1, [r2, #AT_OUTPUT]
    ldr r12, [r2, #AT_COUNTER + 12]
    load_block r8, r9, r10, r11, r0, 0
    rev r12, r12
    adds r0, #16
    add_block r8, r9, r10, r11
    str r0, [r2, #AT_INPUT]
    store_block r4, r5, r6, r7, r1, 0
    adds r1, #16
    str r1, [r2, #AT_OUTPUT]
    /* Add one to the counter, whose highest byte is its first: to its last word, and on a carry to the others. */
    adds r12, #1
    rev r12, r12
    str r12, [r2, #AT_COUNTER + 12]
    bcs carried
counted:
    cbz r3, next_block
    cmp r3, #DECRYPTING
    beq 1f
    mov r4, r8
    mov r5, r9
    mov r6, r10
    mov r7, r11
1:  ldr r0, [sp, #STACKED_KEY]
    load_block r8, r9, r10, r11, r2, AT_MAC
    add_block r8, r9, r10, r11
    bl encrypt_words
    ldr r2, [sp, #STACKED_STREAM]
    store_block r4, r5, r6, r7, r2, AT_MAC
next_block:
    pop {r0-r2}
    subs r2, #1
    push {r0-r2}
    bcs one_block
    add sp, #16
    pop {r4-r11, pc}

carried:
    add r0, r2, #AT_COUNTER + 8
    movs r1, #3
1:  ldr r12, [r0]
    rev r12, r12
    adds r12, #1
    rev r12, r12
    str r12, [r0]
    bcc counted
    subs r0, #4
    subs r1, #1
    bne 1b
    b counted
    .size block_stream, . - block_stream

/* --- chained blocks: for both, struct block_stream has the block before in `mac` */

/* void block_chain_encrypt(const struct block_key *key, struct block_stream *stream, size_t blocks) */
    .global block_chain_encrypt
    function block_chain_encrypt
    push {r4-r11, lr}
    push {r0-r2}
    load_block r4, r5, r6, r7, r1, AT_MAC
    b 2f
    .balign 4
1:  ldr r2, [r1, #AT_INPUT]
    load_block r8, r9, r10, r11, r2, 0
    adds r2, #16
    str r2, [r1, #AT_INPUT]
    add_block r8, r9, r10, r11
    bl encrypt_words
    ldr r1, [sp, #STACKED_STREAM]
    ldr r2, [r1, #AT_OUTPUT]
    store_block r4, r5, r6, r7, r2, 0
    adds r2, #16
    str r2, [r1, #AT_OUTPUT]
2:  pop {r0-r2}
    subs r2, #1
    push {r0-r2}
    bcs 1b
    store_block r4, r5, r6, r7, r1, AT_MAC
    add sp, #12
    pop {r4-r11, pc}
    .size block_chain_encrypt, . - block_chain_encrypt

#ifndef BLOCK_ENCRYPTS_ALONE
/* void block_chain_decrypt(const struct block_key *key, struct block_stream *stream, size_t blocks) */
    .global block_chain_decrypt
    function block_chain_decrypt
    push {r4-r11, lr}
    push {r0-r2}
    b 4f
    .balign 4
3:  ldr r2, [r1, #AT_INPUT]
    load_block r4, r7, r6, r5, r2, 0
    adds r2, #16
    str r2, [r1, #AT_INPUT]
    push {r4-r7}
    begin unmixed, AT_KEYS + SCHEDULE_BYTES
    rounds plain_byte
    ldr r1, [sp, #16 + STACKED_STREAM]
    load_block r8, r11, r10, r9, r1, AT_MAC
    ldr r2, [r1, #AT_OUTPUT]
    add_block r8, r9, r10, r11
    store_block r4, r7, r6, r5, r2, 0
    adds r2, #16
    str r2, [r1, #AT_OUTPUT]
    pop {r4-r7}
    store_block r4, r7, r6, r5, r1, AT_MAC
4:  pop {r0-r2}
    subs r2, #1
    push {r0-r2}
    bcs 3b
    add sp, #12
    pop {r4-r11, pc}
    .size block_chain_decrypt, . - block_chain_decrypt
#endif
