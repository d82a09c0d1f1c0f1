/* calls_avr.h: how the link's functions in AVR assembly begin and end, shared by all of them. Included by keys.c
 * alone.
 *
 * link_enter is called first. It saves r10 to r17 and Y, and puts as many zeros on the stack as r26 says. It returns
 * with Z at these zeros and in Y what r25:r24 holds, mostly the link. Of the registers that arguments come in it
 * changes none.
 *
 * link_leave is jumped to. It takes as many bytes off the stack as r18 says, those zeros among them, and returns to the
 * caller of the function that called link_enter. It keeps r24 and r25.
 */
#ifndef MOTECRYPT_CALLS_AVR_H
#define MOTECRYPT_CALLS_AVR_H

#ifdef __AVR_3_BYTE_PC__
#define TAKE_RETURN_ADDRESS "pop r27\n\tpop r31\n\tpop r30\n\t"
#define GIVE_RETURN_ADDRESS "push r30\n\tpush r31\n\tpush r27\n\t"
#define RETURN_ADDRESS_BYTES 3
#else
#define TAKE_RETURN_ADDRESS "pop r31\n\tpop r30\n\t"
#define GIVE_RETURN_ADDRESS "push r30\n\tpush r31\n\t"
#define RETURN_ADDRESS_BYTES 2
#endif

__attribute__((naked, noinline, noclone)) void link_enter(void) {
    __asm__ volatile(
        TAKE_RETURN_ADDRESS
        ".irp register, 10, 11, 12, 13, 14, 15, 16, 17, 28, 29\n\t"
        "push \\register\n\t"
        ".endr\n\t"
        "movw r28, r24\n\t"
        "rjmp 2f\n"
        "1:\tpush __zero_reg__\n"
        "2:\tsubi r26, 1\n\t"
        "brcc 1b\n\t"
        GIVE_RETURN_ADDRESS
        "in r30, __SP_L__\n\t"
        "in r31, __SP_H__\n\t"
        "adiw r30, 1 + %0\n\t"
        "ret\n"
        :
        : "i"(RETURN_ADDRESS_BYTES)
        : "memory");
}

__attribute__((naked, noinline, noclone)) void link_leave(void) {
    __asm__ volatile(
        "rjmp 2f\n"
        "1:\tpop r0\n"
        "2:\tsubi r18, 1\n\t"
        "brcc 1b\n\t"
        ".irp register, 29, 28, 17, 16, 15, 14, 13, 12, 11, 10\n\t"
        "pop \\register\n\t"
        ".endr\n\t"
        "ret\n"
        :
        :
        : "memory");
}

#undef TAKE_RETURN_ADDRESS
#undef GIVE_RETURN_ADDRESS
#undef RETURN_ADDRESS_BYTES

#endif
