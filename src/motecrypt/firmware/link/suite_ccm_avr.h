/* suite_ccm_avr.h: link_crypt and link_prf of suite_ccm.c in AVR assembly, for a block cipher whose key is its
 * bytes. Included by suite_ccm.c alone, in place of its own, which say what is done and why. calls_avr.h says how they
 * begin and end.
 *
 * No branch and no loop count depends on a key or a message, except the verdict on a tag. block_encrypt changes
 * what C functions may change, and leaves the T flag alone.
 */
#ifndef MOTECRYPT_SUITE_CCM_AVR_H
#define MOTECRYPT_SUITE_CCM_AVR_H

#include <stddef.h>

/* Registers:
 *
 *   r10      number of the counter block; 0 for the one that encrypts the MAC, the last
 *   r11      bytes left
 *   r12:r13  the data that comes next
 *   r14:r15  the buffer, which begins with the MAC
 *   r16:r17  the key
 *   Y        the counter block; under it, the tag bytes
 *   T        decrypting
 */
__attribute__((naked, noinline, noclone)) uint8_t link_crypt(struct link *link, uint8_t *buffer,
                                                             link_size bytes, uint8_t id,
                                                             uint8_t decrypting) {
    (void)link;       /* r25:r24 */
    (void)buffer;     /* r23:r22 */
    (void)bytes;      /* r20 */
    (void)id;         /* r18 */
    (void)decrypting; /* r16 */
    __asm__ volatile(
        "ldi r26, 16\n\t"
        "%~call %x6\n\t"        /* link_enter */
        "movw r28, r30\n\t"
        "movw r14, r22\n\t"
        "mov r11, r20\n\t"
        "mov r10, r16\n\t"
        "movw r16, r24\n\t"
        "subi r16, lo8(-(%2))\n\t"
        "sbci r17, hi8(-(%2))\n\t"
        "mov r22, r18\n\t"
        "andi r18, %3\n\t"
        "push r18\n\t"
        "%~call %x1\n\t"        /* link_key */
        "bst r10, 0\n\t"
        "clr r10\n\t"
        "ld r24, -Y\n\t"        /* the MAC's first block: flags, nonce, length */
        "adiw r28, 1\n\t"
        "lsl r24\n\t"
        "lsl r24\n\t"
        "subi r24, 7\n\t"
        "mov r25, r11\n\t"
        "movw r26, r14\n\t"
        "rcall 9f\n\t"
        "movw r12, r30\n"       /* the message is after the nonce */

        "2:\tmovw r24, r16\n\t"
        "movw r22, r14\n\t"
        "%~call %x0\n\t"
        "inc r10\n\t"
        "ldi r24, 1\n\t"
        "tst r11\n\t"
        "brne 3f\n\t"
        "clr r10\n"
        "3:\tmov r25, r10\n\t"
        "movw r26, r28\n\t"
        "rcall 9f\n\t"
        "movw r24, r16\n\t"
        "movw r22, r28\n\t"
        "%~call %x0\n\t"
        "ldi r19, 16\n\t"
        "movw r26, r14\n\t"     /* the MAC is encrypted last, and what is added to a MAC then goes nowhere */
        "movw r30, r28\n\t"
        "tst r10\n\t"
        "breq 4f\n\t"
        "movw r26, r12\n\t"
        "movw r30, r14\n\t"
        "cp r11, r19\n\t"
        "brsh 4f\n\t"
        "mov r19, r11\n"
        "4:\tmov r18, r19\n"
        "5:\tld r24, X\n\t"
        "mov r25, r24\n\t"
        "ld r0, Y+\n\t"
        "eor r24, r0\n\t"
        "st X+, r24\n\t"
        "brts 6f\n\t"           /* the MAC is of the plaintext */
        "mov r24, r25\n"
        "6:\tld r0, Z\n\t"
        "eor r0, r24\n\t"
        "st Z+, r0\n\t"
        "dec r18\n\t"
        "brne 5b\n\t"
        "sub r28, r19\n\t"
        "sbc r29, __zero_reg__\n\t"
        "tst r10\n\t"
        "breq 7f\n\t"
        "movw r12, r26\n\t"
        "sub r11, r19\n\t"
        "rjmp 2b\n"

        "7:\tmovw r26, r12\n\t" /* the tag: compare it and write it */
        "movw r30, r14\n\t"
        "ld r18, -Y\n\t"
        "clr r25\n"
        "1:\tld r24, X\n\t"
        "ld r0, Z+\n\t"
        "eor r24, r0\n\t"
        "or r25, r24\n\t"
        "st X+, r0\n\t"
        "dec r18\n\t"
        "brne 1b\n\t"
        "ldi r24, 1\n\t"
        "brtc 8f\n\t"
        "tst r25\n\t"
        "breq 8f\n\t"
        "movw r30, r14\n"       /* it was wrong: no plaintext remains, and no tag */
        "1:\tst Z+, __zero_reg__\n\t"
        "cp r30, r26\n\t"
        "cpc r31, r27\n\t"
        "brne 1b\n\t"
        "ldi r24, 0\n"
        "8:\tldi r18, 17\n\t"
        "%~jmp %x7\n"          /* link_leave */

        "9:\tst X+, r24\n\t"    /* a block: r24, the nonce, zeros, r25 */
        "movw r30, r14\n\t"
        "adiw r30, %4\n\t"
        "ldi r18, %5\n"
        "1:\tld r0, Z+\n\t"
        "st X+, r0\n\t"
        "dec r18\n\t"
        "brne 1b\n\t"
        "ldi r18, 14 - %5\n"
        "1:\tst X+, __zero_reg__\n\t"
        "dec r18\n\t"
        "brne 1b\n\t"
        "st X+, r25\n\t"
        "ret\n"
        :
        : "i"(block_encrypt), "i"(link_key), "i"(offsetof(struct link, key)), "i"(TAG_BYTES), "i"(AT_NONCE),
          "i"(NONCE_BYTES), "i"(link_enter), "i"(link_leave)
        : "memory");
}

/* Registers:
 *
 *   r14:r15  the block of data that comes next
 *   r16:r17  a block that is encrypted and added to it
 *   Y        the key
 */
__attribute__((naked, noinline, noclone)) void link_prf(const uint8_t *key, uint8_t *data, uint8_t bytes) {
    (void)key;   /* r25:r24 */
    (void)data;  /* r23:r22 */
    (void)bytes; /* r20: 16 or 32 */
    __asm__ volatile(
        "ldi r26, 16\n\t"
        "%~call %x1\n\t"        /* link_enter */
        "movw r16, r30\n\t"
        "movw r14, r22\n\t"
        "sbrs r20, 5\n\t"
        "rjmp 3f\n\t"
        "movw r26, r16\n\t"
        "movw r30, r14\n\t"
        "ldi r18, 16\n"
        "2:\tld r0, Z+\n\t"
        "st X+, r0\n\t"
        "dec r18\n\t"
        "brne 2b\n\t"
        "movw r14, r30\n\t"
        "rcall 7f\n\t"
        "rcall 9f\n"
        "2:\tst -Z, __zero_reg__\n\t" /* 9 left Z behind the block */
        "inc r18\n\t"
        "sbrs r18, 4\n\t"
        "rjmp 2b\n"
        "3:\trcall 7f\n\t"
        "movw r30, r16\n\t"     /* doubled in GF(2^128) */
        "adiw r30, 16\n\t"
        "ldi r18, 16\n\t"
        "clc\n"
        "4:\tld r0, -Z\n\t"
        "rol r0\n\t"
        "st Z, r0\n\t"
        "dec r18\n\t"
        "brne 4b\n\t"
        "sbc r0, r0\n\t"
        "ldi r24, 0x87\n\t"
        "and r24, r0\n\t"
        "ldd r0, Z+15\n\t"
        "eor r0, r24\n\t"
        "std Z+15, r0\n\t"
        "rcall 9f\n\t"
        "movw r22, r14\n\t"
        "rcall 8f\n\t"
        "ldi r18, 16\n\t"
        "%~jmp %x2\n"          /* link_leave */

        "7:\tmovw r22, r16\n" /* encrypt the block, or what r23:r22 points at */
        "8:\tmovw r24, r28\n\t"
        "%~jmp %x0\n"

        "9:\tmovw r30, r16\n\t" /* add it to the data */
        "movw r26, r14\n\t"
        "ldi r18, 16\n"
        "1:\tld r0, Z+\n\t"
        "ld r24, X\n\t"
        "eor r24, r0\n\t"
        "st X+, r24\n\t"
        "dec r18\n\t"
        "brne 1b\n\t"
        "ret\n"
        :
        : "i"(block_encrypt), "i"(link_enter), "i"(link_leave)
        : "memory");
}

#endif
