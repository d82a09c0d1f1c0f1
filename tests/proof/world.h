/* world.h: what is around the core in a proof. Whatever comes may come; what the core asks for is checked. */
#ifndef WORLD_H
#define WORLD_H

#include "parts.h"

#define PROVE(claim, property) __CPROVER_assert(claim, property)

/* Any value. */
uint8_t nondet_byte(void);
uint16_t nondet_word(void);
uint32_t nondet_number(void);
struct link nondet_link(void);

static uint8_t packet_max; /* what the radio carries */

/* Anything, written to where the core wants it. */
static void any_bytes(uint8_t *to, size_t bytes) {
    PROVE(bytes == 0 || __CPROVER_w_ok(to, bytes), "what is written lies in its buffer");
    if (bytes > 0) {
        __CPROVER_havoc_slice(to, bytes);
    }
}

uint16_t link_clock(struct link *link) {
    return nondet_word();
}

void link_packet(struct link *link, const uint8_t *packet, uint8_t bytes) {
    PROVE(bytes > 0 && bytes <= packet_max, "a packet sent is no longer than the radio's");
    PROVE(__CPROVER_r_ok(packet, bytes), "a packet sent lies in its buffer");
}

/* --- A cipher that finds any tag right or wrong. */

void link_key(struct link *link, uint8_t id) {
    link->key_id = id;
}

void link_prf(const uint8_t *key, uint8_t *data, uint8_t bytes) {
    PROVE(__CPROVER_r_ok(data, bytes), "what is read lies in its buffer");
    any_bytes(data, PRF_BYTES);
}

uint8_t link_crypt(struct link *link, uint8_t *buffer, link_size bytes, uint8_t id, uint8_t decrypting) {
    any_bytes(buffer, 16);
    any_bytes(buffer + LINK_HEAD, (size_t)bytes + (id & (DIRECTION - 1)));
    return nondet_byte() & 1;
}

#endif
