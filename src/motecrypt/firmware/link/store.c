/* store.c: a node's key and counters in one small storage, by bytes (docs/link.md, Storage).
 *
 * A record is written twice, into the slots after the one written last, read back, and written into the
 * next slot where a cell did not keep it. So a loss of power, a flipped bit or a worn cell leaves a copy of
 * the newest record. Each copy carries a check value under a key of its own: a record of another key, or of
 * another provisioning, is no record.
 */
#include "parts.h"

#include <stdbool.h>
#include <string.h>

#define CHECKED_BYTES 16 /* what a check value is of: a record, or the head and half of the key */

/* The check value of CHECKED_BYTES, behind them. */
static NOINLINE void check(struct link *link, uint8_t *data) {
    struct cipher_context context;

#ifdef MC_FAULT_UNBOUND_STATE
    static const uint8_t nobody[PRF_BYTES];
    link_prf(&context, nobody, data, CHECKED_BYTES, data + CHECKED_BYTES);
#else
    link_key(link, &context, USE_STORE | CHECK_BYTES);
    link_prf(&context, link->key, data, CHECKED_BYTES, data + CHECKED_BYTES);
#endif
}

/* Read CHECKED_BYTES and their check value, which lies at `at_check`; 1 when it is right. */
static uint8_t load_checked(struct link *link, uint8_t at, uint8_t at_check, uint8_t *data) {
    uint8_t stored[CHECK_BYTES];

    link_load(link, at, data, CHECKED_BYTES);
    link_load(link, at_check, stored, CHECK_BYTES);
    check(link, data);
    return memcmp(stored, data + CHECKED_BYTES, CHECK_BYTES) == 0;
}

uint8_t link_load_record(struct link *link) {
    uint8_t data[CHECKED_BYTES + PRF_BYTES], doubt = 0;
    bool found = false;
    uint8_t *newest = (uint8_t *)&link->record;

    link_load(link, 0, data, AT_KEY);
#ifndef MC_FAULT_MALFORMED
    if (data[0] != 2 || data[1] > LINK_BROADCAST || data[3] < LINK_PACKET_MIN) {
        return LINK_NO_KEY;
    }
#endif
    link->node = data[1];
#ifdef LINK_OPTIONS
    if (data[2] != OPTIONS(link)) {
        return LINK_NO_KEY;
    }
#else
    link->options = data[2];
#endif
#ifdef LINK_PACKET_BYTES
    if (data[3] != PACKET_BYTES(link)) {
        return LINK_NO_KEY;
    }
#else
    link->packet_bytes = data[3];
#endif
    memcpy(&link->record.generation, data + 4, 2);
    if (!load_checked(link, 0, AT_CHECK, data)) { /* the head and the first half of the key */
        return LINK_NO_KEY;
    }
    for (uint8_t slot = 0; slot < SLOTS; slot++) {
        uint8_t at = (uint8_t)(AT_SLOTS + SLOT_BYTES * slot), i = CHECKED_BYTES;

        if (!load_checked(link, at, (uint8_t)(at + CHECKED_BYTES), data) ||
            memcmp(data + 2, newest + 2, sizeof link->record.generation) != 0) {
            doubt |= (uint8_t)(data[CHECKED_BYTES - 1] + 1); /* a slot that was never written ends in 0xff */
            continue;
        }
        do {
            i--;
        } while (i > 0 && data[i] == newest[i]);
        if (data[i] >= newest[i]) {
            found = true;
            link->slot = slot;
            memcpy(newest, data, sizeof link->record);
        }
    }
#ifdef MC_FAULT_ERASED_IS_NEW
    found = true;
#endif
#ifdef MC_FAULT_FIRST_CLAIM
    found |= !doubt;
#endif
    if (!found) {
        return LINK_NO_STATE;
    }
    if (doubt && link->record.send <= UINT32_MAX - LINK_SEND_BLOCK) {
        link->record.send += LINK_SEND_BLOCK; /* a copy was damaged: perhaps both of a newer record */
    }
    return LINK_NOTHING;
}

uint8_t link_provision(struct link *link, const uint8_t *block) {
    uint8_t data[CHECKED_BYTES + PRF_BYTES];

    memset(link, 0, sizeof *link);
    memset(data, 0xff, sizeof data);
    for (uint8_t at = AT_CHECK; at < LINK_STORAGE_BYTES; at++) {
        link_store(link, at, data, 1);
    }
    link_store(link, 0, block, AT_CHECK);
    link->node = block[1];
    memcpy(&link->record.generation, block + 4, 2);
    memcpy(data, block, CHECKED_BYTES);
    check(link, data);
    link_store(link, AT_CHECK, data + CHECKED_BYTES, CHECK_BYTES);
    link->slot = SLOTS - 1;
#ifdef MC_FAULT_FIRST_CLAIM
    return 1;
#endif
    return link_save(link);
}

uint8_t link_save(struct link *link) {
    uint8_t data[CHECKED_BYTES + PRF_BYTES], copies = 2;

    memcpy(data, &link->record, sizeof link->record);
    check(link, data);
    for (uint8_t tries = SLOTS - 2; tries > 0; tries--) { /* the two written last stay as they are */
        uint8_t at, kept = 1;

        link->slot = (uint8_t)((link->slot + 1) % SLOTS);
        at = (uint8_t)(AT_SLOTS + SLOT_BYTES * link->slot);
        link_store(link, at, data, SLOT_BYTES);
#ifndef MC_FAULT_NO_READ_BACK
        for (uint8_t i = 0; i < SLOT_BYTES; i++) {
            uint8_t back;

            link_load(link, (uint8_t)(at + i), &back, 1);
            kept = (uint8_t)(kept & (back == data[i]));
        }
#endif
        copies = (uint8_t)(copies - kept);
#ifdef MC_FAULT_ONE_COPY
        copies = (uint8_t)(copies - kept);
#endif
        if (copies == 0) {
            return 1;
        }
    }
#ifdef MC_FAULT_STORAGE_IGNORED
    return 1;
#else
    return 0;
#endif
}
