/* aes_armv7m_fixsliced_back.S: AES decryption (FIPS 197) in assembly for Cortex-M4, without tables; see
 * aes_armv7m_fixsliced.S, whose state and round keys these are.
 *
 * - The rounds of encryption are taken back one by one, so that the state lags behind by the shifts that it had there.
 * - The inverse of the S-box is S between two times the inverse of its affine part, since S is that part of an inverse in
 *   the field (FIPS 197, 5.1.1). Its constant is in the round keys already.
 * - InvMixColumns is MixColumns of 5 x + 4 y, where y is x rotated by two rows (The Design of Rijndael, 4.1.3).
 *
 * No branch, no loop count and no address depends on the key or the message.
 */
#include "aes_armv7m_fixsliced_parts.S"

#define FIRST LAST /* on the stack: the first round key */
#define CALLER BEFORE /* of substitute_back */

/* Bit i becomes the sum of bits i - 1, i - 3 and i - 6; changes r0 to r3, r12 and lr. */
.macro unspread
    eor r0, r11, r9
    eor r1, r4, r10
    eor r2, r5, r11
    eor r3, r6, r4
    eor r12, r7, r5
    eor lr, r8, r6
    eors r0, r6
    eors r1, r7
    eor r2, r2, r8
    eor r3, r3, r9
    eor r12, r12, r10
    eor lr, lr, r11
    eor r4, r4, r9
    eors r4, r7
    eor r11, r10, r8
    eor r11, r11, r5
    mov r10, r4
    mov r4, r0
    mov r5, r1
    mov r6, r2
    mov r7, r3
    mov r8, r12
    mov r9, lr
.endm

    function substitute_back /* the bytes in r4 to r11; changes r0 to r3, r12 and lr */
    str lr, [sp, #CALLER]
    unspread
    bl aes_substitute
    unspread
    ldr pc, [sp, #CALLER]
    .size substitute_back, . - substitute_back

/* Add the round key, and go to the one before; r0: that. */
    function add_key_back
    ldr r0, [sp, #KEYS]
    ldmia r0!, {r1, r2, r3, r12}
    eors r4, r1
    eors r5, r2
    eors r6, r3
    eor r7, r7, r12
    ldmia r0!, {r1, r2, r3, r12}
    eor r8, r8, r1
    eor r9, r9, r2
    eor r10, r10, r3
    eor r11, r11, r12
    subs r0, #2 * ROUND_KEY_BYTES
    str r0, [sp, #KEYS]
    bx lr
    .size add_key_back, . - add_key_back

/* A slice and that of two rows on, added, to the stack. */
.macro add_two_rows shift, slice, number
    .if \shift % 2
    and r12, \slice, #0x0f0f0f0f
    eor r12, r12, r12, ror #24
    eor r12, \slice, r12
    eor r0, \slice, r12, ror #20
    .else
    eor r0, \slice, \slice, ror #16
    .endif
    str r0, [sp, #4 * \number]
.endm

.macro unmix_columns shift
    add_two_rows \shift, r4, 0
    add_two_rows \shift, r5, 1
    add_two_rows \shift, r6, 2
    add_two_rows \shift, r7, 3
    add_two_rows \shift, r8, 4
    add_two_rows \shift, r9, 5
    add_two_rows \shift, r10, 6
    add_two_rows \shift, r11, 7
    /* Four times the sums: bits 6 and 7 are in r1 and r0. */
    ldr r1, [sp, #24]
    ldr r2, [sp, #0]
    ldr r3, [sp, #4]
    ldr r12, [sp, #8]
    ldr lr, [sp, #12]
    eors r4, r1
    eors r6, r2
    eors r7, r3
    eor r8, r8, r12
    eor r9, r9, lr
    ldr r2, [sp, #16]
    ldr r3, [sp, #20]
    eor r10, r10, r2
    eor r11, r11, r3
    eors r6, r0
    eors r7, r1
    eor r9, r9, r0
    eors r1, r0
    eors r5, r1
    eor r8, r8, r1
    mix_columns \shift
.endm

.macro shift_rows_of_both
    shift_rows r4, r6, r8, r10
    shift_rows r5, r7, r9, r11
.endm

/* Words in r4 to r11, as for aes_transpose; r0: the key. Changes r0 to r12. */
    function decrypt_pair
    push {lr}
    sub sp, #FRAME
#if CIPHER_KEY_BYTES_MAX > 16
    ldr r1, [r0], #AT_KEYS
    adds r2, r0, r1
#else
    add r2, r0, #320
#endif
    str r0, [sp, #FIRST]
    str r2, [sp, #KEYS]
#if CIPHER_KEY_BYTES_MAX > 16
    and r3, r1, #64
#endif
    select_odd_rows
    /* Against the shifts that the last round lacks: by three after nine and thirteen rounds, by one after eleven. */
    shift_rows_of_both
#if CIPHER_KEY_BYTES_MAX > 16
    cbz r3, 1f
#endif
    shift_rows_of_both
    shift_rows_of_both
1:  bl aes_transpose
    bl add_key_back
    bl substitute_back
#if CIPHER_KEY_BYTES_MAX > 16
    ldr r0, [sp, #KEYS]
    ldr r1, [sp, #FIRST]
    subs r0, r1
    cmp r0, #352 /* the eleventh of twelve */
    beq 3f
#endif
    .balign 4
2:  bl add_key_back
    unmix_columns 0
    bl substitute_back
    ldr r0, [sp, #KEYS]
    ldr r1, [sp, #FIRST]
    cmp r0, r1
    beq 4f
    bl add_key_back
    unmix_columns 3
    bl substitute_back
3:  bl add_key_back
    unmix_columns 2
    bl substitute_back
    bl add_key_back
    unmix_columns 1
    bl substitute_back
    b 2b
4:  bl add_key_back
    bl aes_transpose
    shift_rows_of_both
    shift_rows_of_both
    shift_rows_of_both
    add sp, #FRAME
    pop {pc}
    .size decrypt_pair, . - decrypt_pair

/* void block_decrypt(const struct block_key *key, uint8_t *block) */
    .global block_decrypt
    function block_decrypt
    push {r1, r4-r11, lr}
    load_block r4, r6, r8, r10, r1, 0
    bl decrypt_pair
    pop {r1}
    store_block r4, r6, r8, r10, r1, 0
    pop {r4-r11, pc}
    .size block_decrypt, . - block_decrypt

/* void block_decrypt_pair(const struct block_key *key, void *blocks) */
    .global block_decrypt_pair
    function block_decrypt_pair
    push {r1, r4-r11, lr}
    load_block r4, r6, r8, r10, r1, 0
    load_block r5, r7, r9, r11, r1, 16
    bl decrypt_pair
    pop {r1}
    store_block r4, r6, r8, r10, r1, 0
    store_block r5, r7, r9, r11, r1, 16
    pop {r4-r11, pc}
    .size block_decrypt_pair, . - block_decrypt_pair
