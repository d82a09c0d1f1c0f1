/* bridge.c: see bridge.h. */
#include "bridge.h"

enum { VERSION = 1, END = 0x7e, ESCAPE = 0x7d, FLIP = 0x20, HEAD = 3, CRC_BYTES = 2, OVERLONG = 0xffff };
enum { BAD_CHECKSUM = 1, BAD_VERSION = 2, BAD_REQUEST = 3, TOO_LONG = 4, NO_RADIO = 5 };
enum { TAKEN = 0, FULL = 1, LENGTH = 2, FAULT = 3 };

/* CRC-16/CCITT, polynomial 0x1021, a byte at a time. */
static uint16_t checksum(uint16_t crc, uint8_t byte) {
    uint16_t x = (uint16_t)((crc >> 8) ^ byte);
    x ^= (uint16_t)(x >> 4);
    return (uint16_t)((uint16_t)(crc << 8) ^ (uint16_t)(x << 12) ^ (uint16_t)(x << 5) ^ x);
}

static void escaped(uint8_t byte) {
    if (byte == END || byte == ESCAPE) {
        bridge_write(ESCAPE);
        byte ^= FLIP;
    }
    bridge_write(byte);
}

static uint16_t put(uint16_t crc, uint8_t byte) {
    escaped(byte);
    return checksum(crc, byte);
}

static uint16_t put_number(uint16_t crc, uint32_t value, uint8_t bytes) {
    for (; bytes; bytes--) {
        crc = put(crc, (uint8_t)value);
        value >>= 8;
    }
    return crc;
}

static uint16_t start(uint8_t sequence, uint8_t type) {
    bridge_write(END);
    return put(put(put(0xffff, VERSION), sequence), type);
}

static void finish(uint16_t crc) {
    escaped((uint8_t)(crc >> 8));
    escaped((uint8_t)crc);
    bridge_write(END);
}

static void greet(struct bridge *bridge, uint8_t sequence) {
    uint16_t crc = start(sequence, 'h');
    const char *name;
    crc = put(put(put(crc, BRIDGE_PACKET_MIN), BRIDGE_PACKET_MAX), BRIDGE_QUEUE);
    crc = put_number(crc, BRIDGE_DUTY, 2);
    crc = put(put(crc, bridge->channel), bridge->reset);
    crc = put_number(crc, bridge_clock(), 4);
    for (name = bridge->radio; *name; name++) {
        crc = put(crc, (uint8_t)*name);
    }
    finish(crc);
}

static void fail(uint8_t sequence, uint8_t code) {
    finish(put(start(sequence, 'e'), code));
}

/* The status of a packet, and the ms until it leaves. */
static void say(uint8_t sequence, uint8_t status, uint32_t due) {
    finish(put_number(put(start(sequence, 's'), status), due, 4));
}

/* The ms for which it still rests; the clock may wrap around. */
static uint32_t resting(const struct bridge *bridge) {
    uint32_t passed = bridge_clock() - bridge->sent_at;
    return passed < bridge->rest ? bridge->rest - passed : 0;
}

static void take(struct bridge *bridge, uint8_t sequence, const uint8_t *packet, uint16_t bytes) {
    uint8_t place;
    uint16_t i;
    if (bytes < BRIDGE_PACKET_MIN || bytes > BRIDGE_PACKET_MAX) {
        say(sequence, LENGTH, 0);
    } else if (bridge->count == BRIDGE_QUEUE) {
        say(sequence, FULL, resting(bridge));
    } else {
        place = (uint8_t)((bridge->first + bridge->count++) % BRIDGE_QUEUE);
        for (i = 0; i < bytes; i++) {
            bridge->packet[place][i] = packet[i];
        }
        bridge->length[place] = (uint8_t)bytes;
        bridge->sequence[place] = sequence;
        bridge->since[place] = bridge_clock();
        say(sequence, TAKEN, resting(bridge));
    }
}

static void obey(struct bridge *bridge) {
    const uint8_t *frame = bridge->frame;
    uint16_t crc = 0xffff, i;
    for (i = 0; i < bridge->bytes; i++) {
        crc = checksum(crc, frame[i]);
    }
    if (bridge->bytes < HEAD + CRC_BYTES || crc != 0) {
        fail(0, BAD_CHECKSUM);
    } else if (frame[0] != VERSION) {
        fail(0, BAD_VERSION);
    } else if (frame[2] == 'H') {
        greet(bridge, frame[1]);
    } else if (frame[2] == 'S') {
        take(bridge, frame[1], frame + HEAD, (uint16_t)(bridge->bytes - HEAD - CRC_BYTES));
    } else {
        fail(frame[1], BAD_REQUEST);
    }
}

void bridge_begin(struct bridge *bridge, const char *radio, uint8_t channel, uint8_t reset) {
    bridge->radio = radio;
    bridge->channel = channel;
    bridge->reset = reset;
    bridge->lost = 0;
    bridge->bytes = 0;
    bridge->escaped = 0;
    bridge->first = 0;
    bridge->count = 0;
    bridge->sent_at = 0;
    bridge->rest = 0;
    greet(bridge, 0);
}

void bridge_byte(struct bridge *bridge, uint8_t byte) {
    if (byte == END) {
        if (bridge->bytes == OVERLONG) {
            fail(0, TOO_LONG);
        } else if (bridge->escaped) {
            fail(0, BAD_CHECKSUM);
        } else if (bridge->bytes != 0) {
            obey(bridge);
        }
        bridge->bytes = 0;
        bridge->escaped = 0;
    } else if (byte == ESCAPE && !bridge->escaped) {
        bridge->escaped = 1;
    } else if (bridge->bytes >= sizeof bridge->frame) {
        bridge->bytes = OVERLONG;
    } else {
        bridge->frame[bridge->bytes++] = bridge->escaped ? byte ^ FLIP : byte;
        bridge->escaped = 0;
    }
}

void bridge_received(struct bridge *bridge, const uint8_t *packet, uint8_t bytes, int8_t rssi, int8_t snr) {
    uint16_t crc;
    if (!bridge_takes((uint16_t)(2 * (HEAD + 7 + bytes + CRC_BYTES) + 2))) {
        bridge->lost = (uint8_t)(bridge->lost + (bridge->lost < 255));
        return;
    }
    crc = put_number(start(0, 'p'), bridge_clock(), 4);
    crc = put(put(put(crc, (uint8_t)rssi), (uint8_t)snr), bridge->lost);
    bridge->lost = 0;
    while (bytes--) {
        crc = put(crc, *packet++);
    }
    finish(crc);
}

void bridge_fault(void) {
    fail(0, NO_RADIO);
}

void bridge_poll(struct bridge *bridge) {
    uint8_t place = bridge->first;
    uint32_t waited;
    uint16_t air;
    if (bridge->count == 0 || resting(bridge) != 0) {
        return;
    }
    waited = bridge_clock() - bridge->since[place];
    air = bridge_transmit(bridge->packet[place], bridge->length[place]);
    bridge->first = (uint8_t)((place + 1) % BRIDGE_QUEUE);
    bridge->count--;
    if (air == BRIDGE_FAULT) {
        say(bridge->sequence[place], FAULT, 0);
        return;
    }
    bridge->sent_at = bridge_clock();
    bridge->rest = ((uint32_t)air * (1000 - BRIDGE_DUTY) + BRIDGE_DUTY - 1) / BRIDGE_DUTY;
    finish(put_number(put_number(start(bridge->sequence[place], 'd'), bridge->sent_at, 4),
                      waited > 0xffff ? 0xffff : waited, 2));
}
