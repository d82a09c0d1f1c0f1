/* keys.c: the link's keys, each derived from the node's key when it is needed; the last one stays in RAM. */
#include "parts.h"

#include <string.h>

#ifdef LINK_AVR

#include "calls_avr.h"
#include "keys_avr.h"

#else

void link_derive(struct link *link, uint8_t id) {
    IN_REGISTER(link);
    /* SP 800-108, 4.1: [i] || Label || 0x00 || Context || [L], one block of the function. */
    uint8_t block[PRF_BYTES] = {1, 'm', 'c', 'l', '2', 0, LINK_SUITE};

#ifdef MC_FAULT_REFLECTION
    id = id < USE_EPOCH ? (uint8_t)(id & ~DIRECTION) : id;
#endif
    block[7] = id;
#ifndef MC_FAULT_SHARED_KEY
    block[8] = link->node;
#endif
    if (id < USE_EPOCH) {
        memcpy(block + 9, &link->record.salt, 2);
        memcpy(block + 11, &link->record.epoch, 4);
    } else {
        memcpy(block + 9, &link->generation, 2);
    }
    block[15] = 128;
    link_prf(link->key, block, sizeof block);
    memcpy(link->key, block, sizeof block);
}

NOINLINE void link_key(struct link *link, uint8_t id) {
    if (link->key_id != id) {
        link->key_id = id;
        link_load(link, AT_KEY, link->key, sizeof link->key);
        link_derive(link, id);
    }
}

#endif
