/* bridge_fuzz.c: hostile bytes, good and changed frames, packets, time and faults of the radio for a bridge's core.
 *
 * It ends by itself where a promise does not hold: what is written is whole frames, each with its checksum; a packet that
 * was taken is sent once or reported, in order; none leaves while the radio rests; no length outside the radio's is sent.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bridge.h"

enum { END = 0x7e, ESCAPE = 0x7d, TAKEN_MAX = BRIDGE_QUEUE, LINE_BYTES = 700 };

static struct bridge *bridge;
static const uint8_t *input;
static size_t left;
static uint32_t now, rests_until;
static uint16_t air;
static uint8_t full, rests;
static uint8_t line[LINE_BYTES];
static size_t line_bytes;
static uint8_t expected[TAKEN_MAX][1 + BRIDGE_PACKET_MAX]; /* the packets that were taken: length, bytes */
static uint8_t first, count;

static uint8_t next(void) {
    return left ? (left--, *input++) : 0;
}

static void must(int holds) {
    if (!holds) {
        abort();
    }
}

uint32_t bridge_clock(void) {
    return now;
}

uint8_t bridge_takes(uint16_t bytes) {
    must(bytes <= 2 * (3 + 7 + 255 + 2) + 2);
    return !full;
}

static uint16_t crc16(const uint8_t *data, size_t bytes) {
    uint16_t crc = 0xffff;
    for (size_t i = 0; i < bytes; i++) {
        crc ^= (uint16_t)(data[i] << 8);
        for (int bit = 0; bit < 8; bit++) {
            crc = (uint16_t)(crc & 0x8000 ? crc << 1 ^ 0x1021 : crc << 1);
        }
    }
    return crc;
}

/* A whole frame from the bridge. */
static void frame(void) {
    uint8_t plain[LINE_BYTES];
    size_t bytes = 0;
    for (size_t i = 0; i < line_bytes; i++) {
        must(line[i] != ESCAPE || i + 1 < line_bytes);
        plain[bytes++] = line[i] == ESCAPE ? line[++i] ^ 0x20 : line[i];
    }
    must(bytes >= 5 && crc16(plain, bytes) == 0 && plain[0] == 1 && strchr("hesdp", plain[2]) != NULL);
}

void bridge_write(uint8_t byte) {
    if (byte != END) {
        must(line_bytes < sizeof line);
        line[line_bytes++] = byte;
    } else if (line_bytes) {
        frame();
        line_bytes = 0;
    }
}

uint16_t bridge_transmit(const uint8_t *packet, uint8_t bytes) {
    must(count > 0 && (!rests || (int32_t)(now - rests_until) >= 0));
    must(bytes >= BRIDGE_PACKET_MIN && bytes <= BRIDGE_PACKET_MAX);
    must(expected[first][0] == bytes && memcmp(expected[first] + 1, packet, bytes) == 0);
    first = (uint8_t)((first + 1) % TAKEN_MAX);
    count--;
    if (air != BRIDGE_FAULT) {
        now += air;
        rests_until = now + ((uint32_t)air * (1000 - BRIDGE_DUTY) + BRIDGE_DUTY - 1) / BRIDGE_DUTY;
        rests = 1;
    }
    return air;
}

static void hear(uint8_t byte) {
    bridge_byte(bridge, byte);
}

static void escaped(uint8_t byte) {
    if (byte == END || byte == ESCAPE) {
        hear(ESCAPE);
        byte ^= 0x20;
    }
    hear(byte);
}

/* A frame to the bridge, changed if that is asked for; a good packet is expected on the air. */
static void say(uint8_t type, uint8_t bytes, uint8_t harm) {
    uint8_t body[3 + 255 + 2] = {1, next(), type};
    uint8_t taken = bridge->count < BRIDGE_QUEUE;
    uint16_t crc;
    for (uint16_t i = 0; i < bytes; i++) {
        body[3 + i] = next();
    }
    crc = crc16(body, 3u + bytes);
    body[3 + bytes] = (uint8_t)(crc >> 8);
    body[4 + bytes] = (uint8_t)crc;
    if (harm) {
        body[harm % (5u + bytes)] ^= (uint8_t)(1 + next() % 255);
    }
    hear(END);
    for (uint16_t i = 0; i < 5u + bytes; i++) {
        escaped(body[i]);
    }
    if (!harm && type == 'S' && taken && bytes >= BRIDGE_PACKET_MIN && bytes <= BRIDGE_PACKET_MAX) {
        uint8_t place = (uint8_t)((first + count++) % TAKEN_MAX);
        expected[place][0] = bytes;
        memcpy(expected[place] + 1, body + 3, bytes);
    }
    hear(END);
}

static void begin(void) {
    line_bytes = 0;
    first = count = rests = 0;
    memset(bridge, next(), sizeof *bridge);
    bridge_begin(bridge, "nrf24", next(), next());
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint8_t packet[255];
    input = data;
    left = size;
    bridge = malloc(sizeof *bridge); /* so that what is beyond it is seen */
    now = (uint32_t)next() << 24 | (uint32_t)next() << 16;
    air = full = 0;
    begin();
    while (left) {
        uint8_t what = next();
        switch (what & 15) {
        case 0:
            begin();
            break;
        case 1:
            now += (uint32_t)next() << (what >> 4);
            break;
        case 2:
            air = what & 16 ? BRIDGE_FAULT : next();
            break;
        case 3:
            full = what & 16;
            break;
        case 4:
        case 5:
            for (uint8_t i = what >> 4; i; i--) {
                uint8_t byte = next();
                hear(byte == END ? 0 : byte);
            }
            hear(END);
            break;
        case 6:
        case 7: {
            uint8_t bytes = next();
            for (uint8_t i = 0; i < bytes; i++) {
                packet[i] = next();
            }
            bridge_received(bridge, packet, bytes, (int8_t)next(), (int8_t)next());
            break;
        }
        case 8:
            say("HSZ"[what >> 4 & 1], next(), 1 + (next() & 0x7f));
            break;
        case 9:
            say('H', 0, 0);
            break;
        case 10:
            bridge_fault();
            break;
        case 11:
        case 12:
            say('S', what & 16 ? next() : next() % (BRIDGE_PACKET_MAX + 2), 0);
            break;
        default:
            bridge_poll(bridge);
        }
        must(bridge->count == count && line_bytes == 0);
    }
    free(bridge);
    return 0;
}

#define OWN_SIZE_MAX 508
#define OWN_SIZE(number) (8 + (number) % 500)
#include "own_inputs.h"
