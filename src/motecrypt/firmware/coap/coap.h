/* coap.h: CoAP messages (RFC 7252, section 3) in a caller's buffer. No heap, no hardware, no state of its
 * own.
 *
 * Reading: coap_read checks a whole message, options included, so that what comes after it needs no checks.
 * Writing: coap_begin, coap_add in the order of option numbers, coap_add_payload, coap_end.
 */
#ifndef MOTECRYPT_COAP_H
#define MOTECRYPT_COAP_H

#include <stdint.h>

typedef uint16_t coap_size;

enum { COAP_HEAD_BYTES = 4, COAP_TOKEN_MAX = 8 };

enum { COAP_CON = 0, COAP_NON = 1, COAP_ACK = 2, COAP_RST = 3 };

/* Codes: the class in the upper three bits, the detail below. */
enum {
    COAP_EMPTY = 0x00,
    COAP_GET = 0x01,
    COAP_POST = 0x02,
    COAP_PUT = 0x03,
    COAP_CREATED = 0x41,
    COAP_CHANGED = 0x44,
    COAP_CONTENT = 0x45,
    COAP_CONTINUE = 0x5F,
    COAP_BAD_REQUEST = 0x80,
    COAP_UNAUTHORIZED = 0x81,
    COAP_BAD_OPTION = 0x82,
    COAP_NOT_FOUND = 0x84,
    COAP_NOT_ALLOWED = 0x85,
    COAP_NOT_ACCEPTABLE = 0x86,
    COAP_TOO_LARGE = 0x8D,
    COAP_SERVER_ERROR = 0xA0
};

/* Numbers of options (RFC 7252, 7641, 7959, 8613, 8768, 9175). An odd number is critical. */
enum {
    COAP_URI_HOST = 3,
    COAP_OBSERVE = 6,
    COAP_URI_PORT = 7,
    COAP_OSCORE = 9,
    COAP_URI_PATH = 11,
    COAP_CONTENT_FORMAT = 12,
    COAP_MAX_AGE = 14,
    COAP_URI_QUERY = 15,
    COAP_HOP_LIMIT = 16,
    COAP_ACCEPT = 17,
    COAP_BLOCK2 = 23,
    COAP_BLOCK1 = 27,
    COAP_ECHO = 252
};

/* A message that was read; the pointers lead into the caller's buffer. */
struct coap_message {
    const uint8_t *token, *options, *payload;
    coap_size options_bytes, payload_bytes;
    uint16_t mid; /* message ID */
    uint8_t kind, code, token_bytes;
};

/* An option that was read, and where the next one begins. */
struct coap_option {
    const uint8_t *value, *next, *end;
    coap_size bytes;
    uint16_t number;
};

/* A message that is being written. */
struct coap_writer {
    uint8_t *bytes;
    coap_size room, count;
    uint16_t number;
    uint8_t failed; /* it did not fit, or an option was out of order */
};

/* Read `count` bytes. Returns 1, or 0 if they are not a CoAP message. */
uint8_t coap_read(struct coap_message *message, const uint8_t *bytes, coap_size count);

/* The same for what follows a token: options and payload alone are read. */
uint8_t coap_read_body(struct coap_message *message, const uint8_t *body, coap_size count);

/* The options of a message that was read, one after another: coap_first, then coap_next while it returns 1.
 */
void coap_first(struct coap_option *option, const struct coap_message *message);
uint8_t coap_next(struct coap_option *option);

/* The first option of that number. Returns 1, or 0 if there is none. */
uint8_t coap_find(struct coap_option *option, const struct coap_message *message, uint16_t number);

/* An option's value as a number; of a longer one the last four bytes. */
uint32_t coap_number(const struct coap_option *option);

void coap_begin(struct coap_writer *writer, uint8_t *bytes, coap_size room, uint8_t kind, uint8_t code,
                uint16_t mid, const uint8_t *token, uint8_t token_bytes);
void coap_add(struct coap_writer *writer, uint16_t number, const uint8_t *value, coap_size bytes);
void coap_add_number(struct coap_writer *writer, uint16_t number, uint32_t value);
void coap_add_payload(struct coap_writer *writer, const uint8_t *payload, coap_size bytes);

/* The message's length; 0 if something of it failed. */
coap_size coap_end(const struct coap_writer *writer);

#endif
