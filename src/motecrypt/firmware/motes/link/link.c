/* link.c: see link.h. */
#include "link.h"

#include "crc8.h"
#include "mote.h"

#include <string.h>

enum { MARK = 0xa0, DATA = 0, LAST = 1, ACCEPTED = 2, REFUSED = 3, STATUS = 4 };
enum { KIND_MESSAGE = 1, KIND_ACCEPTANCE = 2, KIND_REFUSAL = 3 };
enum { HEADER_BYTES = 8, NONCE_BYTES = 13, PIECE_BYTES = LINK_FRAME_BYTES - 4 };
enum { SEALED_MAX = HEADER_BYTES + LINK_MESSAGE_MAX + LINK_TAG_BYTES + 1 };
enum { PIECES_MAX = (SEALED_MAX + PIECE_BYTES - 1) / PIECE_BYTES };

static const uint8_t associated[] = {'m', 'o', 't', 'e', 'c', 'r', 'y', 'p', 't', '1'};

static void write_number(uint8_t *to, uint32_t number) {
    for (uint8_t i = 0; i < 4; i++) {
        to[i] = (uint8_t)(number >> (24 - 8 * i));
    }
}

/* Encrypt in place and authenticate, under the nonce of that kind, stream and counter. */
static uint8_t seal(struct link *link, uint8_t kind, uint32_t counter, uint8_t *data, uint8_t bytes,
                    uint8_t *tag) {
    uint8_t nonce[NONCE_BYTES] = {kind};
    struct cipher_io io;

    write_number(nonce + 1, link->stream);
    write_number(nonce + 5, counter);
    memset(&io, 0, sizeof io);
    io.nonce = nonce;
    io.nonce_bytes = NONCE_BYTES;
    io.ad = associated;
    io.ad_bytes = sizeof associated;
    io.input = data;
    io.output = data;
    io.bytes = bytes;
    io.tag = tag;
    return cipher_encrypt(&link->cipher, &io);
}

static void send_piece(uint8_t counter, uint8_t index, uint8_t last, const uint8_t *piece) {
    uint8_t frame[LINK_FRAME_BYTES];

    frame[0] = (uint8_t)(MARK | (index == last ? LAST : DATA));
    frame[1] = counter;
    frame[2] = index;
    memcpy(frame + 3, piece, PIECE_BYTES);
    frame[LINK_FRAME_BYTES - 1] = crc8(frame, LINK_FRAME_BYTES - 1);
    for (uint8_t i = 0; i < LINK_FRAME_BYTES; i++) {
        mote_write(frame[i]);
    }
}

/* Read until a frame of our message is complete (1) or nothing comes any more (0). */
static uint8_t read_answer(uint8_t *frame, uint8_t counter) {
    uint8_t have = 0;
    uint16_t patience = LINK_ANSWER_MS;

    for (uint16_t budget = 400; budget > 0; budget--) { /* bytes: garbage cannot hold us for ever */
        int16_t byte = mote_read(patience);

        if (byte < 0) {
            return 0;
        }
        frame[have++] = (uint8_t)byte;
        patience = LINK_SILENCE_MS;
        if (have < LINK_FRAME_BYTES) {
            continue;
        }
        if ((frame[0] & 0xf0) == MARK && frame[1] == counter &&
            crc8(frame, LINK_FRAME_BYTES - 1) == frame[LINK_FRAME_BYTES - 1]) {
            return 1;
        }
        memmove(frame, frame + 1, --have);
    }
    return 0;
}

/* Whether an acceptance or refusal carries the tag that only the key can make; in constant time. */
static uint8_t genuine(struct link *link, uint8_t kind, uint32_t counter, const uint8_t *tag) {
    uint8_t expected[LINK_TAG_BYTES], difference = 0;

    if (seal(link, kind, counter, expected, 0, expected) != CIPHER_OK) {
        return 0;
    }
    for (uint8_t i = 0; i < LINK_TAG_BYTES; i++) {
        difference |= expected[i] ^ tag[i];
    }
    return difference == 0;
}

/* The pieces that a status frame calls missing, one bit each. */
static uint16_t missing_pieces(const uint8_t *frame, uint8_t pieces) {
    uint16_t missing = 0;
    uint8_t base = frame[2];

    for (uint8_t index = base; index < pieces; index++) {
        uint8_t bit = (uint8_t)(index - base - 1);

        if (index == base || !(frame[3 + bit / 8] >> (bit % 8) & 1)) {
            missing |= (uint16_t)(1u << index);
        }
    }
    return missing;
}

static uint8_t count(uint16_t bits) {
    uint8_t ones = 0;

    for (; bits != 0; bits &= (uint16_t)(bits - 1)) {
        ones++;
    }
    return ones;
}

/* Send what is missing, ask, and again, until accepted, refused or given up. */
static uint8_t deliver(struct link *link, uint32_t counter, const uint8_t *sealed, uint8_t pieces) {
    const uint8_t last = (uint8_t)(pieces - 1);
    uint16_t missing = (uint16_t)((1ul << pieces) - 1);
    uint8_t fewest = (uint8_t)(pieces + 1), failures = 0;

    while (failures < LINK_TRIES) {
        uint8_t frame[LINK_FRAME_BYTES];

        for (uint8_t index = 0; index < pieces; index++) {
            if (missing >> index & 1 || index == last) {
                send_piece((uint8_t)counter, index, last, sealed + index * PIECE_BYTES);
            }
        }
        if (!read_answer(frame, (uint8_t)counter)) {
            /* The first piece names the message in full, the last asks for its state. */
            missing = (uint16_t)(1u | 1u << last);
            failures++;
            continue;
        }
        switch (frame[0] & 0x0f) {
        case ACCEPTED:
            if (genuine(link, KIND_ACCEPTANCE, counter, frame + 2)) {
                return LINK_ACCEPTED;
            }
            failures++;
            break;
        case REFUSED:
            if (genuine(link, KIND_REFUSAL, counter, frame + 2)) {
                return LINK_REFUSED;
            }
            failures++;
            break;
        case STATUS:
            missing = missing_pieces(frame, pieces);
            if (count(missing) < fewest) {
                fewest = count(missing);
                failures = 0;
            } else {
                failures++;
            }
            break;
        default:
            failures++;
            break;
        }
    }
    return LINK_UNCONFIRMED;
}

uint8_t link_init(struct link *link, const uint8_t *key, uint8_t key_bytes, uint32_t stream) {
    link->stream = stream;
    if (cipher_setup(&link->cipher, key, key_bytes) != CIPHER_OK) {
        return LINK_NO_COUNTER;
    }
    return counter_init(&link->counter) == COUNTER_OK ? LINK_ACCEPTED : LINK_NO_COUNTER;
}

uint8_t link_send(struct link *link, const uint8_t *message, uint8_t bytes) {
    uint8_t sealed[PIECES_MAX * PIECE_BYTES] = {0};
    uint8_t end = (uint8_t)(HEADER_BYTES + bytes);
    uint32_t counter;

    if (bytes > LINK_MESSAGE_MAX) {
        return LINK_TOO_LONG;
    }
    if (counter_take(&link->counter, &counter) != COUNTER_OK) {
        return LINK_NO_COUNTER;
    }
    write_number(sealed, link->stream);
    write_number(sealed + 4, counter);
    memcpy(sealed + HEADER_BYTES, message, bytes);
    if (seal(link, KIND_MESSAGE, counter, sealed + HEADER_BYTES, bytes, sealed + end) != CIPHER_OK) {
        return LINK_NO_COUNTER;
    }
    end = (uint8_t)(end + LINK_TAG_BYTES);
    sealed[end] = 0x80;
    return deliver(link, counter, sealed, (uint8_t)(end / PIECE_BYTES + 1));
}
