/* keys_avr.h: link_key of keys.c in AVR assembly; included by keys.c alone, in place of its own, which says what is
 * done and why.
 */
#ifndef MOTECRYPT_KEYS_AVR_H
#define MOTECRYPT_KEYS_AVR_H

#include <stddef.h>

/* Registers: r16: the identifier; Y: the link. The block is on the stack; its last byte is pushed first. */
__attribute__((naked, noinline, noclone)) void link_key(struct link *link, uint8_t id) {
    (void)link; /* r25:r24 */
    (void)id;   /* r22 */
    __asm__ volatile(
        "push r16\n\t"
        "push r28\n\t"
        "push r29\n\t"
        "movw r28, r24\n\t"
        "ldd r18, Y+%2\n\t"
        "cp r18, r22\n\t"
        "breq 9f\n\t"
        "std Y+%2, r22\n\t"
        "mov r16, r22\n\t"
        "movw r20, r24\n\t"
        "subi r20, lo8(-(%3))\n\t"
        "sbci r21, hi8(-(%3))\n\t"
        "ldi r22, %4\n\t"
        "ldi r18, 16\n\t"
        "%~call %x0\n\t"        /* link_load */
        "ldi r24, 128\n\t"
        "push r24\n\t"
        "movw r30, r28\n\t"
        "adiw r30, %5 + 4\n\t"
        "ldi r18, 4\n"
        "1:\tld r24, -Z\n\t"    /* the epoch, or zeros */
        "cpi r16, %6\n\t"
        "brlo 2f\n\t"
        "ldi r24, 0\n"
        "2:\tpush r24\n\t"
        "dec r18\n\t"
        "brne 1b\n\t"
        "ldd r24, Y+%7+1\n\t"  /* its salt, or the generation */
        "ldd r18, Y+%7\n\t"
        "cpi r16, %6\n\t"
        "brlo 1f\n\t"
        "ldd r24, Y+%10+1\n\t"
        "ldd r18, Y+%10\n"
        "1:\tpush r24\n\t"
        "push r18\n\t"
        "ldd r24, Y+%8\n\t"
        "push r24\n\t"
        "push r16\n\t"
        "ldi r24, %9\n\t"
        "push r24\n\t"
        "push __zero_reg__\n\t"
        ".irp byte, 0x32, 0x6c, 0x63, 0x6d, 1\n\t" /* 2, l, c, m */
        "ldi r24, \\byte\n\t"
        "push r24\n\t"
        ".endr\n\t"
        "in r22, __SP_L__\n\t"
        "in r23, __SP_H__\n\t"
        "subi r22, -1\n\t"
        "sbci r23, -1\n\t"
        "movw r24, r28\n\t"
        "adiw r24, %3\n\t"
        "ldi r20, 16\n\t"
        "%~call %x1\n\t"        /* link_prf */
        "movw r30, r28\n\t"
        "adiw r30, %3\n\t"
        "ldi r18, 16\n"
        "1:\tpop r0\n\t"
        "st Z+, r0\n\t"
        "dec r18\n\t"
        "brne 1b\n"
        "9:\tpop r29\n\t"
        "pop r28\n\t"
        "pop r16\n\t"
        "ret\n"
        :
        : "i"(link_load), "i"(link_prf), "i"(offsetof(struct link, key_id)), "i"(offsetof(struct link, key)),
          "i"(AT_KEY), "i"(offsetof(struct link, record.epoch)), "i"(USE_EPOCH),
          "i"(offsetof(struct link, record.salt)), "i"(offsetof(struct link, node)), "i"(LINK_SUITE),
          "i"(offsetof(struct link, generation)));
}

#endif
