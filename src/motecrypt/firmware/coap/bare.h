/* bare.h: CoAP messages over the packets of a radio alone, without the secure link (docs/coap.md, The bare
 * transport).
 *
 * A message goes in packets of one length, in order. There is no encryption, no confirmation and no
 * repetition: OSCORE protects the messages, and CoAP repeats them. Only a message that came whole and with
 * the right checksum is handed over.
 */
#ifndef MOTECRYPT_COAP_BARE_H
#define MOTECRYPT_COAP_BARE_H

#include "coap.h"

enum {
    COAP_BARE_HEAD = 2,    /* bytes of a packet in front of its part of the message */
    COAP_BARE_DOWN = 0x80, /* of the first byte: to the node; below it: reserved, and the node's number */
    COAP_BARE_NODE = 0x7F,
    COAP_BARE_INDEX = 31,                      /* of the second byte: which part; above it: which message */
    COAP_BARE_MESSAGE_MAX = 160,               /* of a CoAP message, in bytes */
    COAP_BARE_PACKET_MIN = 8,                  /* 28 packets for the longest message */
    COAP_BARE_ROOM = COAP_BARE_MESSAGE_MAX + 3 /* what is sent of it: length, message, checksum */
};

enum coap_bare_event {
    COAP_BARE_NOTHING = 0, /* a part, or a packet of somebody else */
    COAP_BARE_MESSAGE = 1,
    COAP_BARE_BROKEN = 2 /* a message with a wrong checksum or length: its packets may be parts of others */
};

/* One direction of one node. */
struct coap_bare {
    uint8_t *bytes;       /* COAP_BARE_ROOM; the message begins at the second byte */
    uint8_t packet_bytes; /* COAP_BARE_PACKET_MIN to 255 */
    uint8_t first;        /* the first byte of its packets: direction and node */
    uint8_t number;       /* of the message, 0 to 7 */
    uint8_t next;         /* the part to send or to receive next; above COAP_BARE_INDEX: none */
};

/* Begin. `down`: from the gateway to the node, else from the node. */
void coap_bare_begin(struct coap_bare *bare, uint8_t *bytes, uint8_t packet_bytes, uint8_t node,
                     uint8_t down);

/* Begin to send the message of `count` bytes behind bare->bytes[0]. Returns 0 if it is empty or too long. */
uint8_t coap_bare_send(struct coap_bare *bare, uint8_t count);

/* Write the next packet, packet_bytes long. Returns 0 if the message has left. */
uint8_t coap_bare_packet(struct coap_bare *bare, uint8_t *packet);

/* Take a packet that came. After COAP_BARE_MESSAGE a message of bare->bytes[0] bytes follows that byte, until
 * the next call. */
uint8_t coap_bare_receive(struct coap_bare *bare, const uint8_t *packet, uint8_t bytes);

/* Whether parts of a message are here and more are to come. What begins to send out of the same buffer has to
 * drop them. */
uint8_t coap_bare_coming(const struct coap_bare *bare);
void coap_bare_drop(struct coap_bare *bare);

/* CRC-16/IBM-3740: polynomial 0x1021, from 0xFFFF. */
uint16_t coap_bare_sum(const uint8_t *bytes, coap_size count);

#endif
