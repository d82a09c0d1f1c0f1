/* native.c: one end of a link on a host: the core with its storage, its clock and what it sends in memory.
 *
 * Python (toolchain/link.py) keeps the storage in files, moves packets to and from ports, and sets the clock.
 * Tests compile this file with PORT_STORE defined, to have power cut and cells wear out.
 */
#include "link.h"
#include "native.h"
#include "parts.h"

#include <stdbool.h>
#include <string.h>

#ifndef PORT_STORE
#define PORT_STORE(port, at, byte) ((port)->storage[at] = (byte))
#endif

const size_t port_bytes = sizeof(struct port);

void link_packet(struct link *link, const uint8_t *packet, uint8_t bytes) {
    struct port *port = (struct port *)link;

    if (port->sent_bytes + bytes + 1u <= sizeof port->sent) {
        port->sent[port->sent_bytes++] = bytes;
        memcpy(port->sent + port->sent_bytes, packet, bytes);
        port->sent_bytes += bytes;
    }
}

uint16_t link_clock(struct link *link) {
    return ((struct port *)link)->clock;
}

void link_load(struct link *link, uint8_t at, uint8_t *to, uint8_t bytes) {
    memcpy(to, ((struct port *)link)->storage + at, bytes);
}

void link_store(struct link *link, uint8_t at, const uint8_t *from, uint8_t bytes) {
    struct port *port = (struct port *)link;

    port->stored = true;
    while (bytes-- > 0) {
        PORT_STORE(port, at, *from);
        at++;
        from++;
    }
}

uint8_t port_begin(struct port *port, uint16_t answer_ms) {
    uint8_t status = link_begin(&port->link, port->in, sizeof port->in);

    port->link.answer_ms = answer_ms;
    return status;
}

uint8_t port_join(struct port *port, const uint8_t *block, uint32_t next) {
    if (!link_provision(&port->link, block)) {
        return 0;
    }
    port->link.record.receive = next;
    return link_save(&port->link);
}

uint32_t port_claimed(const struct port *port) {
    return port->link.record.send;
}

uint8_t port_send(struct port *port, const uint8_t *message, uint16_t bytes, uint8_t how) {
    uint16_t before = (how & LINK_FILE) == LINK_COMMAND ? 4 : 0;

    if (port->link.out != 0) {
        return LINK_BUSY;
    }
    if (bytes > PORT_MESSAGE_MAX) {
        return LINK_TOO_LONG;
    }
    memcpy(port->out + LINK_HEAD + before, message, bytes);
    return link_send(&port->link, port->out, (link_size)(bytes + before), how);
}

uint8_t port_renew(struct port *port, uint32_t epoch, uint16_t salt) {
    return link_renew(&port->link, port->out, epoch, salt);
}

void port_forget(struct port *port) {
    port->link.out = 0;
}

void port_prf(const uint8_t *key, const uint8_t *data, uint8_t bytes, uint8_t *out) {
    uint8_t blocks[2 * PRF_BYTES];

    memcpy(blocks, data, bytes);
    link_prf(key, blocks, bytes);
    memcpy(out, blocks + bytes - PRF_BYTES, PRF_BYTES);
}

void port_derive(uint8_t *key, uint8_t id, uint8_t node, uint16_t generation, uint32_t epoch) {
    struct link link;

    link.node = node;
    link.generation = link.record.salt = generation;
    link.record.epoch = epoch;
    memcpy(link.key, key, sizeof link.key);
    link_derive(&link, id);
    memcpy(key, link.key, sizeof link.key);
}

void *port_place(struct port *port) {
    return &port->clock;
}

uint32_t port_message(struct port *port, const uint8_t **message) {
    uint16_t before = (port->in[AT_FLAGS] & LINK_FILE) == LINK_COMMAND ? 4 : 0;

    *message = port->in + LINK_HEAD + before;
    return (uint32_t)(port->link.in_bytes - before);
}

uint8_t port_state(const struct port *port) {
    uint8_t wanted = (port->in[AT_KIND] | port->in[AT_FLAGS]) & LINK_CONFIRMED;

    return (uint8_t)((port->link.out != 0) | (wanted ? 2 : 0));
}

uint32_t port_epoch(const struct port *port) {
    return port->link.record.epoch;
}

uint16_t port_salt(const struct port *port) {
    return port->link.record.salt;
}

uint32_t port_counter(const struct port *port) {
    uint32_t counter;

    memcpy(&counter, port->in + LINK_HEAD - sizeof counter, sizeof counter);
    return counter;
}

void port_took(struct port *port, uint32_t counter) {
    port->link.answered = counter;
    port->link.answer_state = ANSWERED;
}

uint32_t port_sent(struct port *port, const uint8_t **packets) {
    uint32_t bytes = port->sent_bytes;

    *packets = port->sent;
    port->sent_bytes = 0;
    return bytes;
}
