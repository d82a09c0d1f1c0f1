/* aes_tiny.c: AES-128 (FIPS 197), encryption alone, in AVR assembly for the least flash; see aes_tiny.h.
 *
 * No branch and no loop count depends on the key or the message: where a byte is doubled, both ways through
 * the branch take two cycles. AVR has no cache: lpm and ld take the same time for every address of the table.
 */
#include "block.h"
#include "tables.h"

#ifndef __AVR__
#error "aes_tiny.c is for AVR"
#endif

#ifdef TABLES_IN_RAM
#define LOAD_SUBSTITUTE "ld"
#else
#define LOAD_SUBSTITUTE "lpm"
#endif

/* FIPS 197, figure 7. */
TABLE uint8_t sbox[256] = {
    0x63, 0x7c, 0x77, 0x7b, 0xf2, 0x6b, 0x6f, 0xc5, 0x30, 0x01, 0x67, 0x2b, 0xfe, 0xd7, 0xab, 0x76,
    0xca, 0x82, 0xc9, 0x7d, 0xfa, 0x59, 0x47, 0xf0, 0xad, 0xd4, 0xa2, 0xaf, 0x9c, 0xa4, 0x72, 0xc0,
    0xb7, 0xfd, 0x93, 0x26, 0x36, 0x3f, 0xf7, 0xcc, 0x34, 0xa5, 0xe5, 0xf1, 0x71, 0xd8, 0x31, 0x15,
    0x04, 0xc7, 0x23, 0xc3, 0x18, 0x96, 0x05, 0x9a, 0x07, 0x12, 0x80, 0xe2, 0xeb, 0x27, 0xb2, 0x75,
    0x09, 0x83, 0x2c, 0x1a, 0x1b, 0x6e, 0x5a, 0xa0, 0x52, 0x3b, 0xd6, 0xb3, 0x29, 0xe3, 0x2f, 0x84,
    0x53, 0xd1, 0x00, 0xed, 0x20, 0xfc, 0xb1, 0x5b, 0x6a, 0xcb, 0xbe, 0x39, 0x4a, 0x4c, 0x58, 0xcf,
    0xd0, 0xef, 0xaa, 0xfb, 0x43, 0x4d, 0x33, 0x85, 0x45, 0xf9, 0x02, 0x7f, 0x50, 0x3c, 0x9f, 0xa8,
    0x51, 0xa3, 0x40, 0x8f, 0x92, 0x9d, 0x38, 0xf5, 0xbc, 0xb6, 0xda, 0x21, 0x10, 0xff, 0xf3, 0xd2,
    0xcd, 0x0c, 0x13, 0xec, 0x5f, 0x97, 0x44, 0x17, 0xc4, 0xa7, 0x7e, 0x3d, 0x64, 0x5d, 0x19, 0x73,
    0x60, 0x81, 0x4f, 0xdc, 0x22, 0x2a, 0x90, 0x88, 0x46, 0xee, 0xb8, 0x14, 0xde, 0x5e, 0x0b, 0xdb,
    0xe0, 0x32, 0x3a, 0x0a, 0x49, 0x06, 0x24, 0x5c, 0xc2, 0xd3, 0xac, 0x62, 0x91, 0x95, 0xe4, 0x79,
    0xe7, 0xc8, 0x37, 0x6d, 0x8d, 0xd5, 0x4e, 0xa9, 0x6c, 0x56, 0xf4, 0xea, 0x65, 0x7a, 0xae, 0x08,
    0xba, 0x78, 0x25, 0x2e, 0x1c, 0xa6, 0xb4, 0xc6, 0xe8, 0xdd, 0x74, 0x1f, 0x4b, 0xbd, 0x8b, 0x8a,
    0x70, 0x3e, 0xb5, 0x66, 0x48, 0x03, 0xf6, 0x0e, 0x61, 0x35, 0x57, 0xb9, 0x86, 0xc1, 0x1d, 0x9e,
    0xe1, 0xf8, 0x98, 0x11, 0x69, 0xd9, 0x8e, 0x94, 0x9b, 0x1e, 0x87, 0xe9, 0xce, 0x55, 0x28, 0xdf,
    0x8c, 0xa1, 0x89, 0x0d, 0xbf, 0xe6, 0x42, 0x68, 0x41, 0x99, 0x2d, 0x0f, 0xb0, 0x54, 0xbb, 0x16,
};

uint8_t block_setup(struct block_key *key, const uint8_t *bytes, uint8_t key_bytes) {
    if (key_bytes != 16)
        return CIPHER_BAD_KEY;
    for (uint8_t i = 0; i < 16; i++)
        key->bytes[i] = bytes[i];
    return CIPHER_OK;
}

/* Registers:
 *
 *   r16      round constant, which also counts the rounds: 0x36 in the last
 *   r17      0x1b, the polynomial
 *   r18-r21  the column that is mixed; its first byte is the one whose turn it is
 *   r22:r23  the block
 *   r24, r0  scratch
 *   r25      loop counter
 *   X        into the block
 *   Y        into the round key, which is on the stack: byte i at Y + 4 + i, and a copy of byte 12 after it
 */
__attribute__((naked, noinline, noclone)) void block_encrypt(const struct block_key *key, uint8_t *block) {
    (void)key; /* r25:r24 */
    (void)block; /* r23:r22 */
    __asm__ volatile(
        "push r16\n\t"
        "push r17\n\t"
        "push r28\n\t"
        "push r29\n\t"
        "push r0\n\t"           /* room for byte 12 once more */
        "movw r30, r24\n\t"     /* the key goes onto the stack, and is added to the block */
        "movw r26, r22\n\t"
        "adiw r30, 16\n\t"
        "adiw r26, 16\n\t"
        "ldi r25, 16\n"
        "1:\tld r0, -Z\n\t"
        "push r0\n\t"
        "ld r24, -X\n\t"
        "eor r24, r0\n\t"
        "st X, r24\n\t"
        "dec r25\n\t"
        "brne 1b\n\t"
        "in r28, __SP_L__\n\t"
        "in r29, __SP_H__\n\t"
        "sbiw r28, 3\n\t"
        "ldi r16, 1\n\t"
        "ldi r17, 0x1b\n"

        "2:\tldi r25, 11\n"     /* a round: substituted bytes go onto the stack, the last of shifted rows first */
        "3:\tmovw r26, r22\n\t"
        "add r26, r25\n\t"
        "adc r27, __zero_reg__\n\t"
        "ld r24, X\n\t"
        "rcall 9f\n\t"
        "push r24\n\t"
        "subi r25, -11\n\t"     /* byte i comes from 5i modulo 16; 16 - 5 = 11 */
        "andi r25, 15\n\t"
        "cpi r25, 11\n\t"
        "brne 3b\n\t"

        "movw r26, r22\n\t"
        "ldd r24, Y+16\n\t"
        "std Y+20, r24\n\t"
        "ldd r24, Y+4\n\t"
        "eor r24, r16\n\t"
        "std Y+4, r24\n\t"
        "ldi r25, 16\n"
        "4:\tmov r24, r25\n\t"  /* a byte: of a new column every four */
        "andi r24, 3\n\t"
        "brne 5f\n\t"
        "pop r18\n\t"
        "pop r19\n\t"
        "pop r20\n\t"
        "pop r21\n"
        "5:\tld r24, Y\n\t"     /* the next round key's byte: FIPS 197, 5.2 */
        "cpi r25, 13\n\t"
        "brlo 6f\n\t"
        "ldd r24, Y+17\n\t"
        "rcall 9f\n"
        "6:\tldd r0, Y+4\n\t"
        "eor r24, r0\n\t"
        "std Y+4, r24\n\t"
        "adiw r28, 1\n\t"
        "mov r0, r18\n\t"
        "cpi r16, 0x36\n\t"
        "breq 7f\n\t"
        "eor r0, r19\n\t"       /* FIPS 197, 5.1.3, as 2 (a + b) + b + c + d */
        "eor r24, r19\n\t"
        "eor r24, r20\n\t"
        "eor r24, r21\n\t"
        "lsl r0\n\t"
        "brcc 7f\n\t"
        "eor r24, r17\n"
        "7:\teor r24, r0\n\t"
        "st X+, r24\n\t"
        "mov r0, r18\n\t"       /* the column turns, back to where it was after four */
        "mov r18, r19\n\t"
        "mov r19, r20\n\t"
        "mov r20, r21\n\t"
        "mov r21, r0\n\t"
        "dec r25\n\t"
        "brne 4b\n\t"
        "sbiw r28, 16\n\t"
        "cpi r16, 0x36\n\t"
        "breq 8f\n\t"
        "lsl r16\n\t"
        "brcc 2b\n\t"
        "ldi r16, 0x1b\n\t"
        "rjmp 2b\n"

        "8:\tldi r25, 17\n"
        "1:\tpop r0\n\t"
        "dec r25\n\t"
        "brne 1b\n\t"
        "pop r29\n\t"
        "pop r28\n\t"
        "pop r17\n\t"
        "pop r16\n\t"
        "ret\n"

        "9:\tmov r30, r24\n\t"  /* substitute r24 */
        "ldi r31, 0\n\t"
        "subi r30, lo8(-(%0))\n\t"
        "sbci r31, hi8(-(%0))\n\t"
        LOAD_SUBSTITUTE " r24, Z\n\t"
        "ret\n"
        :
        : "i"(sbox)
        : "r0", "r18", "r19", "r20", "r21", "r24", "r25", "r26", "r27", "r30", "r31", "memory");
}
