/* link.c: see link.h; docs/link.md has the formats and the reasons.
 *
 * A message's buffer, for what goes out and for what comes in:
 *
 *   0      the full tag, 16 bytes: what answers prove
 *   16     the nonce: kind and node, flags, and
 *   18     the counter, 4 bytes; the upper three travel in front of a long message
 *   22     the message, then its tag, 0x80 and zeros
 */
#include "link.h"
#include "parts.h"

#include <stdbool.h>
#include <string.h>

enum { KIND_SHORT = 0x00, KIND_SHORT_CONFIRMED = 0x40, KIND_LONG = 0x80, KIND_ANSWER = 0xc0, KIND = 0xc0 };
enum { LAST = 0x80, TYPE = 0x30, TYPE_EPOCH = 0x20, FLAGS = 0x70, INDEX = 0x0f, ASSEMBLING = LINK_LONG };
enum { ANSWER_ACCEPTED = 0, ANSWER_REFUSED = 1, ANSWER_MISSING = 2, OUTCOME = 3, ANSWER_BYTES = 12 };
enum { NO_SHORT = 0x8000, DETAIL = 0x3fff, SHORT_OVERHEAD = 2 + LINK_SHORT_TAG_BYTES };
enum { FULL_TAG_BYTES = 16, END = 0x80 };

static uint32_t number_at(const uint8_t *bytes) {
    uint32_t number;

    memcpy(&number, bytes, sizeof number);
    return number;
}

NOINLINE static void write_number(uint8_t *bytes, uint32_t number) {
    memcpy(bytes, &number, sizeof number);
}

/* The first counter that was not used yet. */
static uint32_t unused(const struct link *link) {
    return link->record.send - link->send_left;
}

/* Whether an answer is wanted: the bit is in the first byte of a short packet, in the flags of a long message. */
static inline uint8_t is_confirmed(const uint8_t *buffer) {
    return (buffer[AT_KIND] | buffer[AT_FLAGS]) & LINK_CONFIRMED;
}

uint8_t link_begin(struct link *link, uint8_t *buffer, link_size bytes) {
    IN_REGISTER(link);
    uint8_t status;

    memset(link, 0, sizeof *link);
    link->in = buffer;
    buffer[AT_FLAGS] = 0;
    link->in_room = (link_size)(bytes - LINK_HEAD);
    link->since = 0xff;
    link->window = 0xffff;
#ifdef MC_FAULT_OLD_COMMAND
    link->fresh = LINK_FRESH;
#endif
    status = link_load_record(link);
    link->next = link->record.receive;
    return status;
}

/* --- Answers */

/* Whether this end bears more than `spare` further failures. */
static inline uint8_t bears(const struct link *link, uint8_t spare) {
#ifdef MC_FAULT_NO_BOUND
    (void)link;
    (void)spare;
    return 1;
#else
    return (link->record.failures & (NO_SHORT - 1)) + spare < LINK_FAILURES_MAX;
#endif
}

static void send_answer(struct link *link, uint16_t word);

#ifdef LINK_AVR_FIXED

#include "link_avr.h"

#else

/* Answer the message in `in`; or, with a packet that claims to answer the one in `out`, return 0 if it does. */
static NOINLINE uint8_t answer(struct link *link, uint16_t word, const uint8_t *claimed) {
    const uint8_t *buffer = claimed ? link->out : link->in;
    uint8_t data[32], difference = 0;

    memset(data, 0, sizeof data);
    data[0] = (uint8_t)(KIND_ANSWER | link->node);
    data[1] = buffer[AT_COUNTER];
    memcpy(data + 2, &word, 2);
    memcpy(data + 4, buffer + AT_COUNTER, 4);
    if ((data[2] & OUTCOME) != ANSWER_MISSING) {
        memcpy(data + 16, buffer, FULL_TAG_BYTES);
    }
    link_key(link, (uint8_t)(USE_ANSWER | (claimed ? outwards(link) : inwards(link)) | ANSWER_TAG_BYTES));
    link_prf(link->key, data, sizeof data);
    if (!claimed) {
        memcpy(data + 4, data + 16, ANSWER_TAG_BYTES);
        link_packet(link, data, ANSWER_BYTES);
        return 0;
    }
    for (uint8_t i = 0; i < ANSWER_TAG_BYTES; i++) {
        difference |= data[16 + i] ^ claimed[4 + i];
    }
    return difference;
}

void link_answer(struct link *link, uint8_t taken) {
    uint16_t word = (uint16_t)(link->next << 2 | ANSWER_REFUSED);

    if (link->answer_state != ASKED) {
        return;
    }
    link->answer_state = NOBODY;
    if (taken) {
        word = bears(link, LINK_FAILURES_SPARE) ? ANSWER_ACCEPTED : ANSWER_ACCEPTED | 1 << 2;
        link->answered = number_at(link->in + AT_COUNTER);
        link->answer_state = ANSWERED;
    }
    send_answer(link, word);
}

#endif

/* Answers to packets that bring nothing new have a limit: anyone can send such packets. Behind it one goes now and
 * then, so that no flood silences an end once it is over. */
__attribute__((noinline)) static void send_answer(struct link *link, uint16_t word) {
    uint8_t now = (uint8_t)(link_clock(link) >> 8);

    if (!(link->answers & LINK_ANSWERS_MAX)) {
        link->answers++;
#ifndef MC_FAULT_ANSWERS
    } else if (!((uint8_t)(now - link->answer_at) & LINK_ANSWER_REST)) {
        return;
#endif
    }
    link->answer_at = now;
    (void)answer(link, word, NULL);
}

/* --- Epochs */

/* Begin an epoch if it is another one: from here on all counters begin at 0, under new keys. Returns LINK_RENEWED if
 * storage has it only now, LINK_NOTHING if it had it, LINK_STORAGE, or LINK_REFUSED: a node takes only a greater
 * number, since somebody may hold back the offer of a restoration before. One that was begun and not kept is only
 * kept: its counters may be in use. */
static uint8_t keep_epoch(struct link *link, uint32_t epoch, uint16_t salt) {
    if (epoch != link->record.epoch || salt != link->record.salt) {
        if (!is_gateway(link) &&
            (uint16_t)(epoch >> 16) <= ((uint16_t)(link->record.epoch >> 16) | (uint16_t)~NUMBER)) {
            return LINK_REFUSED;
        }
        memset(&link->record, 0, sizeof link->record);
        link->record.salt = salt;
        link->record.epoch = epoch;
        link->next = 0;
        link->send_left = link->fresh = link->answers = 0;
        link->since = 0xff;
        link->answer_state = NOBODY;
        link->out = 0;
#ifdef MC_FAULT_UNKEPT_EPOCH
    } else if (1) {
        return LINK_NOTHING;
#endif
    } else if (!(link->slot & NOT_SAVED)) {
        return LINK_NOTHING;
    }
    return link_save(link) ? LINK_RENEWED : LINK_STORAGE;
}

/* --- Sending */

#ifdef LINK_AVR_FIXED

#include "send_avr.h"

#else

/* Send the message that waits, or its fragments except those in `skip`; the last one always goes. */
static NOINLINE void transmit(struct link *link, uint16_t skip) {
    IN_REGISTER(link);
    uint8_t *packet = link->out + AT_CONTENT - LINK_PIECE_HEAD;
    uint8_t kind = link->out[AT_KIND], low = link->out[AT_COUNTER], third = link->out[AT_FLAGS], last = 0;
    link_size left = link->out_bytes;

    if (kind < KIND_LONG) {
        packet = link->out + LINK_HEAD - 2;
        third = packet[2]; /* the message's first byte */
    }
    do {
        uint8_t piece = (uint8_t)(PACKET_BYTES(link) - LINK_PIECE_HEAD), head[LINK_PIECE_HEAD];

        if (left <= piece) {
            last = LAST;
            if (OPTIONS(link) & LINK_STREAM) {
                memset(packet + LINK_PIECE_HEAD + left, 0, (size_t)(piece - left));
            } else {
                piece = (uint8_t)left;
            }
        }
        if (last || !(skip & 1)) {
            memcpy(head, packet, sizeof head);
            packet[0] = kind;
            packet[1] = low;
            packet[2] = kind < KIND_LONG ? third : last | third;
            link_packet(link, packet, (uint8_t)(piece + LINK_PIECE_HEAD));
            memcpy(packet, head, sizeof head);
        }
        packet += piece;
        left = (link_size)(left - piece);
        skip >>= 1;
        third++;
    } while (!last);
}

/* Whether `next` follows a message that came, and was not just read from storage, where a node stores it ahead: by at
 * most 15, so that one byte shows it. */
static inline uint8_t has_received(const struct link *link) {
    return is_gateway(link) || (uint8_t)link->next != (uint8_t)link->record.receive;
}

/* Encrypt the message, put its tag and a long one's end mark behind it, and send it. */
static uint8_t start(struct link *link, uint8_t *buffer, link_size bytes, uint8_t id) {
    IN_REGISTER(link);
    (void)link_crypt(link, buffer, bytes, id, false);
    bytes = (link_size)(bytes + (id & TAG_BYTES) - 1); /* as if its head had three bytes */
    if (buffer[AT_KIND] & KIND_LONG) {
        bytes = (link_size)(bytes + 5);
        buffer[AT_CONTENT - 1 + bytes] = END;
    }
    link->out_bytes = bytes;
    link->out_have = 0;
    link->tries = LINK_TRIES;
    link->out_at = link_clock(link);
    link->out = buffer;
    transmit(link, 0);
    if (!is_confirmed(buffer)) {
        link->out = NULL;
        return LINK_SENT;
    }
    return LINK_WAITING;
}

NOINLINE uint8_t link_send(struct link *link, uint8_t *buffer, link_size bytes, uint8_t how) {
    IN_REGISTER(link);
    uint16_t pieces = (uint16_t)(LINK_PIECES_MAX * (PACKET_BYTES(link) - LINK_PIECE_HEAD));
    uint16_t most = (uint16_t)(pieces - 3u - long_tag_bytes(link) - 1u);
    uint16_t room = (uint16_t)(PACKET_BYTES(link) - SHORT_OVERHEAD);
    uint8_t fits = OPTIONS(link) & LINK_STREAM ? bytes == room : bytes <= room, step, id;

    if (link->out != NULL) {
        return LINK_BUSY;
    }
    if (bytes > most || (!listens(link) && (how & (uint8_t)~LINK_LONG)) ||
        (link->node == LINK_BROADCAST && !is_gateway(link))) {
        return LINK_TOO_LONG;
    }
    if (link->send_left == 0) {
        if (link->record.send > UINT32_MAX - LINK_SEND_BLOCK) {
            return LINK_USED_UP;
        }
        link->record.send += LINK_SEND_BLOCK;
        if (!link_save(link)) {
            link->since = 0xff; /* the block is skipped: too far for a short packet */
            return LINK_STORAGE;
        }
        link->send_left = LINK_SEND_BLOCK;
    }
    write_number(buffer + AT_COUNTER, unused(link));
    if ((how & TYPE) == LINK_COMMAND) {
        write_number(buffer + LINK_HEAD, link->next - (has_received(link) ? 1 : 1 + LINK_RECEIVE_AHEAD));
    }
    link->send_left--;
    step = listens(link) ? LINK_STEP_MAX : LINK_LONG_EVERY - 1;
    if (link->since <= step) {
        link->since++;
    }
    if (listens(link) && link->fresh < LINK_FRESH) {
        link->fresh++;
    }
    buffer[AT_KIND] = (uint8_t)(KIND_LONG | link->node);
    id = outwards(link) | long_tag_bytes(link);
    if (fits && OPTIONS(link) & LINK_SHORT && !(how & (LINK_LONG | LINK_COMMAND)) &&
        !(link->record.failures & NO_SHORT)) {
        if (link->since <= step && link->since % LINK_LONG_EVERY != 0) {
            buffer[AT_KIND] = (uint8_t)((how & LINK_CONFIRMED) | link->node);
            id = outwards(link) | LINK_SHORT_TAG_BYTES;
            how = 0;
        } else if (listens(link) && link->since > step) {
            how |= LINK_CONFIRMED; /* the answer shows that both are synchronised */
        }
    }
    if (!listens(link) && buffer[AT_KIND] & KIND_LONG) {
        link->since = 0;
    }
    buffer[AT_FLAGS] = how & FLAGS;
    return start(link, buffer, bytes, id);
}

uint8_t link_renew(struct link *link, uint8_t *buffer, uint32_t epoch, uint16_t salt) {
    if (!is_gateway(link) || !listens(link) || epoch < link->record.epoch) {
        return LINK_TOO_LONG;
    }
    if (keep_epoch(link, epoch, salt) == LINK_STORAGE) {
        return LINK_STORAGE;
    }
    write_number(buffer + AT_COUNTER, epoch);
    memcpy(buffer + LINK_HEAD, &salt, sizeof salt);
    buffer[AT_KIND] = (uint8_t)(KIND_LONG | link->node);
    buffer[AT_FLAGS] = LINK_CONFIRMED | TYPE_EPOCH;
    return start(link, buffer, salt == link->generation ? 0 : sizeof salt, USE_EPOCH | long_tag_bytes(link));
}

#endif

/* Whether the message that waits is a gateway's offer of a new epoch. */
static inline uint8_t offers_epoch(const struct link *link) {
    return is_gateway(link) && (link->out[AT_FLAGS] & TYPE) == TYPE_EPOCH;
}

NOINLINE uint8_t link_poll(struct link *link) {
    IN_REGISTER(link);
#ifndef LINK_ANSWER_MS
    uint16_t patience = link->answer_ms;
#else
    uint16_t patience = LINK_ANSWER_MS;
#endif
    uint16_t now = link_clock(link);

    if (!is_gateway(link)) { /* nodes whose packets collided must not send again at one time */
        patience = (uint16_t)(patience + link->node * LINK_SPREAD_MS);
    }
    if (link->out == 0 || (uint16_t)(now - link->out_at) < patience) {
        return LINK_NOTHING;
    }
    if (--link->tries == 0) {
        link->out = 0;
        return LINK_UNCONFIRMED;
    }
    link->out_at = now;
    /* The first names the message, the last asks for what is missing. Where that brings nothing, or is an epoch's
     * offer, which gets no answer that says it, all go again. */
    transmit(link, offers_epoch(link) || link->tries < LINK_TRIES / 2 ? 0 : 0xfffe);
    return LINK_NOTHING;
}

/* An answer to the message that waits. */
static uint8_t take_answer(struct link *link, const uint8_t *packet) {
    uint8_t outcome = packet[2] & OUTCOME, offer = offers_epoch(link);
    uint16_t word;

    memcpy(&word, packet + 2, sizeof word);
    if (answer(link, word, packet) != 0) {
        /* A node without all of an offer answers under its old epoch's key. */
        return offer && outcome == ANSWER_MISSING ? LINK_NOTHING : LINK_FORGED;
    }
    word >>= 2;
    if (outcome == ANSWER_MISSING) {
        if (word & (uint16_t)~link->out_have) {
            link->out_have |= word;
            if (link->tries < LINK_TRIES) {
                link->tries++;
            }
        } else if (--link->tries == 0) {
            link->out = 0;
            return LINK_UNCONFIRMED;
        }
        link->out_at = link_clock(link);
        transmit(link, word);
        return LINK_NOTHING;
    }
    if (!offer) {
        link->since = 0;
    }
    link->out = NULL;
    if (outcome == ANSWER_ACCEPTED) {
        word = word ? NO_SHORT : 0;
        if ((link->record.failures & NO_SHORT) != word && (uint8_t)(link->record.send >> 24) != 0xff) {
            link->record.failures ^= NO_SHORT;
            link->record.send++; /* of records the greatest number counts; what storage lacks is not used */
            if (!link_save(link)) {
                link->send_left = UINT8_MAX;
            }
            link->send_left++;
        }
        return LINK_ACCEPTED;
    }
    if (offer) { /* the number of the epoch that the node has */
        link->record.epoch = (uint32_t)word << EPOCH_RANDOM_BITS | ((1UL << EPOCH_RANDOM_BITS) - 1);
        return LINK_REFUSED;
    }
    /* Refused: the receiver says what it waits for; counters below that are lost. */
    word = (uint16_t)(word - (uint16_t)unused(link)) & DETAIL;
    if (word <= DETAIL / 2) {
        if (word > link->send_left) {
            link->record.send += (uint16_t)(word - link->send_left); /* saved with the next block */
            link->send_left = 0;
        } else {
            link->send_left = (uint8_t)(link->send_left - word);
        }
    }
    return LINK_REFUSED;
}

/* --- Receiving */

/* Whether the counter so many below the newest was received before, or is too old to check. */
NOINLINE static uint8_t seen(const struct link *link, uint32_t age) {
#ifdef MC_FAULT_NO_WINDOW
    (void)age;
    return 0;
#endif
    return age >= LINK_WINDOW || (link->window >> (uint8_t)age & 1);
}

#ifndef LINK_AVR_FIXED

/* Note in storage that a counter is taken, before the application gets the message. */
static uint8_t claim(struct link *link) {
    uint8_t before = (uint8_t)link->record.receive;
    uint8_t noted = is_gateway(link) ? link->next <= link->record.receive : link->next < link->record.receive;

    if (noted && !(link->slot & NOT_SAVED)) {
        return 1;
    }
#ifdef MC_FAULT_LATE_CLAIM
    return 1;
#endif
    if (link->next >= link->record.receive) { /* a node keeps it above `next`, see has_received */
        link->record.receive = link->next;
        if (!is_gateway(link) && link->next <= UINT32_MAX - LINK_RECEIVE_AHEAD) {
            link->record.receive += LINK_RECEIVE_AHEAD;
        }
        if (link->record.failures & (uint16_t)~NO_SHORT &&
            (before ^ link->record.receive) & (0x100 - LINK_FORGIVEN)) {
            link->record.failures--;
        }
    }
    return link_save(link); /* where it fails, the next message tries again */
}

/* A message that is genuine goes to the application if it is new. */
static uint8_t hand_over(struct link *link, link_size bytes) {
    IN_REGISTER(link);
    uint32_t counter = number_at(link->in + AT_COUNTER), age = link->next - 1 - counter;
    uint8_t taken = link->answer_state == ANSWERED && counter == link->answered;
    uint16_t bit = 1;

    if (is_confirmed(link->in)) {
        link->answer_state = ASKED;
    }
#ifdef MC_FAULT_ANSWER_FIRST
    link_answer(link, 1);
    link->answer_state = ASKED;
#endif
    if (counter < link->next ? seen(link, age) : counter == UINT32_MAX) {
        if (!(link->slot & NOT_SAVED)) { /* an answer names `next`, which a restart would take back */
            link_answer(link, taken);
        }
        return LINK_NOTHING;
    }
#ifndef MC_FAULT_NO_WINDOW
    if (counter < link->next) {
        bit = (uint16_t)(bit << (uint8_t)age);
    }
#else
    bit = 0;
#endif
    if (counter >= link->next) {
        link->next = counter + 1;
        age = ~age; /* its distance from the expected counter */
        link->window = age < LINK_WINDOW - 1 ? (uint16_t)(link->window << (uint8_t)(age + 1)) : 0;
    }
    link->window |= bit;
    if (!claim(link)) {
        link->answer_state = NOBODY;
        return LINK_STORAGE;
    }
    link->answers = 0;
    link->in_bytes = bytes;
    if (!(link->in[AT_FLAGS] & LINK_COMMAND)) {
        return LINK_MESSAGE;
    }
    if ((link->in[AT_FLAGS] & TYPE) == LINK_FILE) {
        return LINK_FILE_PART;
    }
#ifndef MC_FAULT_STALE_COMMAND
    age = unused(link) - 1 - number_at(link->in + LINK_HEAD);
    if (bytes < 4 || age >= link->fresh) {
        link_answer(link, 0);
        return LINK_NOTHING;
    }
#ifndef MC_FAULT_TWO_COMMANDS
    link->fresh = (uint8_t)age; /* only newer ones serve the next command */
#endif
#endif
    return LINK_COMMANDED;
}

#endif

/* A verification of a short tag failed: count it, in storage, which the bound itself keeps from wearing out. */
static void count_failure(struct link *link) {
    link->record.failures++;
    if (!link_save(link)) {
        /* cannot count: end it now */
        link->record.failures = (link->record.failures & NO_SHORT) | LINK_FAILURES_MAX;
    }
}

/* Write the one counter near the next that a packet's low byte can mean. */
static NOINLINE void take_counter(struct link *link, uint8_t low) {
    IN_REGISTER(link);
    uint8_t above = (uint8_t)(low - (uint8_t)link->next + 128); /* of the lowest that it can mean */

    write_number(link->in + AT_COUNTER, link->next - 128 + above);
}

static uint8_t receive_short(struct link *link, const uint8_t *packet, uint8_t bytes) {
    uint8_t *in = link->in;
    uint8_t kind = packet[0] & KIND;
    uint8_t age = (uint8_t)((uint8_t)link->next - 1 - packet[1]); /* of a counter below the next */

    bytes = (uint8_t)(bytes - SHORT_OVERHEAD);
    if (link->next == 0 || !(OPTIONS(link) & LINK_SHORT) || bytes + LINK_SHORT_TAG_BYTES > link->in_room ||
        (kind != KIND_SHORT && !listens(link))) {
        return LINK_NOTHING; /* an epoch begins with a long message */
    }
    if (kind == KIND_SHORT && age < LINK_WINDOW && age < link->next && seen(link, age)) {
        return LINK_NOTHING;
    }
    if (!bears(link, 0)) {
        return LINK_BOUND;
    }
    in[AT_KIND] = packet[0];
    in[AT_FLAGS] = 0; /* and no fragments */
    take_counter(link, packet[1]);
    memcpy(in + LINK_HEAD, packet + 2, (size_t)(bytes + LINK_SHORT_TAG_BYTES));
    if (!link_crypt(link, in, bytes, inwards(link) | LINK_SHORT_TAG_BYTES, true)) {
        count_failure(link);
        return LINK_FORGED;
    }
    return hand_over(link, bytes);
}

/* A genuine offer of an epoch. It is answered under that epoch's key, which the gateway has. */
static uint8_t take_offer(struct link *link, uint32_t epoch, link_size bytes) {
    uint32_t own = link->record.epoch;
    uint16_t salt = link->generation, own_salt = link->record.salt, word = ANSWER_ACCEPTED;
    uint8_t event;

    if (bytes >= sizeof salt) {
        memcpy(&salt, link->in + LINK_HEAD, sizeof salt);
    }
    event = keep_epoch(link, epoch, salt);
    if (event == LINK_STORAGE) {
        return event;
    }
    if (event == LINK_REFUSED) {
        link->record.epoch = epoch;
        link->record.salt = salt;
        word = (uint16_t)((own >> 16 & NUMBER) | ANSWER_REFUSED); /* the node's number is the detail */
    }
    send_answer(link, word);
    if (event == LINK_REFUSED) {
        link->record.epoch = own;
        link->record.salt = own_salt;
        link->key_id = 0;
        event = LINK_NOTHING;
    }
    return event;
}

/* All fragments are here, in_bytes of content in all. */
static uint8_t receive_long(struct link *link) {
    uint8_t *in = link->in;
    uint8_t *content = in + AT_CONTENT;
    uint8_t tag_bytes = long_tag_bytes(link), id = inwards(link) | tag_bytes;
    link_size bytes = link->in_bytes;
    uint32_t counter = number_at(in + AT_COUNTER);

    in[AT_KIND] = (uint8_t)(KIND_LONG | link->node);
    in[AT_FLAGS] &= FLAGS;
    do {
        if (bytes < 3 + tag_bytes + 1) {
            return LINK_FORGED;
        }
        bytes--;
    } while (content[bytes] == 0);
    if (content[bytes] != END) {
        return LINK_FORGED;
    }
    bytes = (link_size)(bytes - 3 - tag_bytes);
    if ((in[AT_FLAGS] & TYPE) == TYPE_EPOCH) {
        id = USE_EPOCH | tag_bytes;
        if (is_gateway(link)) {
            return LINK_NOTHING;
        }
    }
    if (!link_crypt(link, in, bytes, id, true)) {
        return LINK_FORGED;
    }
    if (id < USE_EPOCH) {
        return hand_over(link, bytes);
    }
    return take_offer(link, counter, bytes);
}

static uint8_t receive_piece(struct link *link, const uint8_t *packet, uint8_t bytes) {
    uint8_t *in = link->in;
    uint8_t flags = (uint8_t)((packet[2] & FLAGS) | ASSEMBLING), index = packet[2] & INDEX;
    uint8_t last = packet[2] & LAST;
    uint8_t piece = (uint8_t)(PACKET_BYTES(link) - LINK_PIECE_HEAD);
    uint16_t at = (uint16_t)(index * piece), bit = (uint16_t)(1u << index);

    bytes = (uint8_t)(bytes - LINK_PIECE_HEAD);
    if (index >= LINK_PIECES_MAX || (index == 0 && bytes < 3) || (bytes != piece && !last) ||
        at + bytes > link->in_room + 3u || (!listens(link) && flags != ASSEMBLING)) {
        return LINK_NOTHING;
    }
    if (in[AT_FLAGS] != flags || in[AT_COUNTER] != packet[1]) {
        take_counter(link, packet[1]); /* until the first fragment shows it */
        in[AT_FLAGS] = flags;
        link->in_have = 0;
        link->in_need = UINT16_MAX;
    }
    memcpy(in + AT_CONTENT + at, packet + LINK_PIECE_HEAD, bytes);
    link->in_have |= bit;
    if (last) {
        link->in_need = (uint16_t)(bit | (bit - 1));
        link->in_bytes = (link_size)(at + bytes);
    }
    if ((link->in_need & ~link->in_have) == 0) {
        return receive_long(link);
    }
    if (last && flags & LINK_CONFIRMED) {
        send_answer(link, (uint16_t)(link->in_have << 2 | ANSWER_MISSING));
    }
    return LINK_NOTHING;
}

__attribute__((noinline)) uint8_t link_receive(struct link *link, const uint8_t *packet, uint8_t bytes) {
    IN_REGISTER(link);
    if (bytes < LINK_PIECE_HEAD || bytes > PACKET_BYTES(link) || (uint8_t)(packet[0] & ~KIND) != link->node) {
        return LINK_NOTHING;
    }
    if (link->answer_state == ASKED) {
        link->answer_state = NOBODY; /* the application did not say, and its message goes now */
    }
    switch (packet[0] & KIND) {
    case KIND_ANSWER:
        if (bytes < ANSWER_BYTES || link->out == 0 || packet[1] != link->out[AT_COUNTER]) {
            return LINK_NOTHING;
        }
        return take_answer(link, packet);
    case KIND_LONG:
        return receive_piece(link, packet, bytes);
    default:
        return bytes < SHORT_OVERHEAD ? LINK_NOTHING : receive_short(link, packet, bytes);
    }
}
