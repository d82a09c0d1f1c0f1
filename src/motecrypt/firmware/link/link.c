/* link.c: see link.h; docs/link.md has the formats and the reasons.
 *
 * A message's buffer, for what goes out and for what comes in:
 *
 *   0      the full tag, 16 bytes: what answers prove
 *   16     room for a packet's head
 *   18     the counter, 4 bytes; the upper three travel in front of a long message
 *   22     the message, then its tag, 0x80 and zeros
 */
#include "link.h"
#include "parts.h"

#include <stdbool.h>
#include <string.h>

enum { AT_COUNTER = 18, AT_CONTENT = 19, FULL_TAG_BYTES = 16 };
enum { KIND_SHORT = 0x00, KIND_SHORT_CONFIRMED = 0x40, KIND_LONG = 0x80, KIND_ANSWER = 0xc0, KIND = 0xc0 };
enum { LAST = 0x80, TYPE = 0x30, TYPE_EPOCH = 0x20, FLAGS = 0x70, INDEX = 0x0f, ASSEMBLING = LINK_LONG };
enum { ANSWER_ACCEPTED = 0, ANSWER_REFUSED = 1, ANSWER_MISSING = 2, OUTCOME = 3, ANSWER_BYTES = 12 };
enum { NO_SHORT = 0x8000, DETAIL = 0x3fff, SHORT_OVERHEAD = 2 + LINK_SHORT_TAG_BYTES };
enum { NONCE_BYTES = LINK_SUITE == 1 ? 13 : 16 };
enum { NOBODY, ASKED, ANSWERED }; /* the application is to say; it took the message `answered` */

static uint8_t is_gateway(const struct link *link) {
    (void)link;
    return OPTIONS(link) >> 7;
}

static uint8_t outwards(const struct link *link) {
    return (uint8_t)(is_gateway(link) * DIRECTION);
}

static uint8_t inwards(const struct link *link) {
    return (uint8_t)(DIRECTION - outwards(link));
}

static uint8_t long_tag_bytes(const struct link *link) {
    (void)link;
    return OPTIONS(link) & LINK_TAG_16 ? 16 : 8;
}

static uint8_t listens(const struct link *link) {
    return OPTIONS(link) & LINK_LISTENS && link->node != LINK_BROADCAST;
}

static uint32_t number_at(const uint8_t *bytes) {
    uint32_t number;

    memcpy(&number, bytes, sizeof number);
    return number;
}

/* The first counter that was not used yet. */
static uint32_t unused(const struct link *link) {
    return link->record.send - link->send_left;
}

/* Encrypt or decrypt the `bytes` behind the head of `buffer`, in place, under the counter in its head. The
 * tag is at its front: all of it afterwards, before decrypting the bytes that travelled. */
static NOINLINE uint8_t crypt(struct link *link, uint8_t *buffer, link_size bytes, uint8_t id, uint8_t kind,
                              uint8_t flags, uint8_t decrypting) {
    struct cipher_context context;
    struct cipher_io io;
    uint8_t nonce[NONCE_BYTES];

    memset(nonce, 0, sizeof nonce);
    nonce[0] = (uint8_t)(kind | link->node);
#ifdef MC_FAULT_SHARED_KEY
    nonce[0] = kind;
#endif
    nonce[1] = flags;
    memcpy(nonce + 2, buffer + AT_COUNTER, 4);
    memset(&io, 0, sizeof io);
    io.nonce = nonce;
    io.nonce_bytes = NONCE_BYTES;
    io.input = io.output = buffer + LINK_HEAD;
    io.bytes = bytes;
    io.tag = buffer;
    link_key(link, &context, id);
    (void)cipher_setup(&context, link->key, sizeof link->key);
    context.tag_bytes = id & (DIRECTION - 1);
    return decrypting ? cipher_decrypt(&context, &io) : cipher_encrypt(&context, &io);
}

uint8_t link_begin(struct link *link, uint8_t *buffer, link_size bytes) {
    uint8_t status;

    memset(link, 0, sizeof *link);
    link->in = buffer;
    link->in_room = (link_size)(bytes - LINK_HEAD);
    link->since = 0xff;
    link->window = 0xffff;
    status = link_load_record(link);
    link->next = link->record.receive;
    return status;
}

/* --- Answers */

/* Write the packet that answers the message whose counter and full tag are in the head of `buffer`. */
static NOINLINE void write_answer(struct link *link, uint8_t *packet, uint8_t direction,
                                  const uint8_t *buffer, uint16_t word) {
    struct cipher_context context;
    uint8_t data[32], proof[16];

    memset(data, 0, sizeof data);
    data[0] = (uint8_t)(KIND_ANSWER | link->node);
    data[1] = buffer[AT_COUNTER];
    memcpy(data + 2, &word, 2);
    memcpy(data + 4, buffer + AT_COUNTER, 4);
    if ((word & OUTCOME) != ANSWER_MISSING) {
        memcpy(data + 16, buffer, FULL_TAG_BYTES);
    }
    link_key(link, &context, (uint8_t)(USE_ANSWER | direction | ANSWER_TAG_BYTES));
    link_prf(&context, link->key, data, sizeof data, proof);
    memcpy(packet, data, 4);
    memcpy(packet + 4, proof, ANSWER_TAG_BYTES);
}

static void send_answer(struct link *link, uint16_t word) {
    uint8_t packet[ANSWER_BYTES];

    write_answer(link, packet, inwards(link), link->in, word);
    link_packet(link, packet, sizeof packet);
}

static uint8_t takes_short(const struct link *link) {
#ifdef MC_FAULT_NO_BOUND
    (void)link;
    return 1;
#else
    return (link->record.failures & ~NO_SHORT) < LINK_FAILURES_MAX || link->failures_left > 0;
#endif
}

void link_answer(struct link *link, uint8_t taken) {
    uint16_t word = (uint16_t)(link->next << 2 | ANSWER_REFUSED);

    if (link->answer_state != ASKED) {
        return;
    }
    link->answer_state = NOBODY;
    if (taken) {
        word = takes_short(link) ? ANSWER_ACCEPTED : ANSWER_ACCEPTED | 1 << 2;
        memcpy(&link->answered, link->in + AT_COUNTER, sizeof link->answered);
        link->answer_state = ANSWERED;
    }
    send_answer(link, word);
}

/* --- Sending */

/* Send the message that waits, or its fragments but for those in `skip`; the last one always goes. */
static void transmit(struct link *link, uint8_t *buffer, uint16_t skip) {
    uint8_t *content = buffer + AT_CONTENT, head[LINK_PIECE_HEAD];
    link_size left = link->out_bytes;

    if (link->out_kind != KIND_LONG) {
        memcpy(head, content + 1, 2);
        content[1] = (uint8_t)(link->out_kind | link->node);
        content[2] = buffer[AT_COUNTER];
        link_packet(link, content + 1, (uint8_t)left);
        memcpy(content + 1, head, 2);
        return;
    }
    for (uint8_t index = 0;; index++, skip >>= 1) {
        uint8_t piece = (uint8_t)(PACKET_BYTES(link) - LINK_PIECE_HEAD), last = 0;

        if (left <= piece) {
            piece = (uint8_t)left;
            last = LAST;
        }
        if (last || !(skip & 1)) {
            uint8_t *packet = content - LINK_PIECE_HEAD;

            memcpy(head, packet, sizeof head);
            packet[0] = (uint8_t)(KIND_LONG | link->node);
            packet[1] = index == 0 ? head[2] : buffer[AT_COUNTER];
            packet[2] = last | link->out_flags | index;
            link_packet(link, packet, (uint8_t)(piece + LINK_PIECE_HEAD));
            memcpy(packet, head, sizeof head);
        }
        if (last) {
            return;
        }
        content += piece;
        left = (link_size)(left - piece);
    }
}

static uint8_t start(struct link *link, uint8_t *buffer) {
    link->out_have = 0;
    link->tries = LINK_TRIES;
    link->out_at = link_clock(link);
    transmit(link, buffer, 0);
    if (!(link->out_flags & LINK_CONFIRMED)) {
        return LINK_SENT;
    }
    link->out = buffer;
    return LINK_WAITING;
}

/* Put tag, end mark and zeros behind a long message. */
static void seal_long(struct link *link, uint8_t *buffer, link_size bytes, uint8_t id) {
    uint8_t piece = (uint8_t)(PACKET_BYTES(link) - LINK_PIECE_HEAD);
    uint8_t *end = buffer + LINK_HEAD + bytes;
    link_size whole = piece;

    (void)crypt(link, buffer, bytes, id, KIND_LONG, link->out_flags, false);
    memcpy(end, buffer, id & (DIRECTION - 1));
    end += id & (DIRECTION - 1);
    *end++ = 0x80;
    link->out_bytes = (link_size)(end - (buffer + AT_CONTENT));
    if (OPTIONS(link) & LINK_STREAM) {
        while (whole < link->out_bytes) {
            whole = (link_size)(whole + piece);
        }
        memset(end, 0, (size_t)(whole - link->out_bytes));
        link->out_bytes = whole;
    }
    link->out_kind = KIND_LONG;
}

uint8_t link_send(struct link *link, uint8_t *buffer, link_size bytes, uint8_t how) {
    uint16_t most = (uint16_t)(LINK_PIECES_MAX * (PACKET_BYTES(link) - LINK_PIECE_HEAD));
    uint16_t room = (uint16_t)(PACKET_BYTES(link) - SHORT_OVERHEAD);
    uint8_t step = listens(link) ? LINK_STEP_MAX : LINK_LONG_EVERY - 1;
    uint8_t brief = !(how & (LINK_LONG | LINK_COMMAND)) && bytes <= room && OPTIONS(link) & LINK_SHORT &&
                    !(link->record.failures & NO_SHORT);

    if (OPTIONS(link) & LINK_STREAM && bytes != room) {
        brief = 0;
    }
    if (link->out != 0) {
        return LINK_BUSY;
    }
    if (bytes + 3u + long_tag_bytes(link) + 1u > most || (!listens(link) && (how & (uint8_t)~LINK_LONG)) ||
        (link->node == LINK_BROADCAST && !is_gateway(link))) {
        return LINK_TOO_LONG;
    }
    if (link->send_left == 0) {
        if (link->record.send > UINT32_MAX - LINK_SEND_BLOCK) {
            return LINK_USED_UP;
        }
        link->record.send += LINK_SEND_BLOCK;
        if (!link_save(link)) {
            return LINK_STORAGE;
        }
        link->send_left = LINK_SEND_BLOCK;
    }
    {
        uint32_t counter = unused(link), challenge = link->next - 1;

        memcpy(buffer + AT_COUNTER, &counter, sizeof counter);
        if ((how & TYPE) == LINK_COMMAND) {
            memcpy(buffer + LINK_HEAD, &challenge, sizeof challenge);
        }
    }
    link->send_left--;
    if (link->since <= step) {
        link->since++;
    }
    link->out_flags = how & FLAGS;
    if (brief && link->since <= step) {
        link->out_kind = (uint8_t)(how & LINK_CONFIRMED);
        (void)crypt(link, buffer, bytes, outwards(link) | LINK_SHORT_TAG_BYTES, link->out_kind, 0, false);
        memcpy(buffer + LINK_HEAD + bytes, buffer, LINK_SHORT_TAG_BYTES);
        link->out_bytes = (link_size)(bytes + SHORT_OVERHEAD);
        return start(link, buffer);
    }
    if (!listens(link)) {
        link->since = 0;
    } else if (brief) {
        link->out_flags |= LINK_CONFIRMED; /* the answer shows that both are in step */
    }
    seal_long(link, buffer, bytes, outwards(link) | long_tag_bytes(link));
    return start(link, buffer);
}

/* From here on all counters begin at 0, under new keys. */
static void begin_epoch(struct link *link, uint32_t epoch) {
    uint16_t generation = link->record.generation;

    memset(&link->record, 0, sizeof link->record);
    link->record.generation = generation;
    link->record.epoch = epoch;
    link->next = 0;
    link->window = 0;
    link->send_left = link->failures_left = 0;
    link->since = 0xff;
    link->key_id = 0;
    link->answer_state = NOBODY;
    link->out = 0;
}

uint8_t link_renew(struct link *link, uint8_t *buffer, uint32_t epoch) {
    if (!is_gateway(link) || !listens(link) || epoch < link->record.epoch) {
        return LINK_TOO_LONG;
    }
    if (epoch > link->record.epoch) {
        begin_epoch(link, epoch);
        if (!link_save(link)) {
            return LINK_STORAGE;
        }
    }
    memcpy(buffer + AT_COUNTER, &epoch, sizeof epoch);
    link->out_flags = LINK_CONFIRMED | TYPE_EPOCH;
    seal_long(link, buffer, 0, USE_EPOCH | long_tag_bytes(link));
    return start(link, buffer);
}

uint8_t link_poll(struct link *link) {
#ifndef LINK_ANSWER_MS
    uint16_t patience = link->answer_ms;
#else
    const uint16_t patience = LINK_ANSWER_MS;
#endif
    uint16_t now = link_clock(link);

    if (link->out == 0 || (uint16_t)(now - link->out_at) < patience) {
        return LINK_NOTHING;
    }
    if (--link->tries == 0) {
        link->out = 0;
        return LINK_UNCONFIRMED;
    }
    link->out_at = now;
    transmit(link, link->out, 0xfffe); /* the first names the message, the last asks for what is missing */
    return LINK_NOTHING;
}

/* An answer to the message that waits. */
static uint8_t take_answer(struct link *link, const uint8_t *packet) {
    uint8_t expected[ANSWER_BYTES], difference = 0;
    uint16_t word;

    memcpy(&word, packet + 2, sizeof word);
    write_answer(link, expected, outwards(link), link->out, word);
    for (uint8_t i = 0; i < ANSWER_BYTES; i++) {
        difference |= expected[i] ^ packet[i];
    }
    if (difference != 0) {
        return LINK_FORGED;
    }
    if ((word & OUTCOME) == ANSWER_MISSING) {
        word >>= 2;
        if (word & (uint16_t)~link->out_have) {
            link->tries = LINK_TRIES;
            link->out_have |= word;
        } else if (--link->tries == 0) {
            link->out = 0;
            return LINK_UNCONFIRMED;
        }
        link->out_at = link_clock(link);
        transmit(link, link->out, word);
        return LINK_NOTHING;
    }
    link->out = 0;
    if ((link->out_flags & TYPE) != TYPE_EPOCH) {
        link->since = 0;
    }
    if ((word & OUTCOME) == ANSWER_ACCEPTED) {
        if (word >> 2 && !(link->record.failures & NO_SHORT)) {
            link->record.failures |= NO_SHORT;
            (void)link_save(link); /* if it is not kept, the next answer tells it again */
        }
        return LINK_ACCEPTED;
    }
    /* Refused: the receiver says what it waits for; counters below that are lost. */
    word = (uint16_t)((word >> 2) - (uint16_t)unused(link)) & DETAIL;
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

/* Whether a counter was received before, or is too old to tell. */
static uint8_t seen(const struct link *link, uint32_t counter) {
    uint32_t age = link->next - 1 - counter;

#ifdef MC_FAULT_NO_WINDOW
    (void)age;
    return 0;
#endif
    return counter == UINT32_MAX ||
           (counter < link->next && (age >= LINK_WINDOW || (link->window >> (uint8_t)age & 1)));
}

/* Note in storage that a counter is taken, before the application gets the message. */
static uint8_t claim(struct link *link, uint32_t counter) {
    if (counter >= link->next) {
        uint32_t step = counter - link->next + 1;

        link->window = step < LINK_WINDOW ? (uint16_t)(link->window << (uint8_t)step) : 0;
        link->next = counter + 1;
    }
#ifndef MC_FAULT_NO_WINDOW
    link->window |= (uint16_t)(1u << (uint8_t)(link->next - 1 - counter));
#endif
    if (link->next <= link->record.receive) {
        return 1;
    }
#ifdef MC_FAULT_LATE_CLAIM
    return 1;
#endif
    link->record.receive = link->next;
    if (!is_gateway(link) && link->next <= UINT32_MAX - LINK_RECEIVE_AHEAD) {
        link->record.receive += LINK_RECEIVE_AHEAD;
    }
    return link_save(link);
}

/* A message that is genuine goes to the application if it is new. */
static uint8_t hand_over(struct link *link, link_size bytes) {
    uint32_t counter = number_at(link->in + AT_COUNTER);
    uint8_t taken = link->answer_state == ANSWERED && counter == link->answered;

    if (link->in_flags & LINK_CONFIRMED) {
        link->answer_state = ASKED;
    }
#ifdef MC_FAULT_ANSWER_FIRST
    link_answer(link, 1);
    link->answer_state = ASKED;
#endif
    if (seen(link, counter)) {
        link_answer(link, taken);
        return LINK_NOTHING;
    }
    if (!claim(link, counter)) {
        link->answer_state = NOBODY;
        return LINK_STORAGE;
    }
    link->in_bytes = bytes;
    if (!(link->in_flags & LINK_COMMAND)) {
        return LINK_MESSAGE;
    }
    if ((link->in_flags & TYPE) == LINK_FILE) {
        return LINK_FILE_PART;
    }
#ifndef MC_FAULT_STALE_COMMAND
    if (bytes < 4 || unused(link) - 1 - number_at(link->in + LINK_HEAD) >= LINK_FRESH) {
        link_answer(link, 0);
        return LINK_NOTHING;
    }
#endif
    return LINK_COMMANDED;
}

/* A verification of a short tag failed: count it, in storage a block ahead. */
static void count_failure(struct link *link) {
    if (link->failures_left == 0) {
        link->record.failures += LINK_FAILURE_BLOCK;
        if (!link_save(link)) {
            link->record.failures |= LINK_FAILURES_MAX; /* cannot count: end it now */
            return;
        }
        link->failures_left = LINK_FAILURE_BLOCK;
    }
    link->failures_left--;
}

/* The one counter near the next that a packet's low byte can mean. */
static uint32_t candidate(const struct link *link, uint8_t low) {
    return link->next - 128 + (uint8_t)(low - (uint8_t)link->next + 128);
}

static uint8_t receive_short(struct link *link, const uint8_t *packet, uint8_t bytes) {
    uint32_t counter = candidate(link, packet[1]);
    uint8_t kind = packet[0] & KIND;

    bytes = (uint8_t)(bytes - SHORT_OVERHEAD);
    if (link->next == 0 || !(OPTIONS(link) & LINK_SHORT) || bytes > link->in_room ||
        (kind != KIND_SHORT && !listens(link))) {
        return LINK_NOTHING; /* an epoch begins with a long message */
    }
    if (kind == KIND_SHORT && seen(link, counter)) {
        return LINK_NOTHING;
    }
    if (!takes_short(link)) {
        return LINK_BOUND;
    }
    link->in_flags = kind; /* and no fragments: KIND_SHORT_CONFIRMED is LINK_CONFIRMED */
    memcpy(link->in + AT_COUNTER, &counter, sizeof counter);
    memcpy(link->in + LINK_HEAD, packet + 2, bytes);
    memcpy(link->in, packet + 2 + bytes, LINK_SHORT_TAG_BYTES);
    if (crypt(link, link->in, bytes, inwards(link) | LINK_SHORT_TAG_BYTES, kind, 0, true) != CIPHER_OK) {
        count_failure(link);
        return LINK_FORGED;
    }
    return hand_over(link, bytes);
}

/* All fragments are here, in_bytes of content in all. */
static uint8_t receive_long(struct link *link) {
    uint8_t *content = link->in + AT_CONTENT;
    uint8_t tag_bytes = long_tag_bytes(link), id = inwards(link) | tag_bytes;
    link_size bytes = link->in_bytes;
    uint32_t counter = number_at(link->in + AT_COUNTER);

    link->in_flags &= FLAGS;
    while (bytes && content[bytes - 1] == 0) {
        bytes--;
    }
    if (bytes < 3 + tag_bytes + 1 || content[bytes - 1] != 0x80) {
        return LINK_FORGED;
    }
    bytes = (link_size)(bytes - 3 - tag_bytes - 1);
    if ((link->in_flags & TYPE) == TYPE_EPOCH) {
        id = USE_EPOCH | tag_bytes;
        if (is_gateway(link) || counter < link->record.epoch) {
            return LINK_NOTHING;
        }
    }
    memcpy(link->in, link->in + LINK_HEAD + bytes, tag_bytes);
    if (crypt(link, link->in, bytes, id, KIND_LONG, link->in_flags, true) != CIPHER_OK) {
        return LINK_FORGED;
    }
    if (id < USE_EPOCH) {
        return hand_over(link, bytes);
    }
    bytes = LINK_NOTHING;
    if (counter != link->record.epoch) {
        begin_epoch(link, counter);
        if (!link_save(link)) {
            return LINK_STORAGE;
        }
        bytes = LINK_RENEWED;
    }
    send_answer(link, ANSWER_ACCEPTED);
    return (uint8_t)bytes;
}

static uint8_t receive_piece(struct link *link, const uint8_t *packet, uint8_t bytes) {
    uint8_t flags = (uint8_t)((packet[2] & FLAGS) | ASSEMBLING), index = packet[2] & INDEX;
    uint8_t last = packet[2] & LAST;
    uint8_t piece = (uint8_t)(PACKET_BYTES(link) - LINK_PIECE_HEAD);
    uint16_t at = (uint16_t)(index * piece);

    bytes = (uint8_t)(bytes - LINK_PIECE_HEAD);
    if (index >= LINK_PIECES_MAX || (index == 0 && bytes < 3) || (bytes != piece && !last) ||
        at + bytes > link->in_room + 3u ||
        (!listens(link) && flags != ASSEMBLING)) {
        return LINK_NOTHING;
    }
    if (link->in_flags != flags || link->in[AT_COUNTER] != packet[1]) {
        uint32_t counter = candidate(link, packet[1]); /* until the first fragment tells */

        memcpy(link->in + AT_COUNTER, &counter, sizeof counter);
        link->in_flags = flags;
        link->in_have = link->in_need = 0;
    }
    memcpy(link->in + AT_CONTENT + at, packet + LINK_PIECE_HEAD, bytes);
    link->in_have |= (uint16_t)(1u << index);
    if (last) {
        link->in_need = (uint16_t)((2u << index) - 1);
        link->in_bytes = (link_size)(at + bytes);
    }
    if (link->in_need != 0 && (link->in_need & ~link->in_have) == 0) {
        return receive_long(link);
    }
    if (last && flags & LINK_CONFIRMED) {
        send_answer(link, (uint16_t)(link->in_have << 2 | ANSWER_MISSING));
    }
    return LINK_NOTHING;
}

uint8_t link_receive(struct link *link, const uint8_t *packet, uint8_t bytes) {
    if (bytes < LINK_PIECE_HEAD || bytes > PACKET_BYTES(link) || (packet[0] & ~KIND) != link->node) {
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
