/* oscore_store.c: a node's OSCORE context in its storage. See oscore_store.h. */
#include "oscore_store.h"

#include "bare.h"
#include "parts.h"

#include <string.h>

/* Positions of a stored context. */
enum { AT_VERSION, AT_SENDER, AT_RECIPIENT, AT_KEYS, AT_IV = AT_KEYS + 2 * OSCORE_KEY_BYTES };

uint8_t oscore_load(struct oscore_store *store) {
    struct oscore *oscore = &store->oscore;
    uint8_t data[OSCORE_STORED_BYTES], check[CHECK_BYTES], status;
    uint16_t sum;

    memset(store, 0, sizeof *store);
    status = link_load_record(&store->link);
    if (status != LINK_NOTHING) {
        return status;
    }
    link_load(&store->link, LINK_STORAGE_BYTES, data, sizeof data);
    link_load(&store->link, AT_CHECK, check, sizeof check);
    sum = coap_bare_sum(data, OSCORE_STORED_SUM);
    if (data[AT_VERSION] != OSCORE_STORED_VERSION ||
        memcmp(data + OSCORE_STORED_CHECK, check, sizeof check) != 0 || data[OSCORE_STORED_SUM] != sum >> 8 ||
        data[OSCORE_STORED_SUM + 1] != (uint8_t)sum) {
        return LINK_NO_KEY;
    }
    oscore->sender_id[0] = data[AT_SENDER];
    oscore->recipient_id[0] = data[AT_RECIPIENT];
    oscore->sender_id_bytes = oscore->recipient_id_bytes = 1;
    memcpy(oscore->sender_key, data + AT_KEYS, OSCORE_KEY_BYTES);
    memcpy(oscore->recipient_key, data + AT_KEYS + OSCORE_KEY_BYTES, OSCORE_KEY_BYTES);
    memcpy(oscore->iv, data + AT_IV, OSCORE_IV_BYTES);
    oscore->send_kept = store->link.record.send;
    oscore->receive_kept = store->link.record.receive;
    oscore_begin(oscore);
    return LINK_NOTHING;
}

uint8_t oscore_keep(struct oscore *oscore) {
    struct oscore_store *store = (struct oscore_store *)oscore;

    store->link.record.send = oscore->send_kept;
    store->link.record.receive = oscore->receive_kept;
    return link_save(&store->link);
}
