/* avr_states.c: functions of the link's core on an UNO, in states and with arguments as they come from a generator.
 *
 * Built twice, with the core's assembly and with LINK_PLAIN_C, it must print the same: a line for each function, with
 * four digits for each case. They are a sum of all that the case left behind: the result, the state, the buffers,
 * storage, and what the function asked the cipher and the radio for. The cipher is a plain one, whose tags are right
 * as often as they are wrong. With SUITE it is the real one, and its functions are the ones under test.
 */
#include "hal.h"
#include "parts.h"

#include <string.h>

enum { BUFFER_BYTES = 180 };

/* The state's key and both buffers are across two pages of addresses. */
static struct {
    uint8_t other[220];
    struct link link;
    uint8_t buffers[660];
} held __attribute__((aligned(256)));
static uint8_t *const in = held.buffers + 170, *const out = held.buffers + 470;
static uint8_t cells[LINK_STORAGE_BYTES], packet[LINK_PACKET_BYTES];
static uint8_t packet_bytes, stuck, bad_from, sound_tags;
static uint16_t sum;

static uint8_t random_byte(void) { /* xorshift32 */
    static uint32_t state = SEED;

    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return (uint8_t)(state >> 11);
}

static uint8_t below(uint8_t limit) {
    return (uint8_t)((uint16_t)(random_byte() * limit) >> 8);
}

static uint32_t random_number(void) {
    uint32_t number;

    for (uint8_t i = 0; i < 4; i++) {
        ((uint8_t *)&number)[i] = random_byte();
    }
    return number;
}

static void fill(void *to, uint8_t bytes) { /* not as random, but quick */
    uint8_t next = random_byte(), step = random_byte() | 1;

    for (uint8_t *byte = to; bytes > 0; bytes--) {
        next = (uint8_t)(5 * next + step);
        *byte++ = next ^ bytes;
    }
}

static void note(uint8_t byte) {
    sum = (uint16_t)(sum * 2053 + byte);
}

static void note_bytes(const void *bytes, uint8_t count) {
    for (const uint8_t *byte = bytes; count > 0; count--) {
        note(*byte++);
    }
}

void link_packet(struct link *of, const uint8_t *sent, uint8_t bytes) {
    note(of == &held.link);
    note(bytes);
    note_bytes(sent, bytes);
    packet_bytes = bytes;
    memcpy(packet, sent, bytes);
}

uint16_t link_clock(struct link *of) {
    note(of == &held.link);
    return sum;
}

void link_load(struct link *of, uint8_t at, uint8_t *to, uint8_t bytes) {
    note(of == &held.link && at + bytes <= LINK_STORAGE_BYTES);
    memcpy(to, cells + at, bytes);
}

void link_store(struct link *of, uint8_t at, const uint8_t *from, uint8_t bytes) {
    note(of == &held.link && at + bytes <= LINK_STORAGE_BYTES);
    for (; bytes > 0; bytes--, at++, from++) {
        if (at != stuck && at < bad_from) {
            cells[at] = *from;
        }
    }
}

/* --- A cipher for states. */

#ifndef SUITE

#if defined(LINK_AVR)
#include "calls_avr.h"
#endif

void link_key(struct link *of, uint8_t id) {
    of->key_id = id;
    memset(of->key, id & TAG_BYTES, sizeof of->key); /* the same for both directions */
    note(of == &held.link);
    note(id);
}

void link_prf(const uint8_t *key, uint8_t *data, uint8_t bytes) {
    uint8_t state = *key;

    note(bytes);
    note_bytes(data, bytes);
    for (uint8_t i = 0; i < bytes; i++) {
        state = (uint8_t)(3 * state + data[i] + 1);
    }
    data += bytes - PRF_BYTES;
    for (uint8_t i = 0; i < PRF_BYTES; i++) {
        data[i] = state = (uint8_t)(5 * state + 77);
    }
}

uint8_t link_crypt(struct link *of, uint8_t *buffer, link_size bytes, uint8_t id, uint8_t decrypting) {
    link_key(of, id);
    note(bytes);
    note(decrypting);
    for (uint8_t i = 0; i < bytes; i++) {
        buffer[LINK_HEAD + i] ^= id;
    }
    memset(buffer, id, 16);
    if (!decrypting) {
        memset(buffer + LINK_HEAD + bytes, id, id & TAG_BYTES);
    }
    return sound_tags;
}

#include "link.c"
#include "store.c"

#else

uint8_t link_load_record(struct link *of) {
    (void)of;
    return 0;
}

#include "keys.c"
#include "suite_ccm.c"

#endif

/* --- States. */

/* A number near another one, or far from it. */
static uint32_t near(uint32_t number) {
    static const uint8_t spans[] = {1, 3, 15, 40, 255};
    uint8_t span = spans[below(sizeof spans)];

    if (below(8) == 0) {
        uint32_t far = (uint32_t)1 << 8 * (1 + below(3)); /* near except for one byte */

        number = below(2) ? number + far : number - far;
    }
    return below(16) == 0 ? random_number() : number - span / 2 + below((uint8_t)(span + (span < 255)));
}

static uint32_t random_base(void) {
    static const uint32_t bases[] = {0, 20, 0x100, 0x10000, 0x1000000, 0xffffff80, 0xfffffff0, 0xffffffff};

    return below(4) == 0 ? random_number() : bases[below(8)];
}

static void begin_case(void) {
    static const uint8_t counts[] = {0, 1, 2, 15, 16, 30, 31, 32, 63, 64, 126, 127, 128, 254, 255};
    static const uint16_t failures[] = {0, 1, 0xfbf, 0xfc0, 0xfff, 0x1000, 0x7fff};
    uint32_t base = random_base();

    sum = 0xffff;
    fill(&held.link, sizeof held.link);
    fill(in, BUFFER_BYTES);
    fill(out, BUFFER_BYTES);
    fill(cells, sizeof cells);
    held.link.in = in;
    held.link.out = out;
    held.link.in_room = (link_size)(BUFFER_BYTES - LINK_HEAD - below(100));
    held.link.next = near(base);
    held.link.record.receive = near(base);
    held.link.record.send = near(base);
    held.link.answered = near(base);
    held.link.record.failures = (uint16_t)(failures[below(7)] | (below(4) == 0 ? 0x8000 : 0));
    held.link.send_left = below(3) ? counts[below(10)] : 0; /* at most a block */
    held.link.fresh = below(LINK_FRESH + 1);
    held.link.answers = below(2) ? 0 : (uint8_t)(LINK_ANSWERS_MAX - below(2));
    held.link.since = counts[below(sizeof counts)];
    held.link.node = below(8) == 0 ? LINK_BROADCAST : below(LINK_BROADCAST);
    held.link.slot = (uint8_t)(below(8) | (below(4) == 0 ? NOT_SAVED : 0));
    held.link.answer_state = below(3);
    if (below(2)) {
        held.link.window = (uint16_t)(1 | 1u << below(16));
    }
    for (uint8_t *buffer = in;; buffer = out) {
        uint32_t counter = below(4) == 0 ? held.link.answered : near(below(2) ? held.link.next : base);

        memcpy(buffer + AT_COUNTER, &counter, sizeof counter);
        counter = near(held.link.record.send - held.link.send_left);
        memcpy(buffer + LINK_HEAD, &counter, sizeof counter);
        buffer[AT_FLAGS] &= 0x70;
        if (buffer == out) {
            break;
        }
    }
    stuck = bad_from = 0xff;
    if (below(4) == 0) {
        stuck = (uint8_t)(AT_SLOTS + SLOT_BYTES * (uint8_t)((held.link.slot + 1 + below(3)) % SLOTS) +
                          below(SLOT_BYTES));
    }
    if (below(8) == 0) {
        bad_from = below(LINK_STORAGE_BYTES);
    }
    sound_tags = below(2);
}

static void write_hex(uint16_t number) {
    for (uint8_t digits = 4; digits-- > 0;) {
        hal_write((uint8_t)("0123456789abcdef"[number >> 4 * digits & 15]));
    }
}

static void end_case(uint8_t result) {
    uint8_t pointers = (uint8_t)((held.link.in == in) | (held.link.out == out    ? 2
                                                         : held.link.out == NULL ? 4
                                                                                 : 0));

    held.link.in = held.link.out = NULL;
    note(result);
    note(pointers);
    note_bytes(&held.link, sizeof held.link);
    note_bytes(in, BUFFER_BYTES);
    note_bytes(out, BUFFER_BYTES);
    note_bytes(cells, sizeof cells);
    write_hex(sum);
}

#ifndef SUITE

static uint8_t case_of_hand_over(void) {
    return hand_over(&held.link, below(40));
}

static uint8_t case_of_answer(void) {
    uint16_t word = (uint16_t)random_number();
    uint8_t claimed[LINK_PACKET_BYTES];

    if (below(2)) { /* the answer to what `out` holds, or nearly */
        memcpy(in, out, LINK_HEAD);
    }
    (void)answer(&held.link, word, NULL);
    memcpy(claimed, packet, sizeof claimed);
    if (below(2)) {
        claimed[below(ANSWER_BYTES)] ^= (uint8_t)(1 << below(8));
    }
    return answer(&held.link, word, claimed) != 0; /* any bits, when it is wrong */
}

static uint8_t case_of_link_answer(void) {
    if (below(4)) {
        held.link.answer_state = ASKED;
    }
    link_answer(&held.link, below(2));
    return 0;
}

static uint8_t case_of_transmit(void) {
    uint8_t piece = LINK_PACKET_BYTES - LINK_PIECE_HEAD;

    held.link.out_bytes = out[AT_KIND] & KIND_LONG ? (uint8_t)(1 + below(140)) : (uint8_t)(1 + below(piece));
    if (below(8) == 0) {
        held.link.out_bytes = piece;
    }
    transmit(&held.link, (uint16_t)random_number());
    return 0;
}

static uint8_t case_of_link_send(void) {
    static const uint8_t hows[] = {0,    0,    LINK_LONG, LINK_CONFIRMED, LINK_CONFIRMED | LINK_LONG,
                                   0x50, 0x10, LINK_FILE, 0x70,           0xff};
    uint8_t bytes = below(2) ? (uint8_t)(LINK_PACKET_BYTES - 7 + below(3)) : below(132);

    if (below(16)) {
        held.link.out = NULL;
    }
    return link_send(&held.link, out, bytes, hows[below(sizeof hows)]);
}

static uint8_t case_of_link_save(void) {
    return link_save(&held.link);
}

static uint8_t case_of_link_load_record(void) {
    uint8_t block[AT_CHECK] = {(uint8_t)(2 + below(2)), below(64), LINK_OPTIONS, LINK_PACKET_BYTES, 1, 2},
            result;
    uint32_t base = random_base();

    stuck = bad_from = 0xff;
    memset(&held.link, 0, sizeof held.link);
    if (below(8) == 0) {
        block[below(4)] ^= (uint8_t)(1 << below(8));
    }
    (void)link_provision(&held.link, block);
    if (below(4) == 0) {
        memset(cells + AT_SLOTS, 0xff, sizeof cells - AT_SLOTS);
    }
    for (uint8_t saves = below(12); saves > 0; saves--) {
        uint8_t *field = (uint8_t *)&held.link.record;

        held.link.record.send = near(base);
        if (below(2)) {
            held.link.record.receive = near(base);
        } else if (below(4) == 0) {
            field[below(16)] ^= 1;
        }
        if (below(2)) {
            held.link.slot = below(SLOTS);
        }
        (void)link_save(&held.link);
    }
    if (held.link.slot < SLOTS && below(2)) {
        /* the newest record's second copy goes elsewhere, as past worn slots */
        uint8_t *copy = cells + AT_SLOTS + SLOT_BYTES * held.link.slot;

        memmove(cells + AT_SLOTS + SLOT_BYTES * below(SLOTS), copy, SLOT_BYTES);
        copy[below(SLOT_BYTES)] ^= below(2);
    }
    for (uint8_t flips = below(2) ? below(4) : 0; flips > 0; flips--) {
        cells[below(LINK_STORAGE_BYTES)] ^= (uint8_t)(1 << below(8));
    }
    memset(&held.link, 0, sizeof held.link);
    held.link.in = in;
    result = link_load_record(&held.link);
    if (result != LINK_NOTHING) { /* then nothing else may be called, and the state is nothing */
        memset(&held.link, 0, sizeof held.link);
    }
    return result;
}

static uint8_t case_of_link_receive(void) {
    uint8_t got[LINK_PACKET_BYTES];

    fill(got, sizeof got);
    got[0] = (uint8_t)((got[0] & 0xc0) | held.link.node);
    got[1] = (uint8_t)near(below(2) ? held.link.next : out[AT_COUNTER]);
    if (below(2)) {
        in[AT_FLAGS] = (uint8_t)((got[2] & 0x70) | LINK_LONG);
        in[AT_COUNTER] = got[1];
        held.link.in_have = held.link.in_need = 0x7fff;
        held.link.in_bytes = (link_size)(12 + below(60));
    }
    held.link.out_bytes = (link_size)(1 + below(20));
    return link_receive(&held.link, got,
                        below(2) ? LINK_PACKET_BYTES : (uint8_t)(3 + below(LINK_PACKET_BYTES - 2)));
}

static uint8_t (*const cases[])(void) = {
    case_of_hand_over, case_of_answer,    case_of_link_answer,      case_of_transmit,
    case_of_link_send, case_of_link_save, case_of_link_load_record, case_of_link_receive,
};

#else

static uint8_t case_of_link_key(void) {
    link_key(&held.link, random_byte());
    return held.link.key_id;
}

static uint8_t case_of_link_prf(void) {
    link_prf(held.link.key, out, below(2) ? 16 : 32);
    return 0;
}

static uint8_t case_of_link_crypt(void) {
    static const uint8_t tags[] = {4, 8, 16};
    uint8_t id = (uint8_t)((random_byte() & 0xe0) | tags[below(3)]), bytes = below(64);
    uint8_t right = link_crypt(&held.link, out, bytes, id, 0);

    if (below(2)) {
        out[below(2) ? AT_NONCE + below(NONCE_BYTES)
                     : LINK_HEAD + below((uint8_t)(bytes + (id & TAG_BYTES)))] ^= 4;
    }
    return (uint8_t)(right << 1 | link_crypt(&held.link, out, bytes, id, 1));
}

static uint8_t (*const cases[])(void) = {case_of_link_key, case_of_link_prf, case_of_link_crypt};

#endif

/* The stack begins elsewhere each time, so that it crosses from one page of addresses to the next. Registers that
 * belong to the caller hold anything, and must hold it afterwards. */
static NOINLINE uint8_t at_depth(uint8_t depth, uint8_t (*function)(void)) {
    volatile uint8_t pad[depth];
    uint8_t changed = 0;

    __asm__ volatile(".irp register, 10, 11, 12, 13, 14, 15\n\t"
                     "mov r\\register, %0\n\t"
                     ".endr"
                     :
                     : "r"(depth)
                     : "r10", "r11", "r12", "r13", "r14", "r15");
    pad[0] = function();
    __asm__ volatile(".irp register, 10, 11, 12, 13, 14, 15\n\t"
                     "cpse r\\register, %1\n\t"
                     "inc %0\n\t"
                     ".endr"
                     : "+r"(changed)
                     : "r"(depth));
    note(changed);
    return pad[0];
}

int main(void) {
    hal_init();
    for (uint8_t function = 0; function < sizeof cases / sizeof *cases; function++) {
        for (uint16_t i = 0; i < COUNT; i++) {
            begin_case();
            end_case(at_depth((uint8_t)(1 + below(255)), cases[function]));
        }
        hal_write('\n');
    }
    hal_write('.');
    for (;;) {
    }
}
