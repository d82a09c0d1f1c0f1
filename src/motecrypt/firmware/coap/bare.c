/* bare.c: CoAP messages over bare packets. See bare.h. */
#include "bare.h"

enum { NUMBER_SHIFT = 5, NO_PART = COAP_BARE_INDEX + 1, CRC_START = 0xFFFF, CRC_POLYNOMIAL = 0x1021 };

uint16_t coap_bare_sum(const uint8_t *bytes, coap_size count) {
    uint16_t sum = CRC_START;

    for (; count > 0; count--) {
        sum ^= (uint16_t)(*bytes++ << 8);
        for (uint8_t i = 0; i < 8; i++) {
            sum = (uint16_t)(sum & 0x8000 ? sum << 1 ^ CRC_POLYNOMIAL : sum << 1);
        }
    }
    return sum;
}

void coap_bare_begin(struct coap_bare *bare, uint8_t *bytes, uint8_t packet_bytes, uint8_t node,
                     uint8_t down) {
    bare->bytes = bytes;
    bare->packet_bytes = packet_bytes;
    bare->first = (uint8_t)(node | (down ? COAP_BARE_DOWN : 0));
    bare->number = 0;
    bare->next = NO_PART;
}

/* Bytes of what is sent for the message in the buffer. */
static coap_size whole(const struct coap_bare *bare) {
    return (coap_size)(bare->bytes[0] + 3u);
}

uint8_t coap_bare_send(struct coap_bare *bare, uint8_t count) {
    uint16_t sum;

    if (count == 0 || count > COAP_BARE_MESSAGE_MAX) {
        bare->next = NO_PART;
        return 0;
    }
    bare->bytes[0] = count;
    sum = coap_bare_sum(bare->bytes, (coap_size)(count + 1u));
    bare->bytes[count + 1] = (uint8_t)(sum >> 8);
    bare->bytes[count + 2] = (uint8_t)sum;
    bare->number = (uint8_t)((bare->number + 1) & 7);
    bare->next = 0;
    return 1;
}

uint8_t coap_bare_packet(struct coap_bare *bare, uint8_t *packet) {
    uint8_t part = (uint8_t)(bare->packet_bytes - COAP_BARE_HEAD);
    coap_size at = (coap_size)(bare->next * part); /* at most 32 * 253 */

    if (bare->next > COAP_BARE_INDEX || at >= whole(bare)) {
        bare->next = NO_PART;
        return 0;
    }
    packet[0] = bare->first;
    packet[1] = (uint8_t)(bare->number << NUMBER_SHIFT | bare->next++);
    for (uint8_t i = 0; i < part; i++, at++) {
        packet[COAP_BARE_HEAD + i] = at < whole(bare) ? bare->bytes[at] : 0;
    }
    return 1;
}

uint8_t coap_bare_receive(struct coap_bare *bare, const uint8_t *packet, uint8_t bytes) {
    uint8_t part = (uint8_t)(bare->packet_bytes - COAP_BARE_HEAD), index;
    coap_size at, count;

    if (bytes != bare->packet_bytes || packet[0] != bare->first) {
        return COAP_BARE_NOTHING;
    }
    index = packet[1] & COAP_BARE_INDEX;
    if (index == 0) {
        bare->number = packet[1] >> NUMBER_SHIFT;
        bare->next = 0;
    } else if (packet[1] >> NUMBER_SHIFT != bare->number || index != bare->next) {
        if (packet[1] >> NUMBER_SHIFT != bare->number || index + 1 != bare->next) {
            bare->next = NO_PART; /* else the radio has doubled the part that came last */
        }
        return COAP_BARE_NOTHING;
    }
    at = (coap_size)(index * part);
    for (uint8_t i = 0; i < part && at < COAP_BARE_ROOM; i++, at++) {
        bare->bytes[at] = packet[COAP_BARE_HEAD + i];
    }
    bare->next = (uint8_t)(index + 1);
    if (bare->bytes[0] == 0 || bare->bytes[0] > COAP_BARE_MESSAGE_MAX) {
        bare->next = NO_PART;
        return COAP_BARE_BROKEN;
    }
    count = whole(bare);
    if (at < count) {
        return COAP_BARE_NOTHING; /* at most 163 bytes: it ends before part 28 */
    }
    bare->next = NO_PART;
    if (coap_bare_sum(bare->bytes, (coap_size)(count - 2)) !=
        (uint16_t)(bare->bytes[count - 2] << 8 | bare->bytes[count - 1])) {
        return COAP_BARE_BROKEN;
    }
    return COAP_BARE_MESSAGE;
}

uint8_t coap_bare_coming(const struct coap_bare *bare) {
    return bare->next <= COAP_BARE_INDEX;
}

void coap_bare_drop(struct coap_bare *bare) {
    bare->next = NO_PART;
}
