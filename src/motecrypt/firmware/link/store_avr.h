/* store_avr.h: link_load_record and link_save of store.c in AVR assembly, for a node whose radio is known. Included
 * by store.c alone, in place of its own, which say what is done and why. calls_avr.h says how they begin and end.
 */
#ifndef MOTECRYPT_STORE_AVR_H
#define MOTECRYPT_STORE_AVR_H

#include <stddef.h>

#define FIELD(name) "i"(offsetof(struct link, name))

/* Make the check value of the 16 bytes at r17:r16, in their place. The link is in Y. */
__attribute__((naked, noinline, noclone)) static void check_bytes(void) {
    __asm__ volatile(
        "movw r24, r28\n\t"
        "ldi r22, %[id]\n\t"
        "%~call %x[key_of]\n\t"
        "movw r24, r28\n\t"
        "adiw r24, %[key]\n\t"
        "movw r22, r16\n\t"
        "ldi r20, 16\n\t"
        "%~jmp %x[prf]\n"
        :
        : [id] "i"(USE_STORE | CHECK_BYTES), [key_of] "i"(link_key), [key] FIELD(key), [prf] "i"(link_prf)
        : "memory");
}

/* Registers:
 *
 *   r10:r11  what was read: the key block, or a slot.
 *   r12      slot.
 *   r13      its place.
 *   r14      where the check value is in what was read.
 *   r15      doubt.
 *   r16:r17  a copy of its first 16 bytes, which becomes the check value.
 *   Y        the link. Its slot is NOT_SAVED until a record was found.
 */
__attribute__((naked, noinline, noclone)) uint8_t link_load_record(struct link *link) {
    (void)link; /* r25:r24 */
    __asm__ volatile(
        "ldi r26, 16 + %[at_slots]\n\t"
        "%~call %x[enter]\n\t"
        "movw r10, r30\n\t"
        "adiw r30, %[at_slots]\n\t"
        "movw r16, r30\n\t"
        "ldi r22, 0\n\t"
        "ldi r18, %[at_slots]\n\t"
        "rcall 7f\n\t"
        "ld r24, Z\n\t"
        "ori r24, 1\n\t"
        "cpi r24, %[versions]\n\t"
        "brne 2f\n\t"
        "ldd r24, Z+1\n\t"
        "cpi r24, %[broadcast] + 1\n\t"
        "brsh 2f\n\t"
        "std Y+%[node], r24\n\t"
        "ldd r24, Z+2\n\t"
        "cpi r24, %[options]\n\t"
        "brne 2f\n\t"
        "ldd r24, Z+3\n\t"
        "cpi r24, %[packet_bytes]\n\t"
        "brne 2f\n\t"
        "ldd r24, Z+4\n\t"
        "std Y+%[generation], r24\n\t"
        "ldd r24, Z+5\n\t"
        "std Y+%[generation] + 1, r24\n\t"
        "ldi r24, %[at_check]\n\t"
        "rcall 8f\n\t"
        "breq 3f\n"
        "2:\tldi r24, %[no_key]\n\t"
        "rjmp 6f\n"

        "3:\tclr r12\n\t"
        "ldi r24, %[at_slots]\n\t"
        "mov r13, r24\n\t"
        "clr r15\n\t"
        "ldi r24, %[not_saved]\n\t"
        "std Y+%[slot], r24\n"
        "4:\tmov r22, r13\n\t"
        "ldi r18, %[slot_bytes]\n\t"
        "rcall 7f\n\t"
        "ldi r24, 16\n\t"
        "rcall 8f\n\t"
        "movw r30, r10\n\t"
        "breq 1f\n\t"
        "ldd r24, Z+15\n\t" /* a slot that was never written ends in 0xff */
        "inc r24\n\t"
        "or r15, r24\n\t"
        "rjmp 5f\n"
        "1:\tmovw r26, r28\n\t" /* is it above the newest so far? */
        "ldi r18, 16\n\t"
        "ldi r25, 0\n\t"
        "clc\n"
        "1:\tld r24, X+\n\t"
        "ld r0, Z+\n\t"
        "sbc r24, r0\n\t"
        "or r25, r24\n\t"
        "dec r18\n\t"
        "brne 1b\n\t"
        "brcs 2f\n\t"
        "tst r25\n\t"
        "brne 5f\n\t"
        "ldd r24, Y+%[slot]\n\t"
        "mov r25, r12\n\t"
        "sub r25, r24\n\t"
        "cpi r25, %[slots] - 2\n\t"
        "brge 5f\n"
        "2:\tstd Y+%[slot], r12\n\t"
        "movw r26, r28\n\t"
        "rcall 9f\n"
        "5:\tldi r24, %[slot_bytes]\n\t"
        "add r13, r24\n\t"
        "inc r12\n\t"
        "sbrs r12, 3\n\t"
        "rjmp 4b\n\t"
        "ldi r24, %[no_state]\n\t"
        "ldd r25, Y+%[slot]\n\t"
        "sbrc r25, 7\n\t"
        "rjmp 6f\n\t"
        "ldi r24, 0\n\t"
        "tst r15\n\t"
        "breq 6f\n\t"
        ".irp byte, 0, 1, 2, 3\n\t"
        "ldd r2\\byte, Y+%[send] + \\byte\n\t"
        ".endr\n\t"
        "subi r20, lo8(-(%[block]))\n\t"
        "sbci r21, hi8(-(%[block]))\n\t"
        "sbci r22, hlo8(-(%[block]))\n\t"
        "sbci r23, hhi8(-(%[block]))\n\t"
        "brcc 6f\n\t" /* there are none above */
        ".irp byte, 0, 1, 2, 3\n\t"
        "std Y+%[send] + \\byte, r2\\byte\n\t"
        ".endr\n"
        "6:\tldi r18, 16 + %[at_slots]\n\t"
        "%~jmp %x[leave]\n"

        "7:\tmovw r24, r28\n\t" /* read r18 bytes from r22 on; Z is at them */
        "movw r20, r10\n\t"
        "%~call %x[load]\n\t"
        "movw r30, r10\n\t"
        "ret\n"

        "8:\tmov r14, r24\n\t" /* Z flag: the check value is right, which is r24 behind */
        "movw r26, r16\n\t"
        "rcall 9f\n\t"
        "%~call %x[make_check]\n\t"
        "movw r30, r10\n\t"
        "add r30, r14\n\t"
        "adc r31, __zero_reg__\n\t"
        "movw r26, r16\n\t"
        "ldi r18, %[value_bytes]\n"
        "1:\tld r24, X+\n\t"
        "ld r0, Z+\n\t"
        "cp r24, r0\n\t"
        "brne 2f\n\t"
        "dec r18\n\t"
        "brne 1b\n"
        "2:\tret\n"

        "9:\tmovw r30, r10\n\t" /* copy 16 bytes to X */
        "ldi r18, 16\n"
        "1:\tld r0, Z+\n\t"
        "st X+, r0\n\t"
        "dec r18\n\t"
        "brne 1b\n\t"
        "ret\n"
        :
        : [enter] "i"(link_enter), [leave] "i"(link_leave), [load] "i"(link_load), [make_check] "i"(check_bytes),
          [node] FIELD(node), [generation] FIELD(generation), [send] FIELD(record.send), [slot] FIELD(slot),
          [options] "i"(LINK_OPTIONS), [packet_bytes] "i"(LINK_PACKET_BYTES), [broadcast] "i"(LINK_BROADCAST),
          [at_check] "i"(AT_CHECK), [at_slots] "i"(AT_SLOTS), [slots] "i"(SLOTS), [slot_bytes] "i"(SLOT_BYTES),
          [value_bytes] "i"(CHECK_BYTES), [versions] "i"(VERSIONS), [not_saved] "i"(NOT_SAVED), [block] "i"(LINK_SEND_BLOCK),
          [no_key] "i"(LINK_NO_KEY), [no_state] "i"(LINK_NO_STATE)
        : "memory");
}

/* Registers:
 *
 *   r13      copies that storage has kept
 *   r14      the slot's place
 *   r15      tries left
 *   r16:r17  the record and, behind it, its check value; from 20 on, what is read back
 *   Y        the link
 */
__attribute__((naked, noinline, noclone)) uint8_t link_save(struct link *link) {
    (void)link; /* r25:r24 */
    __asm__ volatile(
        "ldi r26, 8\n\t"
        "%~call %x[enter]\n\t"
        "ldi r19, 2\n" /* the record twice: the second becomes the check value */
        "1:\tmovw r30, r28\n\t"
        "adiw r30, 16\n\t"
        "ldi r18, 16\n"
        "2:\tld r0, -Z\n\t"
        "push r0\n\t"
        "dec r18\n\t"
        "brne 2b\n\t"
        "dec r19\n\t"
        "brne 1b\n\t"
        "in r16, __SP_L__\n\t"
        "in r17, __SP_H__\n\t"
        "subi r16, lo8(-17)\n\t"
        "sbci r17, hi8(-17)\n\t"
        "%~call %x[make_check]\n\t"
        "subi r16, 16\n\t"
        "sbci r17, 0\n\t"
        "clr r13\n\t"
        "ldi r24, %[slots] - 2\n\t" /* the two written last stay as they are */
        "mov r15, r24\n"
        "1:\tldd r24, Y+%[slot]\n\t"
        "inc r24\n\t"
        "andi r24, %[slots] - 1\n\t"
        "std Y+%[slot], r24\n\t"
        "mov r22, r24\n\t" /* 20 bytes a slot */
        "lsl r22\n\t"
        "lsl r22\n\t"
        "add r22, r24\n\t"
        "lsl r22\n\t"
        "lsl r22\n\t"
        "subi r22, -%[at_slots]\n\t"
        "mov r14, r22\n\t"
        "ldi r18, %[slot_bytes]\n\t"
        "movw r24, r28\n\t"
        "movw r20, r16\n\t"
        "%~call %x[store]\n\t"
        "movw r24, r28\n\t"
        "mov r22, r14\n\t"
        "movw r20, r16\n\t"
        "subi r20, lo8(-(%[slot_bytes]))\n\t"
        "sbci r21, hi8(-(%[slot_bytes]))\n\t"
        "ldi r18, %[slot_bytes]\n\t"
        "%~call %x[load]\n\t"
        "movw r30, r16\n\t"
        "ldi r18, %[slot_bytes]\n"
        "2:\tldd r24, Z+%[slot_bytes]\n\t"
        "ld r0, Z+\n\t"
        "cpse r24, r0\n\t"
        "rjmp 3f\n\t"
        "dec r18\n\t"
        "brne 2b\n\t"
        "inc r13\n\t"
        "ldi r24, 1\n\t"
        "sbrc r13, 1\n\t"
        "rjmp 4f\n"
        "3:\tdec r15\n\t"
        "brne 1b\n\t"
        "ldd r24, Y+%[slot]\n\t"
        "subi r24, -2\n\t"
        "andi r24, %[slots] - 1\n\t"
        "ori r24, %[not_saved]\n\t"
        "std Y+%[slot], r24\n\t"
        "ldi r24, 0\n"
        "4:\tldi r18, 40\n\t"
        "%~jmp %x[leave]\n"
        :
        : [enter] "i"(link_enter), [leave] "i"(link_leave), [load] "i"(link_load), [store] "i"(link_store),
          [make_check] "i"(check_bytes), [slot] FIELD(slot), [at_slots] "i"(AT_SLOTS), [slots] "i"(SLOTS),
          [slot_bytes] "i"(SLOT_BYTES), [not_saved] "i"(NOT_SAVED)
        : "memory");
}

#undef FIELD

#endif
