/* native.h: one end of a link in a host's memory; see native.c. toolchain/link.py has the same fields. */
#ifndef MOTECRYPT_LINK_NATIVE_H
#define MOTECRYPT_LINK_NATIVE_H

#include "link.h"

#include <stddef.h>

/* The longest message, in 15 fragments of packets of 255 bytes; and room for the packets that one call sends.
 * */
enum { PORT_MESSAGE_MAX = 15 * 252 - 12, PORT_SENT_MAX = 32768 };

struct port {
    struct link link; /* first, so that a link is its port */
    uint16_t clock;
    uint8_t stored; /* something was written into storage since Python looked */
    uint8_t storage[LINK_STORAGE_BYTES];
    uint8_t in[LINK_BUFFER_BYTES(PORT_MESSAGE_MAX, 255)];
    uint8_t out[LINK_BUFFER_BYTES(PORT_MESSAGE_MAX, 255)];
    uint32_t sent_bytes;
    uint8_t sent[PORT_SENT_MAX]; /* packets, each after a byte with its length */
    void *tester;
};

extern const size_t port_bytes;

uint8_t port_begin(struct port *port, uint16_t answer_ms);

/* Provision a member of a group: it takes nothing that was sent before counter `next`. */
uint8_t port_join(struct port *port, const uint8_t *block, uint32_t next);

/* The first counter after a start. */
uint32_t port_claimed(const struct port *port);
uint8_t port_send(struct port *port, const uint8_t *message, uint16_t bytes, uint8_t how);
uint8_t port_renew(struct port *port, uint32_t epoch, uint16_t salt);
void port_forget(struct port *port);
void port_prf(const uint8_t *key, const uint8_t *data, uint8_t bytes, uint8_t *out);

/* Bit 0: a message waits for its outcome. Bit 1: the message received asks for an answer. */
uint8_t port_state(const struct port *port);
uint32_t port_epoch(const struct port *port);
uint16_t port_salt(const struct port *port);

/* The counter of the message received; and one that the application took before a restart, in this epoch. */
uint32_t port_counter(const struct port *port);
void port_took(struct port *port, uint32_t counter);

/* Where Python finds clock, stored and storage; the message received; what was sent since the last call. */
void *port_place(struct port *port);
uint32_t port_message(struct port *port, const uint8_t **message);
uint32_t port_sent(struct port *port, const uint8_t **packets);
void port_derive(uint8_t *key, uint8_t id, uint8_t node, uint16_t generation, uint32_t epoch);

#endif
