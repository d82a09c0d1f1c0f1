/* keys.c: the link's keys, each derived from the node's key when it is needed; the last one stays in RAM. */
#include "parts.h"

#include <string.h>

void link_derive(struct link *link, struct cipher_context *context, uint8_t id) {
    /* SP 800-108, 4.1: [i] || Label || 0x00 || Context || [L], one block of the function. */
    uint8_t input[16] = {1, 'm', 'c', 'l', '2', 0, LINK_SUITE};

#ifdef MC_FAULT_REFLECTION
    id = id < USE_EPOCH ? (uint8_t)(id & ~DIRECTION) : id;
#endif
    input[7] = id;
#ifndef MC_FAULT_SHARED_KEY
    input[8] = link->node;
#endif
    memcpy(input + 9, &link->record.generation, 2);
    if (id < USE_EPOCH) {
        memcpy(input + 11, &link->record.epoch, 4);
    }
    input[15] = 128;
    link_prf(context, link->key, input, sizeof input, link->key);
}

void link_key(struct link *link, struct cipher_context *context, uint8_t id) {
    if (link->key_id != id) {
        link_load(link, AT_KEY, link->key, sizeof link->key);
        link->key_id = id;
        link_derive(link, context, id);
    }
}
