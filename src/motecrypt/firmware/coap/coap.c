/* coap.c: CoAP messages as bytes (RFC 7252, section 3). See coap.h. */
#include "coap.h"

enum {
    VERSION = 1,
    MARKER = 0xFF,
    ONE_MORE = 13, /* nibbles of an option's head: one byte follows, less 13 */
    TWO_MORE = 14, /* two bytes follow, less 269 */
    ONE_BASE = 13,
    TWO_BASE = 269
};

/* The value that a nibble of an option's head encodes, extended by the bytes at `*at`. Returns 0 if they end
 * after `end`, or
 * if the nibble is the reserved 15. At most 269 + 65535, which fits. */
static uint8_t extended(uint32_t *value, const uint8_t **at, const uint8_t *end, uint8_t nibble) {
    *value = nibble;
    if (nibble < ONE_MORE) {
        return 1;
    }
    if (nibble > TWO_MORE || end - *at < nibble - ONE_MORE + 1) {
        return 0;
    }
    *value = *(*at)++;
    if (nibble == ONE_MORE) {
        *value += ONE_BASE;
    } else {
        *value = (*value << 8 | *(*at)++) + TWO_BASE;
    }
    return 1;
}

/* Reads the option at `next`, which is not the marker. Returns 0 if it is malformed. */
static uint8_t take(struct coap_option *option) {
    uint8_t head = *option->next++;
    uint32_t delta, bytes;

    if (!extended(&delta, &option->next, option->end, head >> 4) ||
        !extended(&bytes, &option->next, option->end, head & 15) ||
        bytes > (uint32_t)(option->end - option->next) || delta + option->number > 0xFFFF) {
        return 0;
    }
    option->number = (uint16_t)(option->number + delta);
    option->bytes = (coap_size)bytes;
    option->value = option->next;
    option->next += bytes;
    return 1;
}

uint8_t coap_read_body(struct coap_message *message, const uint8_t *body, coap_size count) {
    struct coap_option option;

    message->options = option.next = body;
    option.end = body + count;
    option.number = 0;
    while (option.next < option.end && *option.next != MARKER) {
        if (!take(&option)) {
            return 0;
        }
    }
    message->options_bytes = (coap_size)(option.next - message->options);
    message->payload = option.next;
    message->payload_bytes = 0;
    if (option.next < option.end) {
        message->payload++;
        message->payload_bytes = (coap_size)(option.end - message->payload);
        return message->payload_bytes > 0;
    }
    return 1;
}

uint8_t coap_read(struct coap_message *message, const uint8_t *bytes, coap_size count) {
    coap_size head;

    if (count < COAP_HEAD_BYTES || bytes[0] >> 6 != VERSION) {
        return 0;
    }
    message->kind = bytes[0] >> 4 & 3;
    message->token_bytes = bytes[0] & 15;
    message->code = bytes[1];
    message->mid = (uint16_t)(bytes[2] << 8 | bytes[3]);
    if (message->token_bytes > COAP_TOKEN_MAX || count - COAP_HEAD_BYTES < message->token_bytes ||
        (message->code == COAP_EMPTY && count > COAP_HEAD_BYTES)) {
        return 0;
    }
    message->token = bytes + COAP_HEAD_BYTES;
    head = (coap_size)(COAP_HEAD_BYTES + message->token_bytes);
    return coap_read_body(message, bytes + head, (coap_size)(count - head));
}

void coap_first(struct coap_option *option, const struct coap_message *message) {
    option->next = message->options;
    option->end = message->options + message->options_bytes;
    option->number = 0;
}

uint8_t coap_next(struct coap_option *option) {
    return option->next < option->end && take(option);
}

uint8_t coap_find(struct coap_option *option, const struct coap_message *message, uint16_t number) {
    coap_first(option, message);
    while (coap_next(option)) {
        if (option->number == number) {
            return 1;
        }
    }
    return 0;
}

uint32_t coap_number(const struct coap_option *option) {
    uint32_t number = 0;

    for (coap_size i = 0; i < option->bytes; i++) {
        number = number << 8 | option->value[i];
    }
    return number;
}

static void put(struct coap_writer *writer, const uint8_t *bytes, coap_size count) {
    if (writer->failed || count > writer->room - writer->count) {
        writer->failed = 1;
        return;
    }
    for (coap_size i = 0; i < count; i++) {
        writer->bytes[writer->count++] = bytes[i];
    }
}

void coap_begin(struct coap_writer *writer, uint8_t *bytes, coap_size room, uint8_t kind, uint8_t code,
                uint16_t mid, const uint8_t *token, uint8_t token_bytes) {
    uint8_t head[COAP_HEAD_BYTES];

    writer->bytes = bytes;
    writer->room = room;
    writer->count = 0;
    writer->number = 0;
    writer->failed = kind > COAP_RST || token_bytes > COAP_TOKEN_MAX;
    head[0] = (uint8_t)(VERSION << 6 | kind << 4 | token_bytes);
    head[1] = code;
    head[2] = (uint8_t)(mid >> 8);
    head[3] = (uint8_t)mid;
    put(writer, head, sizeof head);
    put(writer, token, token_bytes);
}

/* A nibble for the head of an option; what has to follow goes to `more`. Returns how many bytes that are. */
static uint8_t shorten(uint16_t value, uint8_t *nibble, uint8_t *more) {
    if (value < ONE_BASE) {
        *nibble = (uint8_t)value;
        return 0;
    }
    if (value < TWO_BASE) {
        *nibble = ONE_MORE;
        more[0] = (uint8_t)(value - ONE_BASE);
        return 1;
    }
    *nibble = TWO_MORE;
    more[0] = (uint8_t)((value - TWO_BASE) >> 8);
    more[1] = (uint8_t)(value - TWO_BASE);
    return 2;
}

void coap_add(struct coap_writer *writer, uint16_t number, const uint8_t *value, coap_size bytes) {
    uint8_t head[5], delta, length, count = 1;

    if (number < writer->number || number == 0) {
        writer->failed = 1;
        return;
    }
    count = (uint8_t)(count + shorten((uint16_t)(number - writer->number), &delta, head + count));
    count = (uint8_t)(count + shorten(bytes, &length, head + count));
    head[0] = (uint8_t)(delta << 4 | length);
    writer->number = number;
    put(writer, head, count);
    put(writer, value, bytes);
}

void coap_add_number(struct coap_writer *writer, uint16_t number, uint32_t value) {
    uint8_t bytes[4], count = 0;

    for (int8_t shift = 24; shift >= 0; shift = (int8_t)(shift - 8)) {
        if (count > 0 || value >> shift != 0) {
            bytes[count++] = (uint8_t)(value >> shift);
        }
    }
    coap_add(writer, number, bytes, count);
}

void coap_add_payload(struct coap_writer *writer, const uint8_t *payload, coap_size bytes) {
    static const uint8_t marker = MARKER;

    if (bytes > 0) {
        put(writer, &marker, 1);
        put(writer, payload, bytes);
    }
}

coap_size coap_end(const struct coap_writer *writer) {
    return writer->failed ? 0 : writer->count;
}
