/* store.c: a node's key and counters in one small storage, by bytes (docs/link.md, Storage).
 *
 * A record is written twice, into the slots after the one written last, read back, and written into the
 * next slot where a cell did not keep it. So a loss of power, a flipped bit or a worn cell leaves a copy of
 * the newest record. Each copy carries a check value under a key of its own: a record of another key, or of
 * another provisioning, is invalid.
 */
#include "parts.h"

#include <stdbool.h>
#include <string.h>

enum { CHECKED_BYTES = 16 }; /* what a check value is of: a record, or the head and half of the key */

/* Make the check value of CHECKED_BYTES, in their place. */
static NOINLINE void check(struct link *link, uint8_t *data) {
    link_key(link, USE_STORE | CHECK_BYTES);
#ifdef MC_FAULT_UNBOUND_STATE
    static const uint8_t nobody[PRF_BYTES];
    link_prf(nobody, data, CHECKED_BYTES);
#else
    link_prf(link->key, data, CHECKED_BYTES);
#endif
}

#ifdef LINK_AVR_FIXED

#include "store_avr.h"

#else

/* Take a sound record if it is the newest so far, or another copy of it. Returns whether any was found yet. */
static bool take_newest(struct link *link, const uint8_t *read, uint8_t slot, bool found) {
    uint8_t *newest = (uint8_t *)&link->record, i = CHECKED_BYTES;

    do {
        i--;
    } while (i > 0 && read[i] == newest[i]);
    if (read[i] < newest[i]) {
        return found;
    }
    if (!found || read[i] > newest[i] || slot - link->slot < SLOTS - 2) {
        link->slot = slot; /* of two copies the later one, which may be in slot 0 or 1 */
    }
    memcpy(newest, read, CHECKED_BYTES);
    return true;
}

uint8_t link_load_record(struct link *link) {
    uint8_t data[AT_SLOTS], read[CHECKED_BYTES], doubt = 0;
    bool found = false;

    link_load(link, 0, data, sizeof data);
#ifndef MC_FAULT_MALFORMED
    if ((data[0] | 1) != VERSIONS || data[1] > LINK_BROADCAST || data[3] < LINK_PACKET_MIN) {
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
    memcpy(&link->generation, data + 4, 2);
    check(link, data); /* the head and the first half of the key */
    if (memcmp(data, data + AT_CHECK, CHECK_BYTES) != 0) {
        return LINK_NO_KEY;
    }
    for (uint8_t slot = 0; slot < SLOTS; slot++) {
        link_load(link, (uint8_t)(AT_SLOTS + SLOT_BYTES * slot), data, SLOT_BYTES);
        memcpy(read, data, sizeof read);
        check(link, data);
        if (memcmp(data, data + CHECKED_BYTES, CHECK_BYTES) != 0) {
            doubt |= (uint8_t)(read[CHECKED_BYTES - 1] + 1); /* a slot that was never written ends in 0xff */
            continue;
        }
        found = take_newest(link, read, slot, found);
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
#ifdef MC_FAULT_NO_DOUBT
    doubt = 0;
#endif
    if (doubt && link->record.send <= UINT32_MAX - LINK_SEND_BLOCK) {
        link->record.send += LINK_SEND_BLOCK; /* a copy was damaged: perhaps both of a newer record */
    }
    return LINK_NOTHING;
}

NOINLINE uint8_t link_save(struct link *link) {
    uint8_t data[2 * SLOT_BYTES], *back = data + SLOT_BYTES, copies = 2;

    memcpy(data + CHECKED_BYTES, &link->record, sizeof link->record);
    check(link, data + CHECKED_BYTES);
    memcpy(data, &link->record, sizeof link->record);
    for (uint8_t tries = SLOTS - 2; tries > 0; tries--) { /* the two written last stay as they are */
        uint8_t slot = (uint8_t)(link->slot + 1) % SLOTS, at = (uint8_t)(AT_SLOTS + SLOT_BYTES * slot);

        link->slot = slot;
        link_store(link, at, data, SLOT_BYTES);
        link_load(link, at, back, SLOT_BYTES);
#ifndef MC_FAULT_NO_READ_BACK
        if (memcmp(data, back, SLOT_BYTES) != 0) {
            continue;
        }
#endif
#ifdef MC_FAULT_ONE_COPY
        copies--;
#endif
        if (--copies == 0) {
            return 1;
        }
    }
#ifdef MC_FAULT_STORAGE_IGNORED
    return 1;
#else
    /* Until a save succeeds. The next one begins there again: all slots but the last two good ones were tried. */
    link->slot = (uint8_t)(link->slot + 2) % SLOTS | NOT_SAVED;
    return 0;
#endif
}

#endif

uint8_t link_provision(struct link *link, const uint8_t *block) {
    uint8_t data[CHECKED_BYTES] = {0xff};

    memset(link, 0, sizeof *link);
    for (uint8_t at = AT_CHECK; at < LINK_STORAGE_BYTES; at++) {
        link_store(link, at, data, 1);
    }
    link_store(link, 0, block, AT_CHECK);
    link->node = block[1];
    memcpy(&link->generation, block + 4, 2);
    link->record.salt = link->generation;
    memcpy(data, block, sizeof data);
    check(link, data);
    link_store(link, AT_CHECK, data, CHECK_BYTES);
    link->slot = SLOTS - 1;
#ifdef MC_FAULT_FIRST_CLAIM
    return 1;
#endif
    return link_save(link);
}
