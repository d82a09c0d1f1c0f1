/* link_avr.h: answer, link_answer and hand_over of link.c in AVR assembly, for a node whose radio is known. Included by
 * link.c alone, in place of its own, which say what is done and why. calls_avr.h says how they begin and end.
 */
#ifndef MOTECRYPT_LINK_AVR_H
#define MOTECRYPT_LINK_AVR_H

#include <stddef.h>

uint8_t link_prove(struct link *link, uint16_t word, const uint8_t *claimed);
uint8_t link_hand_over(struct link *link, link_size bytes);

#define FIELD(name) "i"(offsetof(struct link, name))

/* Registers:
 *
 *   r13      the key's identifier
 *   r14:r15  32 bytes: what is proven, then the proof
 *   r16:r17  the packet that claims to answer; or any bytes
 *   Y        the link
 */
__attribute__((naked, noinline, noclone)) uint8_t link_prove(struct link *link, uint16_t word,
                                                             const uint8_t *claimed) {
    (void)link;    /* r25:r24 */
    (void)word;    /* r23:r22 */
    (void)claimed; /* r21:r20 */
    __asm__ volatile(
        "ldi r26, 24\n\t"
        "%~call %x[enter]\n\t" /* Z: what is 8 behind r14:r15 */
        "ldd r26, Y+%[in]\n\t"
        "ldd r27, Y+%[in] + 1\n\t"
        "movw r16, r26\n\t"
        "ldi r24, %[in_key]\n\t"
        "cp r20, __zero_reg__\n\t"
        "cpc r21, __zero_reg__\n\t"
        "breq 1f\n\t"
        "movw r16, r20\n\t"
        "ldi r24, %[out_key]\n\t"
        "ldd r26, Y+%[out]\n\t"
        "ldd r27, Y+%[out] + 1\n"
        "1:\tmov r13, r24\n\t"
        "adiw r26, %[counter] + 4\n\t"
        "ldi r18, 4\n"
        "1:\tld r0, -X\n\t"
        "push r0\n\t"
        "dec r18\n\t"
        "brne 1b\n\t"
        "push r23\n\t"
        "push r22\n\t"
        "push r0\n\t"
        "ldd r24, Y+%[node]\n\t"
        "ori r24, %[kind]\n\t"
        "push r24\n\t"
        "sbiw r26, %[counter]\n\t"
        "andi r22, %[outcome]\n\t"
        "cpi r22, %[missing]\n\t"
        "breq 2f\n\t"
        "adiw r30, 8\n\t"
        "ldi r18, 16\n"
        "1:\tld r0, X+\n\t"
        "st Z+, r0\n\t"
        "dec r18\n\t"
        "brne 1b\n"
        "2:\tin r30, __SP_L__\n\t"
        "in r31, __SP_H__\n\t"
        "adiw r30, 1\n\t"
        "movw r14, r30\n\t"
        "movw r24, r28\n\t"
        "mov r22, r13\n\t"
        "%~call %x[key_of]\n\t"
        "movw r24, r28\n\t"
        "adiw r24, %[key]\n\t"
        "movw r22, r14\n\t"
        "ldi r20, 32\n\t"
        "%~call %x[prf]\n\t"
        "movw r30, r14\n\t"
        "movw r26, r16\n\t"
        "adiw r26, 4\n\t"
        "ldi r18, %[tag_bytes]\n\t"
        "ldi r25, 0\n"
        "1:\tldd r24, Z+16\n\t"
        "std Z+4, r24\n\t"
        "adiw r30, 1\n\t"
        "ld r0, X+\n\t"
        "eor r24, r0\n\t"
        "or r25, r24\n\t"
        "dec r18\n\t"
        "brne 1b\n\t"
        "mov r20, r13\n\t"
        "cpi r20, %[out_key]\n\t"
        "mov r24, r25\n\t"
        "breq 2f\n\t"
        "movw r24, r28\n\t"
        "movw r22, r14\n\t"
        "ldi r20, %[bytes]\n\t"
        "%~call %x[packet]\n"
        "2:\tldi r18, 32\n\t"
        "%~jmp %x[leave]\n"
        :
        : [enter] "i"(link_enter), [leave] "i"(link_leave), [key_of] "i"(link_key), [prf] "i"(link_prf),
          [packet] "i"(link_packet), [in] FIELD(in), [out] FIELD(out), [node] FIELD(node), [key] FIELD(key),
          [in_key] "i"(USE_ANSWER | DIRECTION | ANSWER_TAG_BYTES),
          [out_key] "i"(USE_ANSWER | ANSWER_TAG_BYTES), [counter] "i"(AT_COUNTER), [kind] "i"(KIND_ANSWER),
          [outcome] "i"(OUTCOME), [missing] "i"(ANSWER_MISSING), [tag_bytes] "i"(ANSWER_TAG_BYTES),
          [bytes] "i"(ANSWER_BYTES)
        : "memory");
}

/* Z: the link; r23:r22: the answer's word. */
__attribute__((naked, noinline, noclone)) void link_answer(struct link *link, uint8_t taken) {
    (void)link;  /* r25:r24 */
    (void)taken; /* r22 */
    __asm__ volatile(
        "movw r30, r24\n\t"
        "ldd r18, Z+%[state]\n\t"
        "cpi r18, %[asked]\n\t"
        "brne 3f\n\t"
        "tst r22\n\t"
        "brne 1f\n\t"
        "std Z+%[state], __zero_reg__\n\t"
        "ldd r22, Z+%[next]\n\t"
        "ldd r23, Z+%[next] + 1\n\t"
        "lsl r22\n\t"
        "rol r23\n\t"
        "lsl r22\n\t"
        "rol r23\n\t"
        "ori r22, %[refused]\n\t"
        "rjmp 2f\n"
        "1:\tldi r18, %[answered_state]\n\t"
        "std Z+%[state], r18\n\t"
        "ldd r26, Z+%[in]\n\t"
        "ldd r27, Z+%[in] + 1\n\t"
        "adiw r26, %[counter]\n\t"
        ".irp byte, 0, 1, 2, 3\n\t"
        "ld r18, X+\n\t"
        "std Z+%[answered] + \\byte, r18\n\t"
        ".endr\n\t"
        "ldi r22, 0\n\t"
        "ldi r23, 0\n\t"
        "ldd r18, Z+%[failures]\n\t" /* short tags are near their bound */
        "ldd r19, Z+%[failures] + 1\n\t"
        "andi r19, 0x7f\n\t"
        "subi r18, lo8(%[bound])\n\t"
        "sbci r19, hi8(%[bound])\n\t"
        "brcs 2f\n\t"
        "ldi r22, %[no_short]\n"
        "2:\t%~jmp %x[send]\n"
        "3:\tret\n"
        :
        : [send] "i"(send_answer), [state] FIELD(answer_state), [asked] "i"(ASKED),
          [answered_state] "i"(ANSWERED), [next] FIELD(next), [refused] "i"(ANSWER_REFUSED), [in] FIELD(in),
          [counter] "i"(AT_COUNTER), [answered] FIELD(answered), [failures] FIELD(record.failures),
          [bound] "i"(LINK_FAILURES_MAX - LINK_FAILURES_SPARE), [no_short] "i"(ANSWER_ACCEPTED | 1 << 2)
        : "memory");
}

/* Registers:
 *
 *   r16      whether the application took this message before
 *   r17      length of the message
 *   r20-r23  counter, or the one after it
 *   r24-r27  its distance beyond the next
 *   Y        the link
 */
__attribute__((naked, noinline, noclone)) uint8_t link_hand_over(struct link *link, link_size bytes) {
    (void)link;  /* r25:r24 */
    (void)bytes; /* r22 */
    __asm__ volatile(
        "ldi r26, 0\n\t"
        "%~call %x[enter]\n\t"
        "mov r17, r22\n\t"
        "ldd r30, Y+%[in]\n\t"
        "ldd r31, Y+%[in] + 1\n\t"
        ".irp byte, 0, 1, 2, 3\n\t"
        "ldd r2\\byte, Z+%[counter] + \\byte\n\t"
        ".endr\n\t"
        "ldi r16, 0\n\t"
        "movw r26, r28\n\t"
        "adiw r26, %[answered]\n\t"
        "rcall 8f\n\t"
        "brne 1f\n\t"
        "ldd r18, Y+%[state]\n\t"
        "sbrc r18, 1\n\t" /* ANSWERED */
        "ldi r16, 1\n"
        "1:\tldd r24, Z+%[kind]\n\t"
        "ldd r25, Z+%[flags]\n\t"
        "or r24, r25\n\t"
        "ldi r18, %[asked]\n\t"
        "sbrc r24, 6\n\t" /* LINK_CONFIRMED */
        "std Y+%[state], r18\n\t"
        "movw r26, r28\n\t"
        "adiw r26, %[next]\n\t"
        "rcall 8f\n\t"
        "brcc 2f\n\t"

        "and r25, r26\n\t" /* below: -16 to -1 are in the window, 15 to 0 behind the newest */
        "and r25, r27\n\t"
        "com r25\n\t"
        "com r24\n\t"
        "cpi r24, %[window_bits]\n\t"
        "cpc r25, __zero_reg__\n\t"
        "brsh 6f\n\t"
        "ldi r18, 1\n\t"
        "ldi r19, 0\n\t"
        "rjmp 3f\n"
        "1:\tlsl r18\n\t"
        "rol r19\n"
        "3:\tdec r24\n\t"
        "brpl 1b\n\t"
        "ldd r24, Y+%[window]\n\t"
        "ldd r25, Y+%[window] + 1\n\t"
        "movw r26, r24\n\t"
        "and r26, r18\n\t"
        "and r27, r19\n\t"
        "or r26, r27\n\t"
        "brne 6f\n\t"
        "or r18, r24\n\t"
        "or r19, r25\n\t"
        "rjmp 4f\n"

        "6:\tldd r18, Y+%[slot]\n\t" /* an answer names `next`, which a restart would take back */
        "sbrc r18, 7\n\t"
        "rjmp 5f\n"
        "7:\tmovw r24, r28\n\t"
        "mov r22, r16\n\t"
        "%~call %x[take]\n"
        "5:\tldi r24, 0\n"
        "9:\tldi r18, 0\n\t"
        "%~jmp %x[leave]\n"

        "2:\tsubi r20, 0xff\n\t" /* it is the newest */
        ".irp byte, 1, 2, 3\n\t"
        "sbci r2\\byte, 0xff\n\t"
        ".endr\n\t"
        "breq 6b\n\t"
        ".irp byte, 0, 1, 2, 3\n\t"
        "std Y+%[next] + \\byte, r2\\byte\n\t"
        ".endr\n\t"
        "or r25, r26\n\t"
        "or r25, r27\n\t"
        "cpi r24, %[window_bits]\n\t"
        "cpc r25, __zero_reg__\n\t"
        "brlo 1f\n\t"
        "ldi r24, %[window_bits] - 1\n"
        "1:\tldd r18, Y+%[window]\n\t"
        "ldd r19, Y+%[window] + 1\n"
        "3:\tlsl r18\n\t"
        "rol r19\n\t"
        "dec r24\n\t"
        "brpl 3b\n\t"
        "ori r18, 1\n"
        "4:\tstd Y+%[window], r18\n\t"
        "std Y+%[window] + 1, r19\n\t"

        ".irp byte, 0, 1, 2, 3\n\t" /* note in storage that the counter is taken */
        "ldd r2\\byte, Y+%[next] + \\byte\n\t"
        ".endr\n\t"
        "movw r26, r28\n\t"
        "adiw r26, %[receive]\n\t"
        "rcall 8f\n\t"
        "brcc 2f\n\t"
        "ldd r18, Y+%[slot]\n\t"
        "sbrs r18, 7\n\t" /* NOT_SAVED */
        "rjmp 3f\n\t"
        "rjmp 6f\n"
        "2:\tmovw r24, r20\n\t"
        "movw r26, r22\n\t"
        "adiw r24, %[ahead]\n\t"
        "adc r26, __zero_reg__\n\t"
        "adc r27, __zero_reg__\n\t"
        "brcs 1f\n\t"
        "movw r20, r24\n\t"
        "movw r22, r26\n"
        "1:\tldd r24, Y+%[receive]\n\t" /* a failure is forgiven */
        "eor r24, r20\n\t"
        "andi r24, 0x100 - %[forgiven]\n\t"
        "breq 5f\n\t"
        "ldd r24, Y+%[failures]\n\t"
        "ldd r25, Y+%[failures] + 1\n\t"
        "movw r26, r24\n\t"
        "andi r27, 0x7f\n\t"
        "or r26, r27\n\t"
        "breq 5f\n\t"
        "sbiw r24, 1\n\t"
        "std Y+%[failures], r24\n\t"
        "std Y+%[failures] + 1, r25\n"
        "5:\t.irp byte, 0, 1, 2, 3\n\t"
        "std Y+%[receive] + \\byte, r2\\byte\n\t"
        ".endr\n"
        "6:\tmovw r24, r28\n\t"
        "%~call %x[save]\n\t"
        "tst r24\n\t"
        "brne 3f\n\t"
        "std Y+%[state], __zero_reg__\n\t"
        "ldi r24, %[storage]\n\t"
        "rjmp 9b\n"

        "3:\tstd Y+%[in_bytes], r17\n\t"
        "std Y+%[answers], __zero_reg__\n\t"
        "ldd r30, Y+%[in]\n\t"
        "ldd r31, Y+%[in] + 1\n\t"
        "ldd r18, Z+%[flags]\n\t"
        "ldi r24, %[message]\n\t"
        "sbrs r18, 4\n\t" /* LINK_COMMAND */
        "rjmp 9b\n\t"
        "ldi r24, %[part]\n\t"
        "sbrc r18, 5\n\t" /* LINK_FILE */
        "rjmp 9b\n\t"
        "ldi r16, 0\n\t"
        "cpi r17, 4\n\t"
        "brlo 1f\n\t"
        ".irp byte, 0, 1, 2, 3\n\t" /* is the command fresh? */
        "ldd r2\\byte, Y+%[send] + \\byte\n\t"
        ".endr\n\t"
        "ldd r18, Y+%[left]\n\t"
        "sec\n\t"
        "sbc r20, r18\n\t"
        ".irp byte, 1, 2, 3\n\t"
        "sbc r2\\byte, __zero_reg__\n\t"
        ".endr\n\t"
        "movw r26, r30\n\t"
        "adiw r26, %[head]\n\t"
        "rcall 8f\n\t"
        "or r25, r26\n\t"
        "or r25, r27\n\t"
        "ldd r18, Y+%[fresh]\n\t"
        "cp r24, r18\n\t"
        "cpc r25, __zero_reg__\n\t"
        "brsh 1f\n\t"
        "std Y+%[fresh], r24\n\t"
        "ldi r24, %[commanded]\n\t"
        "rjmp 9b\n"
        "1:\trjmp 7b\n"

        "8:\tmovw r24, r20\n\t" /* r24-r27: r20-r23 without the number at X, with the flags of that */
        "ld r0, X+\n\t"
        "sub r24, r0\n\t"
        "ld r0, X+\n\t"
        "sbc r25, r0\n\t"
        "ld r18, X+\n\t"
        "ld r19, X\n\t"
        "movw r26, r22\n\t"
        "sbc r26, r18\n\t"
        "sbc r27, r19\n\t"
        "ret\n"
        :
        : [enter] "i"(link_enter), [leave] "i"(link_leave), [save] "i"(link_save), [take] "i"(link_answer),
          [in] FIELD(in), [counter] "i"(AT_COUNTER), [answered] FIELD(answered), [state] FIELD(answer_state),
          [kind] "i"(AT_KIND), [flags] "i"(AT_FLAGS), [asked] "i"(ASKED), [next] FIELD(next),
          [window] FIELD(window), [window_bits] "i"(LINK_WINDOW), [receive] FIELD(record.receive),
          [slot] FIELD(slot), [ahead] "i"(LINK_RECEIVE_AHEAD), [storage] "i"(LINK_STORAGE),
          [in_bytes] FIELD(in_bytes), [message] "i"(LINK_MESSAGE), [part] "i"(LINK_FILE_PART),
          [send] FIELD(record.send), [left] FIELD(send_left), [head] "i"(LINK_HEAD), [fresh] FIELD(fresh),
          [commanded] "i"(LINK_COMMANDED), [failures] FIELD(record.failures), [forgiven] "i"(LINK_FORGIVEN),
          [answers] FIELD(answers)
        : "memory");
}

static inline uint8_t answer(struct link *link, uint16_t word, const uint8_t *claimed) {
    return link_prove(link, word, claimed);
}

static inline uint8_t hand_over(struct link *link, link_size bytes) {
    return link_hand_over(link, bytes);
}

#undef FIELD

#endif
