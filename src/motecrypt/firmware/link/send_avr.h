/* send_avr.h: transmit and link_send of link.c in AVR assembly, for a node whose radio is known. Included by link.c
 * alone, in place of its own, which say what is done and why. calls_avr.h says how they begin and end.
 */
#ifndef MOTECRYPT_SEND_AVR_H
#define MOTECRYPT_SEND_AVR_H

#include <stddef.h>

#define FIELD(name) "i"(offsetof(struct link, name))
#define PIECE (LINK_PACKET_BYTES - LINK_PIECE_HEAD)
#define LONG_TAG_BYTES (LINK_OPTIONS & LINK_TAG_16 ? 16 : 8)
#define MOST (LINK_PIECES_MAX * PIECE - 3 - LONG_TAG_BYTES - 1)
#define STEP (LINK_OPTIONS & LINK_LISTENS ? LINK_STEP_MAX : LINK_LONG_EVERY - 1)

void link_transmit(struct link *link, uint16_t skip);

/* Registers:
 *
 *   r10      the packets' first byte
 *   r11      their second
 *   r12      the third of the next one
 *   r13      bytes left
 *   r14:r15  fragments not to be sent
 *   r16:r17  the link
 *   Y        the next packet
 *   T        the last one
 */
__attribute__((naked, noinline, noclone)) void link_transmit(struct link *link, uint16_t skip) {
    (void)link; /* r25:r24 */
    (void)skip; /* r23:r22 */
    __asm__ volatile(
        "ldi r26, 0\n\t"
        "%~call %x[enter]\n\t"
        "movw r16, r28\n\t"
        "movw r14, r22\n\t"
        "ldd r13, Y+%[out_bytes]\n\t"
        "ldd r30, Y+%[out]\n\t"
        "ldd r31, Y+%[out] + 1\n\t"
        "movw r28, r30\n\t"
        "adiw r28, %[content] - %[head]\n\t"
        "ldd r10, Z+%[kind]\n\t"
        "ldd r11, Z+%[counter]\n\t"
        "ldd r12, Z+%[flags]\n\t"
        "sbrc r10, 7\n\t" /* a short packet's third byte is the message's first */
        "rjmp 1f\n\t"
        "ldd r12, Z+%[message]\n\t"
        "adiw r28, %[message] - %[content] + 1\n"
        "1:\tldi r20, %[piece]\n\t"
        "clt\n\t"
        "cp r20, r13\n\t"
        "brlo 4f\n\t"
        "set\n\t"
        ".if (%[options]) & 4\n\t" /* LINK_STREAM: zeros fill the packet */
        "mov r18, r20\n\t"
        "sub r18, r13\n\t"
        "movw r30, r28\n\t"
        "add r30, r13\n\t"
        "adc r31, __zero_reg__\n\t"
        "rjmp 3f\n"
        "2:\tstd Z+%[head], __zero_reg__\n\t"
        "adiw r30, 1\n"
        "3:\tsubi r18, 1\n\t"
        "brcc 2b\n\t"
        ".else\n\t"
        "mov r20, r13\n\t"
        ".endif\n\t"
        "rjmp 5f\n"
        "4:\tsbrc r14, 0\n\t"
        "rjmp 6f\n"
        "5:\tld r18, Y\n\t" /* its head takes the place of other bytes */
        "push r18\n\t"
        "ldd r18, Y+1\n\t"
        "push r18\n\t"
        "ldd r18, Y+2\n\t"
        "push r18\n\t"
        "st Y, r10\n\t"
        "std Y+1, r11\n\t"
        "mov r18, r12\n\t"
        "sbrc r10, 7\n\t"
        "bld r18, 7\n\t" /* LAST */
        "std Y+2, r18\n\t"
        "movw r24, r16\n\t"
        "movw r22, r28\n\t"
        "subi r20, -%[head]\n\t"
        "%~call %x[packet]\n\t"
        "pop r18\n\t"
        "std Y+2, r18\n\t"
        "pop r18\n\t"
        "std Y+1, r18\n\t"
        "pop r18\n\t"
        "st Y, r18\n"
        "6:\tsubi r28, lo8(-(%[piece]))\n\t"
        "sbci r29, hi8(-(%[piece]))\n\t"
        "lsr r15\n\t"
        "ror r14\n\t"
        "inc r12\n\t"
        "ldi r20, %[piece]\n\t"
        "sub r13, r20\n\t"
        "breq 7f\n\t"
        "brcc 1b\n"
        "7:\tldi r18, 0\n\t"
        "%~jmp %x[leave]\n"
        :
        : [enter] "i"(link_enter), [leave] "i"(link_leave), [packet] "i"(link_packet), [out] FIELD(out),
          [out_bytes] FIELD(out_bytes), [kind] "i"(AT_KIND), [flags] "i"(AT_FLAGS), [counter] "i"(AT_COUNTER),
          [content] "i"(AT_CONTENT), [message] "i"(LINK_HEAD), [head] "i"(LINK_PIECE_HEAD), [piece] "i"(PIECE),
          [options] "i"(LINK_OPTIONS)
        : "memory");
}

/* Registers:
 *
 *   r14:r15  the buffer.
 *   r16      how to send.
 *   r17      bytes of the message, then of what the packets carry.
 *   r18      the key's identifier.
 *   r19      kind and node.
 *   r25      counters since the other end was synchronised.
 *   Y        the link.
 *   Z        the buffer.
 */
__attribute__((naked, noinline, noclone)) uint8_t link_send(struct link *link, uint8_t *buffer, link_size bytes,
                                                            uint8_t how) {
    (void)link;   /* r25:r24 */
    (void)buffer; /* r23:r22 */
    (void)bytes;  /* r20 */
    (void)how;    /* r18 */
    __asm__ volatile(
        "ldi r26, 0\n\t"
        "%~call %x[enter]\n\t"
        "movw r14, r22\n\t"
        "mov r16, r18\n\t"
        "mov r17, r20\n\t"
        "ldi r24, %[busy]\n\t"
        "ldd r18, Y+%[out]\n\t"
        "ldd r19, Y+%[out] + 1\n\t"
        "or r18, r19\n\t"
        "brne 9f\n\t"
        "ldi r24, %[too_long]\n\t"
        "ldi r18, %[most]\n\t"
        "cp r18, r17\n\t"
        "brlo 9f\n\t"
        ".if !((%[options]) & 2)\n\t" /* LINK_LISTENS */
        "mov r18, r16\n\t"
        "andi r18, 0xff & ~%[form]\n\t"
        "brne 9f\n\t"
        ".endif\n\t"
        "ldd r18, Y+%[node]\n\t"
        "cpi r18, %[broadcast]\n\t"
        "breq 9f\n\t"
        ".irp byte, 0, 1, 2, 3\n\t"
        "ldd r2\\byte, Y+%[record] + 8 + \\byte\n\t"
        ".endr\n\t"
        "ldd r18, Y+%[left]\n\t"
        "tst r18\n\t"
        "brne 2f\n\t"
        "subi r20, lo8(-(%[block]))\n\t" /* claim a block of counters */
        "sbci r21, hi8(-(%[block]))\n\t"
        "sbci r22, hlo8(-(%[block]))\n\t"
        "sbci r23, hhi8(-(%[block]))\n\t"
        "ldi r24, %[used_up]\n\t"
        "brcc 9f\n\t"
        ".irp byte, 0, 1, 2, 3\n\t"
        "std Y+%[record] + 8 + \\byte, r2\\byte\n\t"
        ".endr\n\t"
        "movw r24, r28\n\t"
        "%~call %x[save]\n\t"
        "tst r24\n\t"
        "brne 1f\n\t"
        "ldi r24, 0xff\n\t" /* the block is skipped: too far for a short packet */
        "std Y+%[since], r24\n\t"
        "ldi r24, %[storage]\n"
        "9:\tldi r18, 0\n\t"
        "%~jmp %x[leave]\n"

        "1:\t.irp byte, 0, 1, 2, 3\n\t"
        "ldd r2\\byte, Y+%[record] + 8 + \\byte\n\t"
        ".endr\n\t"
        "ldi r18, %[block]\n"
        "2:\tmovw r30, r14\n\t"
        "sub r20, r18\n\t"
        "std Z+%[kind] + 2, r20\n\t" /* AT_COUNTER */
        ".irp byte, 1, 2, 3\n\t"
        "sbc r2\\byte, __zero_reg__\n\t"
        "std Z+%[kind] + 2 + \\byte, r2\\byte\n\t"
        ".endr\n\t"
        "dec r18\n\t"
        "std Y+%[left], r18\n\t"
        ".if (%[options]) & 2\n\t"
        "mov r24, r16\n\t"
        "andi r24, %[type]\n\t"
        "cpi r24, %[command]\n\t"
        "brne 3f\n\t"
        ".irp byte, 0, 1, 2, 3\n\t"
        "ldd r2\\byte, Y+%[next] + \\byte\n\t"
        ".endr\n\t"
        "ldd r18, Y+%[record] + 4\n\t" /* record.receive */
        "cp r18, r20\n\t"
        "ldi r18, 1\n\t"
        "brne 4f\n\t"
        "ldi r18, 1 + %[ahead]\n" /* nothing was received since the start */
        "4:\tsub r20, r18\n\t"
        "std Z+%[message], r20\n\t"
        ".irp byte, 1, 2, 3\n\t"
        "sbc r2\\byte, __zero_reg__\n\t"
        "std Z+%[message] + \\byte, r2\\byte\n\t"
        ".endr\n"
        "3:\n\t"
        ".endif\n\t"
        "ldd r25, Y+%[since]\n\t"
        "cpi r25, %[step] + 1\n\t"
        "brsh 1f\n\t"
        "inc r25\n\t"
        "std Y+%[since], r25\n"
        "1:\tldd r24, Y+%[node]\n\t"
        "mov r19, r24\n\t"
        "ori r19, %[long_kind]\n\t"
        "ldi r18, %[long_key]\n\t"
        ".if (%[options]) & 1\n\t" /* LINK_SHORT */
        ".if (%[options]) & 4\n\t"
        "cpi r17, %[room]\n\t"
        "brne 4f\n\t"
        ".else\n\t"
        "cpi r17, %[room] + 1\n\t"
        "brsh 4f\n\t"
        ".endif\n\t"
        "mov r20, r16\n\t"
        "andi r20, %[form] | %[command]\n\t"
        "brne 4f\n\t"
        "ldd r20, Y+%[record] + 1\n\t" /* record.failures */
        "sbrc r20, 7\n\t" /* NO_SHORT */
        "rjmp 4f\n\t"
        "cpi r25, %[step] + 1\n\t"
        "brsh 1f\n\t"
        ".if (%[options]) & 2\n\t"
        "andi r25, %[long_every] - 1\n\t"
        "breq 4f\n\t"
        ".endif\n\t"
        "mov r19, r16\n\t"
        "andi r19, %[confirmed]\n\t"
        "or r19, r24\n\t"
        "ldi r18, %[short_key]\n\t"
        "ldi r16, 0\n\t"
        "rjmp 5f\n"
        "1:\n\t"
        ".if (%[options]) & 2\n\t"
        "ori r16, %[confirmed]\n\t" /* the answer synchronises both ends */
        ".endif\n\t"
        ".endif\n"
        "4:\n\t"
        ".if !((%[options]) & 2)\n\t"
        "std Y+%[since], __zero_reg__\n\t"
        ".endif\n"
        "5:\tstd Z+%[kind], r19\n\t"
        "andi r16, %[confirmed] | %[type]\n\t"
        "std Z+%[kind] + 1, r16\n\t"
        :
        : [enter] "i"(link_enter), [leave] "i"(link_leave), [save] "i"(link_save), [busy] "i"(LINK_BUSY),
          [too_long] "i"(LINK_TOO_LONG), [used_up] "i"(LINK_USED_UP), [storage] "i"(LINK_STORAGE), [out] FIELD(out),
          [node] FIELD(node), [left] FIELD(send_left), [since] FIELD(since),
          [next] FIELD(next), [record] FIELD(record), [ahead] "i"(LINK_RECEIVE_AHEAD),
          [long_every] "i"(LINK_LONG_EVERY), [kind] "i"(AT_KIND),
          [message] "i"(LINK_HEAD), [most] "i"(MOST > 255 ? 255 : MOST), [broadcast] "i"(LINK_BROADCAST),
          [block] "i"(LINK_SEND_BLOCK), [options] "i"(LINK_OPTIONS), [form] "i"(LINK_LONG), [type] "i"(TYPE),
          [command] "i"(LINK_COMMAND), [confirmed] "i"(LINK_CONFIRMED), [long_kind] "i"(KIND_LONG),
          [long_key] "i"(LONG_TAG_BYTES), [short_key] "i"(LINK_SHORT_TAG_BYTES),
          [room] "i"(LINK_PACKET_BYTES - SHORT_OVERHEAD), [step] "i"(STEP)
        : "memory");
    __asm__ volatile( /* start */
        ".if (%[options]) & 2\n\t"
        "ldd r24, Y+%[fresh]\n\t"
        "cpi r24, %[fresh_max]\n\t"
        "brsh 1f\n\t"
        "inc r24\n\t"
        "std Y+%[fresh], r24\n"
        "1:\n\t"
        ".endif\n\t"
        "movw r24, r28\n\t"
        "movw r22, r14\n\t"
        "mov r20, r17\n\t"
        "ldi r16, 0\n\t"
        "%~call %x[encrypt]\n\t"
        "ldd r18, Y+%[key_id]\n\t" /* of messages up: their tag bytes and no other bit */
        "add r17, r18\n\t"
        "dec r17\n\t"
        "movw r30, r14\n\t"
        "ldd r24, Z+%[kind]\n\t"
        "sbrs r24, 7\n\t"
        "rjmp 6f\n\t"
        "subi r17, -5\n\t"
        "add r30, r17\n\t"
        "adc r31, __zero_reg__\n\t"
        "ldi r24, %[end]\n\t"
        "std Z+%[content] - 1, r24\n"
        "6:\tstd Y+%[out_bytes], r17\n\t"
        "std Y+%[out_have], __zero_reg__\n\t"
        "std Y+%[out_have] + 1, __zero_reg__\n\t"
        "ldi r24, %[most_tries]\n\t"
        "std Y+%[tries], r24\n\t"
        "movw r24, r28\n\t"
        "%~call %x[clock]\n\t"
        "std Y+%[out_at], r24\n\t"
        "std Y+%[out_at] + 1, r25\n\t"
        "std Y+%[out], r14\n\t"
        "std Y+%[out] + 1, r15\n\t"
        "movw r24, r28\n\t"
        "ldi r22, 0\n\t"
        "ldi r23, 0\n\t"
        "%~call %x[packets]\n\t"
        "movw r30, r14\n\t"
        "ldd r18, Z+%[kind]\n\t"
        "ldd r19, Z+%[flags]\n\t"
        "or r18, r19\n\t"
        "ldi r24, %[waiting]\n\t"
        "sbrc r18, 6\n\t" /* LINK_CONFIRMED */
        "rjmp 9b\n\t"
        "std Y+%[out], __zero_reg__\n\t"
        "std Y+%[out] + 1, __zero_reg__\n\t"
        "ldi r24, %[sent]\n\t"
        "rjmp 9b\n"
        :
        : [encrypt] "i"(link_crypt), [clock] "i"(link_clock), [packets] "i"(link_transmit), [key_id] FIELD(key_id),
          [kind] "i"(AT_KIND), [flags] "i"(AT_FLAGS), [end] "i"(END),
          [fresh] FIELD(fresh), [fresh_max] "i"(LINK_FRESH), [options] "i"(LINK_OPTIONS),
          [content] "i"(AT_CONTENT), [out_bytes] FIELD(out_bytes), [out_have] FIELD(out_have), [tries] FIELD(tries),
          [most_tries] "i"(LINK_TRIES), [out_at] FIELD(out_at), [out] FIELD(out), [waiting] "i"(LINK_WAITING),
          [sent] "i"(LINK_SENT)
        : "memory");
}

#undef FIELD
#undef PIECE
#undef LONG_TAG_BYTES
#undef MOST
#undef STEP

static inline void transmit(struct link *link, uint16_t skip) {
    link_transmit(link, skip);
}

uint8_t link_renew(struct link *link, uint8_t *buffer, uint32_t epoch, uint16_t salt) {
    (void)link;
    (void)buffer;
    (void)epoch;
    (void)salt;
    return LINK_TOO_LONG; /* a gateway begins epochs */
}

#endif
