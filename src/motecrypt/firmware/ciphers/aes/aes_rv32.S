/* aes_rv32.S: rounds of AES (FIPS 197) in assembly for RISC-V cores with 31 registers and no rotation; see aes_rv32.h.
 *
 * A column is a word, its first byte lowest. Substituting and mixing a byte is one table read (The Rijndael Block Cipher,
 * 5.2.1). Of the four bytes of a column, two have a table each, rotated by 8 bits. The other two take the same tables and
 * are rotated together: a rotation takes three instructions, two more tables would take 2 KB for each direction. A table
 * read takes four: shift, mask, add the table's address, load. A loaded word is used two instructions later or more, when
 * it has arrived.
 *
 * State and temporaries are in registers that a function may change, so nothing is saved on the stack. No branch and no
 * loop count depends on the key or the message. The addresses of table reads do: their time is the same in RAM, but not
 * behind a flash cache.
 */
#define KEYS a0
#define TABLE a1 /* the second of two tables; loads reach the first and what is behind it */
#define TO a2
#define LAST a3
#define SECOND 1024

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

.macro turned_word word
    .word ((\word << .Lturn) | (\word >> (32 - .Lturn))) & 0xffffffff
.endm

/* Products in GF(2^8): twice, thrice ... */
.macro mixed_entry number
    .set .Lsubstituted, .Lbyte_\number
    .set .Ltwice, (.Lsubstituted << 1) ^ ((.Lsubstituted >> 7) * 0x11b)
    .set .Lword, .Ltwice | (.Lsubstituted << 8) | (.Lsubstituted << 16) | ((.Ltwice ^ .Lsubstituted) << 24)
    turned_word .Lword
.endm

.macro unmixed_entry number
    .set .Lsubstituted, .Lback_\number
    .set .Ltwice, (.Lsubstituted << 1) ^ ((.Lsubstituted >> 7) * 0x11b)
    .set .Lfour, (.Ltwice << 1) ^ ((.Ltwice >> 7) * 0x11b)
    .set .Leight, (.Lfour << 1) ^ ((.Lfour >> 7) * 0x11b)
    .set .Lnine, .Leight ^ .Lsubstituted
    .set .Lword, (.Leight ^ .Lfour ^ .Ltwice) | (.Lnine << 8) | ((.Lnine ^ .Lfour) << 16) | ((.Lnine ^ .Ltwice) << 24)
    turned_word .Lword
.endm

.macro back_entry number
    .byte .Lback_\number
.endm

    .section .rodata.aes_rv32_mixed, "a", %progbits
    .balign 4
    .global aes_rv32_mixed
    .type aes_rv32_mixed, @object
aes_rv32_mixed:
    .irp turn, 0, 8
    .set .Lturn, \turn
    entries mixed_entry
    .endr
    .size aes_rv32_mixed, . - aes_rv32_mixed

#ifndef BLOCK_ENCRYPTS_ALONE
    .section .rodata.aes_rv32_unmixed, "a", %progbits
    .balign 4
    .type unmixed, @object
unmixed:
    .irp turn, 0, 8
    .set .Lturn, \turn
    entries unmixed_entry
    .endr
    .size unmixed, . - unmixed
    .type bytes_back, @object
bytes_back: /* 1 KB behind the second table */
    entries back_entry
    .size bytes_back, . - bytes_back
#endif
    .noaltmacro

/* --- rounds */

/* Four times byte `number` of a column, and the table's address. */
.macro address to, column, number
    .if \number == 0
    slli \to, \column, 2
    .else
    srli \to, \column, 8 * \number - 2
    .endif
    andi \to, \to, 0x3fc
    add \to, \to, TABLE
.endm

/* A column of four bytes, and the round key `at` KEYS. */
.macro mixed_column to, c0, c1, c2, c3, at
    address t5, \c2, 2
    lw t5, -1024(t5)
    address t6, \c3, 3
    lw t6, 0(t6)
    address \to, \c0, 0
    lw \to, -1024(\to)
    xor t5, t5, t6
    address t4, \c1, 1
    lw t4, 0(t4)
    slli t6, t5, 16
    srli t5, t5, 16
    xor \to, \to, t6
    lw t6, \at(KEYS)
    xor \to, \to, t5
    xor \to, \to, t4
    xor \to, \to, t6
.endm

/* In the last round an entry of the first table has the substituted byte in its second place. */
.macro mixed_byte to, column, number
    address \to, \column, \number
    lbu \to, -1023(\to)
.endm

.macro plain_byte to, column, number
    .if \number == 3
    srli \to, \column, 24
    .elseif \number == 0
    andi \to, \column, 0xff
    .else
    srli \to, \column, 8 * \number
    andi \to, \to, 0xff
    .endif
    add \to, \to, TABLE
    lbu \to, 1024(\to)
.endm

.macro last_column kind, to, c0, c1, c2, c3, at
    \kind \to, \c0, 0
    \kind t4, \c1, 1
    \kind t5, \c2, 2
    slli t4, t4, 8
    xor \to, \to, t4
    \kind t6, \c3, 3
    lw t4, \at(KEYS)
    slli t5, t5, 16
    xor \to, \to, t5
    slli t6, t6, 24
    xor \to, \to, t6
    xor \to, \to, t4
.endm

/* \at1, \at3: where in a block columns 1 and 3 are. They change their places for decryption. */
.macro one_round kind, to0, to1, to2, to3, c0, c1, c2, c3, at, at1, at3
    \kind \to0, \c0, \c1, \c2, \c3, \at
    \kind \to1, \c1, \c2, \c3, \c0, \at + \at1
    \kind \to2, \c2, \c3, \c0, \c1, \at + 8
    \kind \to3, \c3, \c0, \c1, \c2, \at + \at3
.endm

.macro last_round byte_kind, at1, at3
    last_column \byte_kind, a4, t0, t1, t2, t3, 32
    last_column \byte_kind, a5, t1, t2, t3, t0, 32 + \at1
    last_column \byte_kind, a6, t2, t3, t0, t1, 32 + 8
    last_column \byte_kind, a7, t3, t0, t1, t2, 32 + \at3
.endm

/* There is an odd number of rounds with mixed columns. */
.macro crypt_block kind, byte_kind, table, at1, at3
    lw a4, 0(a1)
    lw a5, \at1(a1)
    lw a6, 8(a1)
    lw a7, \at3(a1)
    lw t0, 0(KEYS)
    lw t1, \at1(KEYS)
    lw t2, 8(KEYS)
    lw t3, \at3(KEYS)
    la TABLE, \table + SECOND
    addi LAST, LAST, -32
    xor a4, a4, t0
    xor a5, a5, t1
    xor a6, a6, t2
    xor a7, a7, t3
1:  one_round \kind, t0, t1, t2, t3, a4, a5, a6, a7, 16, \at1, \at3
    beq KEYS, LAST, 2f
    one_round \kind, a4, a5, a6, a7, t0, t1, t2, t3, 32, \at1, \at3
    addi KEYS, KEYS, 32
    j 1b
2:  last_round \byte_kind, \at1, \at3
    sw a4, 0(TO)
    sw a5, \at1(TO)
    sw a6, 8(TO)
    sw a7, \at3(TO)
    ret
.endm

/* void aes_rv32_encrypt(const uint32_t *keys, const uint32_t *from, uint32_t *to, const uint32_t *last) */
    .section .text.aes_rv32_encrypt, "ax", %progbits
    .balign 4
    .global aes_rv32_encrypt
    .type aes_rv32_encrypt, @function
aes_rv32_encrypt:
    crypt_block mixed_column, mixed_byte, aes_rv32_mixed, 4, 12
    .size aes_rv32_encrypt, . - aes_rv32_encrypt

#ifndef BLOCK_ENCRYPTS_ALONE
/* void aes_rv32_decrypt(const uint32_t *keys, const uint32_t *from, uint32_t *to, const uint32_t *last) */
    .section .text.aes_rv32_decrypt, "ax", %progbits
    .balign 4
    .global aes_rv32_decrypt
    .type aes_rv32_decrypt, @function
aes_rv32_decrypt:
    crypt_block mixed_column, plain_byte, unmixed, 12, 4
    .size aes_rv32_decrypt, . - aes_rv32_decrypt
#endif
