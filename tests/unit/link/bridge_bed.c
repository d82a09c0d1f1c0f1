/* bridge_bed.c: the core of a bridge for Python: a clock that is set, a line and a radio that remember. */
#include <string.h>

#include "bridge.h"

enum { ROOM = 1 << 16 };

static struct bridge bridge;
static uint8_t written[ROOM], sent[ROOM];
static uint32_t written_bytes, sent_bytes, now;
static uint16_t air;
static uint8_t line_is_full;

uint32_t bridge_clock(void) {
    return now;
}

void bridge_write(uint8_t byte) {
    if (written_bytes < ROOM) {
        written[written_bytes++] = byte;
    }
}

uint8_t bridge_takes(uint16_t bytes) {
    return !line_is_full && bytes != 0;
}

/* Each packet behind its length. */
uint16_t bridge_transmit(const uint8_t *packet, uint8_t bytes) {
    if (air != BRIDGE_FAULT && sent_bytes + bytes < ROOM) {
        sent[sent_bytes++] = bytes;
        memcpy(sent + sent_bytes, packet, bytes);
        sent_bytes += bytes;
        now += air;
    }
    return air;
}

void bed_begin(uint32_t at) {
    memset(&bridge, 0xa5, sizeof bridge);
    now = at;
    written_bytes = sent_bytes = 0;
    air = 0;
    line_is_full = 0;
    bridge_begin(&bridge, "nrf24", 0, 1);
}

void bed_hear(const uint8_t *bytes, uint32_t count) {
    while (count--) {
        bridge_byte(&bridge, *bytes++);
    }
}

void bed_came(const uint8_t *packet, uint8_t bytes, int8_t rssi, int8_t snr) {
    bridge_received(&bridge, packet, bytes, rssi, snr);
}

int bed_unknown(void) {
    return BRIDGE_UNKNOWN;
}

int bed_fault(void) {
    return BRIDGE_FAULT;
}

void bed_poll(void) {
    bridge_poll(&bridge);
}

void bed_set(uint32_t at, uint16_t air_ms, uint8_t full) {
    now = at;
    air = air_ms;
    line_is_full = full;
}

uint32_t bed_written(uint8_t *out) {
    uint32_t count = written_bytes;
    memcpy(out, written, count);
    written_bytes = 0;
    return count;
}

uint32_t bed_sent(uint8_t *out) {
    uint32_t count = sent_bytes;
    memcpy(out, sent, count);
    sent_bytes = 0;
    return count;
}
