/* parser.c: link_receive on any bytes of any length, in any state that the core can be in.
 *
 * `sound` says what such a state is. It is proven to hold again after each packet, so that what is proven of
 * one packet holds for any number of them.
 */
#include "../../src/motecrypt/firmware/link/link.c"

#include "world.h"

#ifndef ROOM
#define ROOM 60 /* bytes behind LINK_HEAD of the largest buffer */
#endif

uint8_t link_save(struct link *link) {
    return nondet_byte() & 1;
}

static uint8_t in[LINK_HEAD + ROOM], out[LINK_HEAD + ROOM];

static uint8_t sound(const struct link *link) {
    uint16_t most = (uint16_t)(LINK_PIECES_MAX * (link->packet_bytes - LINK_PIECE_HEAD));

    return link->node <= LINK_BROADCAST && link->packet_bytes >= LINK_PACKET_MIN && link->in == in &&
           link->in_bytes <= link->in_room + 3 &&
           (link->out == 0 ||
            (link->out == out && link->tries > 0 && link->out_bytes > 0 &&
             link->out_bytes + link->packet_bytes <= ROOM + 3 &&
             link->out_bytes <= (out[AT_KIND] & KIND_LONG ? most : link->packet_bytes - LINK_PIECE_HEAD)));
}

#ifdef BEGIN
uint8_t link_load_record(struct link *link) {
    link->node = nondet_byte() & LINK_BROADCAST;
    link->options = nondet_byte();
    link->packet_bytes = nondet_byte();
    __CPROVER_assume(link->packet_bytes >= LINK_PACKET_MIN); /* store.c proves it */
    link->record.receive = nondet_number();
    return LINK_NOTHING;
}
#endif

int main(void) {
    struct link link = nondet_link();
    uint8_t packet[255], bytes = nondet_byte(), event = LINK_NOTHING;

    __CPROVER_havoc_object(in);
    __CPROVER_havoc_object(out);
    __CPROVER_havoc_object(packet);
    __CPROVER_assume(sound(&link));
    __CPROVER_assume(link.in_room <= ROOM);
    packet_max = link.packet_bytes;
#if defined BEGIN
    (void)link_begin(&link, in, (link_size)(LINK_HEAD + nondet_byte() % (ROOM + 1)));
    packet_max = link.packet_bytes;
#elif defined SEND
    __CPROVER_assume(LINK_BUFFER_BYTES(bytes, packet_max) <= sizeof out);
    if (nondet_byte() & 1) {
        event = link_send(&link, out, bytes, nondet_byte());
    } else {
        __CPROVER_assume(LINK_BUFFER_BYTES(2, packet_max) <= sizeof out);
        event = link_renew(&link, out, nondet_number(), nondet_word());
    }
#elif defined POLL
    event = link_poll(&link);
#else
    event = link_receive(&link, packet + sizeof packet - bytes, bytes);
    if (event == LINK_MESSAGE || event == LINK_COMMANDED || event == LINK_FILE_PART) {
        PROVE(link.in_bytes <= link.in_room, "a message lies in the buffer");
        link_answer(&link, nondet_byte() & 1);
    }
#endif
    PROVE(sound(&link), "the state is sound again");
    PROVE(link.packet_bytes == packet_max, "no packet changes the packets' length");
    PROVE(event <= LINK_FILE_PART, "an event is one of those in link.h");
    return 0;
}
