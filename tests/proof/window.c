/* window.c: the replay window, for all its states and all pairs of counters.
 *
 * One step is proven, from any state to any: so the same holds of any number of steps.
 */
#include "../../src/motecrypt/firmware/link/link.c"

#include "world.h"

static uint32_t noted; /* `receive`, as stored: a start continues there */
static uint8_t kept;

uint8_t link_save(struct link *link) {
    kept = nondet_byte() & 1;
    link->slot = nondet_byte() % SLOTS;
    if (kept) {
        noted = link->record.receive;
    } else {
        link->slot |= NOT_SAVED;
    }
    return kept;
}

/* Whether storage has the record's counter, or it will be saved before anything is handed over. */
static uint8_t is_noted(const struct link *link) {
    return link->slot & NOT_SAVED || link->next > link->record.receive || link->record.receive == noted;
}

/* Of two records the greater number is the newer one. */
static uint8_t not_below(const struct link_record *one, const struct link_record *other) {
    uint64_t high = (uint64_t)one->epoch << 32 | one->send,
             other_high = (uint64_t)other->epoch << 32 | other->send;
    uint64_t low = (uint64_t)one->receive << 32 | (uint32_t)one->salt << 16 | one->failures;
    uint64_t other_low = (uint64_t)other->receive << 32 | (uint32_t)other->salt << 16 | other->failures;

    return high > other_high || (high == other_high && low >= other_low);
}

static uint8_t stores_ahead(const struct link *link) {
    return is_gateway(link) || link->record.receive - link->next <= LINK_RECEIVE_AHEAD;
}

static uint8_t has_come(const struct link *link, uint32_t counter) {
    return counter < link->next ? seen(link, link->next - 1 - counter) : counter == UINT32_MAX;
}

static uint8_t handed_over(struct link *link, uint32_t counter) {
    uint8_t event;

    memcpy(link->in + AT_COUNTER, &counter, sizeof counter);
    event = hand_over(link, 8);
    return event == LINK_MESSAGE || event == LINK_COMMANDED || event == LINK_FILE_PART;
}

int main(void) {
    static uint8_t buffer[LINK_HEAD + 64];
    struct link link = nondet_link(), before;
    uint32_t one = nondet_number(), other = nondet_number();
    uint8_t known, new, taken, ahead;

    packet_max = link.packet_bytes;
    __CPROVER_assume(packet_max >= LINK_PACKET_MIN);
    __CPROVER_havoc_object(buffer);
    link.in = buffer;
    kept = 1;
    noted = nondet_number();
    __CPROVER_assume(is_noted(&link));
    before = link;
    known = has_come(&link, other);
    new = !has_come(&before, one);
    ahead = stores_ahead(&link);
    PROVE(one == UINT32_MAX || one < link.next || new, "a counter above all that came is new");
    PROVE(one >= link.next || link.next - one <= LINK_WINDOW || !new, "one below the window is not");
    taken = handed_over(&link, one);
    PROVE(!taken || new, "no counter is handed over twice");
    PROVE(taken || !new || !kept || link.in[AT_FLAGS] & LINK_COMMAND, "each new one is handed over");
    PROVE(!taken || has_come(&link, one), "what was handed over has come");
    PROVE(!known || has_come(&link, other), "what has come is never forgotten");
    PROVE(known || other == one || !has_come(&link, other) || link.next - 1 - other >= LINK_WINDOW,
          "no counter in the window has come because another did");
    PROVE(!taken || one < noted, "what is handed over was noted in storage first");
    PROVE(not_below(&link.record, &before.record), "no record is below the one before");
    PROVE(is_noted(&link), "what storage did not keep is claimed again before anything is handed over");
    PROVE(!ahead || stores_ahead(&link), "a node stores at most 15 counters ahead");
    PROVE(!ahead || !taken || one < before.next || one >= UINT32_MAX - LINK_RECEIVE_AHEAD ||
              has_received(&link),
          "that a message came is seen from what is stored");
    before = link;
    __CPROVER_assume((link.record.failures & 0x7fff) < LINK_FAILURES_MAX);
    count_failure(&link);
    PROVE(not_below(&link.record, &before.record), "a failure that is counted makes a newer record");
    PROVE((link.record.failures & 0x7fff) > (before.record.failures & 0x7fff), "and is counted");
    return 0;
}
