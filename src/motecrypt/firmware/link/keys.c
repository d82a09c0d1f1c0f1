/* keys.c: the link's keys, each derived from the node's key when it is needed; the last one stays in RAM. */
#include "parts.h"

#include <string.h>

void link_derive(struct cipher_context *context, uint8_t *key, uint8_t id, uint8_t node, uint16_t generation,
                 uint32_t epoch) {
    /* SP 800-108, 4.1: [i] || Label || 0x00 || Context || [L], one block of the function. */
    uint8_t input[16] = {1, 'm', 'c', 'l', '2', 0, LINK_SUITE, id, node};

    memcpy(input + 9, &generation, 2);
    memcpy(input + 11, &epoch, 4);
    input[15] = 128;
    link_prf(context, key, input, sizeof input, key);
}

void link_key(struct link *link, struct cipher_context *context, uint8_t id) {
    if (link->key_id == id) {
        return;
    }
    for (uint8_t i = 0; i < sizeof link->key; i++) {
        link->key[i] = link_load(link, (uint8_t)(AT_KEY + i));
    }
    link->key_id = id;
#ifdef MC_FAULT_REFLECTION
    id = id < USE_EPOCH ? (uint8_t)(id & ~DIRECTION) : id;
#endif
#ifdef MC_FAULT_SHARED_KEY
    link_derive(context, link->key, id, 0, link->record.generation, 0);
#else
    link_derive(context, link->key, id, link->node, link->record.generation,
                id < USE_EPOCH ? link->record.epoch : 0);
#endif
}
