/* faulty_port.c: the link core on a host whose power fails at any write and whose cells wear out.
 *
 * Everything is called through `cut_call`, which returns POWER_LOST if the power failed during the call.
 */
#include "native.h"
#include "stream.h"

#include <setjmp.h>
#include <stdlib.h>

enum { POWER_LOST = 255 };

struct tester {
    int32_t writes_left; /* until the power goes; below 0: it stays */
    uint32_t writes;
    uint8_t garbage;                   /* what the cell being written holds when the power goes */
    uint8_t stuck[LINK_STORAGE_BYTES]; /* bits of a cell that no longer change */
    jmp_buf power;
};

static void tester_store(struct port *port, uint8_t at, uint8_t byte) {
    struct tester *tester = port->tester;
    uint8_t stuck;

    if (at >= LINK_STORAGE_BYTES) {
        abort();
    }
    stuck = tester->stuck[at];

    if (port->storage[at] == byte) {
        return; /* as eeprom_update_byte does */
    }
    if (tester->writes_left == 0) {
        port->storage[at] = (uint8_t)((port->storage[at] & stuck) | (tester->garbage & ~stuck));
        longjmp(tester->power, 1);
    }
    if (tester->writes_left > 0) {
        tester->writes_left--;
    }
    tester->writes++;
    port->storage[at] = (uint8_t)((port->storage[at] & stuck) | (byte & ~stuck));
}

#define PORT_STORE(port, at, byte) tester_store(port, at, byte)
#include "native.c"

const size_t tester_bytes = sizeof(struct tester);

void tester_join(struct port *port, struct tester *tester) {
    port->tester = tester;
    tester->writes_left = -1;
}

uint8_t cut_call(struct port *port, int what, const uint8_t *data, uint32_t number, uint8_t how) {
    struct tester *tester = port->tester;

    if (setjmp(tester->power) != 0) {
        tester->writes_left = -1;
        return POWER_LOST;
    }
    switch (what) {
    case 0:
        return link_provision(&port->link, data);
    case 1:
        return port_begin(port, (uint16_t)number);
    case 2:
        return port_send(port, data, (uint16_t)number, how);
    case 3:
        return link_receive(&port->link, data, (uint8_t)number);
    case 4:
        link_answer(&port->link, how);
        return LINK_NOTHING;
    case 5:
        return link_poll(&port->link);
    default:
        return port_renew(port, number, (uint16_t)(data[0] | data[1] << 8));
    }
}

/* What tests ask about the state of a link. */
uint32_t see(const struct port *port, int what) {
    uint32_t counter;

    switch (what) {
    case 0: /* the counter of the message sent last */
        memcpy(&counter, port->out + 18, 4);
        return counter;
    case 1:
        return port->link.record.epoch;
    case 2:
        return port->link.generation;
    case 3:
        return port->link.next;
    case 4:
        return port->link.record.failures;
    case 5:
        return port->link.record.send - port->link.send_left;
    default:
        return port->link.since;
    }
}

/* Bytes as they come at their times: what is read as packets, one behind the other. A packet that begins with 0xee
 * is none, and is reported to the reader as none. Returns their bytes, never more than came. */
uint32_t stream_packets(uint8_t packet_bytes, const uint8_t *bytes, const uint16_t *times, uint32_t count,
                        uint8_t *found) {
    uint8_t packet[255];
    struct link_stream stream = {packet, packet_bytes, 0, 0, 0};
    uint32_t length = 0;

    for (uint32_t i = 0; i < count && length + packet_bytes <= count; i++) {
        if (!link_stream_byte(&stream, bytes[i], times[i])) {
            continue;
        }
        if (packet[0] == 0xee) {
            link_stream_slip(&stream);
        }
        memcpy(found + length, packet, packet_bytes);
        length += packet_bytes;
    }
    return length;
}
