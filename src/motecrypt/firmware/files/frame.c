/* frame.c: see frame.h. */
#include "frame.h"

#include "hal.h"

enum { VERSION = 1, END = 0x7e, ESCAPE = 0x7d, FLIP = 0x20, BAD_CHECKSUM = 1, BAD_VERSION = 2, TOO_LONG = 4 };

static uint16_t sent; /* the checksum of the frame that is being sent: there is one UART */

/* CRC-16/CCITT, polynomial 0x1021, a byte at a time. */
static uint16_t checksum(uint16_t crc, uint8_t byte) {
    uint32_t x = (uint32_t)(crc >> 8) ^ byte;
    x ^= x >> 4;
    return (uint16_t)((uint32_t)crc << 8 ^ x << 12 ^ x << 5 ^ x);
}

static void escaped(uint8_t byte) {
    if (byte == END || byte == ESCAPE) {
        hal_write(ESCAPE);
        byte ^= FLIP;
    }
    hal_write(byte);
}

static void put(uint8_t byte) {
    sent = checksum(sent, byte);
    escaped(byte);
}

void frame_start(uint8_t sequence, uint8_t type) {
    hal_write(END);
    sent = 0xffff;
    put(VERSION);
    put(sequence);
    put(type);
}

void frame_number(uint32_t value, uint8_t bytes) {
    while (bytes--) {
        put((uint8_t)value);
        value >>= 8;
    }
}

void frame_bytes(const uint8_t *data, uint32_t count) {
    while (count--) {
        put(*data++);
    }
}

void frame_end(void) {
    uint16_t crc = sent;
    escaped((uint8_t)(crc >> 8));
    escaped((uint8_t)crc);
    hal_write(END);
}

void frame_error(uint8_t sequence, uint8_t failure) {
    frame_start(sequence, 'e');
    put(failure);
    frame_end();
}

/* The payload runs two bytes behind: the last two of a frame are its checksum, which makes the whole 0. */
uint8_t frame_receive(uint8_t *sequence, uint8_t *type, uint8_t *payload, uint32_t *count) {
    uint8_t head[3] = {0, 0, 0}, behind[2] = {0, 0};
    uint16_t crc = 0xffff;
    uint32_t got = 0;
    *sequence = 0;
    for (;;) {
        uint8_t byte = hal_read();
        if (byte == END) {
            if (got == 0) {
                continue;
            }
            break;
        }
        if (byte == ESCAPE) {
            byte = hal_read();
            if (byte == END) {
                return BAD_CHECKSUM;
            }
            byte ^= FLIP;
        }
        crc = checksum(crc, byte);
        if (got < 3) {
            head[got] = byte;
        } else {
            if (got >= 5 && got - 5 < FRAME_PAYLOAD_MAX - 1) {
                payload[got - 5] = behind[got & 1];
            }
            behind[got & 1] = byte;
        }
        got++;
    }
    *sequence = head[1];
    *type = head[2];
    *count = got - 5;
    if (got < 5 || crc != 0) {
        return BAD_CHECKSUM;
    }
    return head[0] != VERSION ? BAD_VERSION : got - 5 >= FRAME_PAYLOAD_MAX ? TOO_LONG : 0;
}
