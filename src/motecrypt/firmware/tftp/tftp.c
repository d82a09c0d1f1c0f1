/* tftp.c: see tftp.h. */
#include "tftp.h"

#include <string.h>

enum { IDLE, ASK_READ, ASK_WRITE, SEND, RECEIVE, RECEIVED };     /* state */
enum { BLKSIZE = 1, TIMEOUT = 2, TSIZE = 4, CLIENT = 8 };        /* options, and whose request it was */
enum { NUMBER_MAX = 10, ERROR_TEXT_MAX = 24, OPTION_COUNT = 3 }; /* digits of 2^32 - 1 */

static const char option_names[OPTION_COUNT][8] = {"blksize", "timeout", "tsize"};
static const char octet[] = "octet";

/* --- texts */

static char lower(char letter) {
    return letter >= 'A' && letter <= 'Z' ? (char)(letter - 'A' + 'a') : letter;
}

static uint8_t same(const char *text, const char *word) {
    while (lower(*text) == *word && *word != 0) {
        text++;
        word++;
    }
    return lower(*text) == *word;
}

/* The text that begins at `*at`, which moves behind its end; 0 if it has none in the packet. */
static const char *text_at(const uint8_t *packet, uint16_t bytes, uint16_t *at) {
    uint16_t begin = *at;

    while (*at < bytes) {
        if (packet[(*at)++] == 0) {
            return (const char *)packet + begin;
        }
    }
    return 0;
}

/* 1 and the number, or 0: no digits, other characters, or 2^32 and more. */
static uint8_t number(const char *text, uint32_t *value) {
    uint32_t sum = 0;

    if (*text == 0) {
        return 0;
    }
    for (; *text != 0; text++) {
        uint8_t digit = (uint8_t)(*text - '0');

        if (digit > 9 || sum > (0xffffffff - digit) / 10) {
            return 0;
        }
        sum = 10 * sum + digit;
    }
    *value = sum;
    return 1;
}

static uint16_t get16(const uint8_t *from) {
    return (uint16_t)((uint16_t)from[0] << 8 | from[1]);
}

static void put16(uint8_t *to, uint16_t value) {
    to[0] = (uint8_t)(value >> 8);
    to[1] = (uint8_t)value;
}

/* Write a text with its zero at `at`; what is behind it, or 0 where there is no room. */
static uint16_t add_text(struct tftp *tftp, uint16_t at, const char *text) {
    size_t bytes = strlen(text) + 1;

    if (at == 0 || bytes > (size_t)(tftp->room - at)) {
        return 0;
    }
    memcpy(tftp->packet + at, text, bytes);
    return (uint16_t)(at + bytes);
}

static uint16_t add_number(struct tftp *tftp, uint16_t at, uint32_t value) {
    char digits[NUMBER_MAX + 1];
    uint8_t begin = NUMBER_MAX;

    digits[begin] = 0;
    do {
        digits[--begin] = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    return add_text(tftp, at, digits + begin);
}

static uint16_t add_options(struct tftp *tftp, uint16_t at) {
    const uint32_t values[OPTION_COUNT] = {tftp->block_bytes, tftp->wait_ms / 1000, tftp->size};

    for (uint8_t i = 0; i < OPTION_COUNT; i++) {
        if (tftp->options >> i & 1) {
            at = add_text(tftp, at, option_names[i]);
            at = add_number(tftp, at, values[i]);
        }
    }
    return at;
}

/* --- packets that go */

static uint16_t block_max(const struct tftp *tftp) {
    uint16_t most = (uint16_t)(tftp->room - TFTP_HEAD);

    if (tftp->block_max != 0 && tftp->block_max < most) {
        most = tftp->block_max;
    }
    return most < TFTP_BLOCK_MAX ? most : TFTP_BLOCK_MAX;
}

static uint8_t over(struct tftp *tftp, uint8_t outcome, uint8_t state) {
    tftp->state = state;
    tftp->due = 0;
    return tftp->calls->close(tftp, outcome);
}

/* Report to the peer, whether or not that arrives. */
static void tell_error(struct tftp *tftp, uint8_t error) {
    uint16_t bytes;

    put16(tftp->packet, TFTP_OP_ERROR);
    put16(tftp->packet + 2, error);
    bytes = add_text(tftp, TFTP_HEAD, error == TFTP_NOT_FOUND ? "no such file" : "");
    (void)tftp->calls->put(tftp, tftp->packet, bytes);
}

static void fail(struct tftp *tftp, uint8_t error) {
    tell_error(tftp, error);
    (void)over(tftp, error, IDLE);
}

static uint16_t make_request(struct tftp *tftp) {
    uint32_t size = tftp->size;
    uint16_t bytes;

    put16(tftp->packet, tftp->state == ASK_READ ? TFTP_OP_READ : TFTP_OP_WRITE);
    bytes = add_text(tftp, 2, tftp->name);
    bytes = add_text(tftp, bytes, octet);
    if (tftp->state == ASK_READ) {
        tftp->size = 0; /* RFC 2349: the server returns it */
    }
    bytes = add_options(tftp, bytes);
    tftp->size = size;
    return bytes;
}

static uint16_t make_ack(struct tftp *tftp) {
    uint16_t bytes = TFTP_HEAD;

    put16(tftp->packet, TFTP_OP_ACK);
    put16(tftp->packet + 2, tftp->block);
    while (bytes < tftp->ack_bytes && bytes < tftp->room) {
        tftp->packet[bytes++] = 0;
    }
    return bytes;
}

static uint16_t make_oack(struct tftp *tftp) {
    put16(tftp->packet, TFTP_OP_OACK);
    return add_options(tftp, 2);
}

/* The packet that the state asks for; 0 if there is none now. */
static uint16_t make_packet(struct tftp *tftp) {
    uint8_t status;

    if (tftp->state == ASK_READ || tftp->state == ASK_WRITE) {
        return make_request(tftp);
    }
    if (tftp->opening && !(tftp->options & CLIENT) && tftp->options != 0) {
        return make_oack(tftp);
    }
    if (tftp->state != SEND) {
        return make_ack(tftp);
    }
    put16(tftp->packet, TFTP_OP_DATA);
    put16(tftp->packet + 2, tftp->block);
    tftp->last_bytes = tftp->block_bytes;
    status = tftp->calls->read(tftp, tftp->at, tftp->packet + TFTP_HEAD, &tftp->last_bytes);
    if (status == TFTP_LATER) {
        return 0;
    }
    if (status != TFTP_OK) {
        fail(tftp, status);
        return 0;
    }
    return (uint16_t)(TFTP_HEAD + tftp->last_bytes);
}

static void transmit(struct tftp *tftp, uint32_t now_ms) {
    uint16_t bytes;

    tftp->due = 1;
    tftp->since_ms = now_ms;
    bytes = make_packet(tftp);
    if (bytes != 0 && tftp->calls->put(tftp, tftp->packet, bytes)) {
        tftp->due = 0;
    }
}

/* A packet that brings the transfer on is answered. */
static void go_on(struct tftp *tftp, uint32_t now_ms) {
    tftp->tries = 1;
    transmit(tftp, now_ms);
}

/* --- options that come */

/* Read the options behind `at` of a request or an OACK; 0 if what is there is none. */
static uint8_t read_options(const uint8_t *packet, uint16_t bytes, uint16_t at, uint32_t *values,
                            uint8_t *found) {
    *found = 0;
    while (at < bytes) {
        const char *name = text_at(packet, bytes, &at), *value = name != 0 ? text_at(packet, bytes, &at) : 0;
        uint8_t i = 0;

        if (value == 0) {
            return 0;
        }
        while (i < OPTION_COUNT && !same(name, option_names[i])) {
            i++;
        }
        if (i < OPTION_COUNT && number(value, &values[i])) {
            *found = (uint8_t)(*found | 1 << i);
        }
    }
    return 1;
}

/* A server's choice from what the client asks for; 0 if this end has no room for blocks of 512 bytes. */
static uint8_t choose(struct tftp *tftp, const uint32_t *values) {
    uint16_t most = block_max(tftp);

    if (tftp->options & BLKSIZE && (values[0] < TFTP_BLOCK_MIN || values[0] > TFTP_BLOCK_MAX)) {
        tftp->options = (uint8_t)(tftp->options & ~BLKSIZE);
    }
    if (tftp->options & TIMEOUT && (values[1] < 1 || values[1] > 255)) {
        tftp->options = (uint8_t)(tftp->options & ~TIMEOUT);
    }
    if (tftp->options & BLKSIZE) {
        tftp->block_bytes = values[0] < most ? (uint16_t)values[0] : most;
    }
    if (tftp->options & TIMEOUT) {
        tftp->wait_ms = values[1] * 1000;
    }
    return tftp->block_bytes <= most;
}

/* A client takes an OACK, or not. */
static uint8_t agree(struct tftp *tftp, const uint8_t *packet, uint16_t bytes) {
    uint32_t values[OPTION_COUNT];
    uint8_t found;

    if (!read_options(packet, bytes, 2, values, &found) || (found & ~tftp->options) != 0) {
        return 0;
    }
    if (found & BLKSIZE) {
        if (values[0] < TFTP_BLOCK_MIN || values[0] > tftp->block_bytes) {
            return 0;
        }
        tftp->block_bytes = (uint16_t)values[0];
    } else {
        tftp->block_bytes = TFTP_BLOCK;
    }
    if (found & TSIZE && tftp->state == ASK_READ) {
        tftp->size = values[2];
    }
    return tftp->block_bytes <= block_max(tftp);
}

/* --- transfers */

static void clear(struct tftp *tftp, uint8_t options) {
    tftp->options = options;
    tftp->opening = 1;
    tftp->due = 0;
    tftp->tries = 1;
    tftp->block = 0;
    tftp->block_bytes = TFTP_BLOCK;
    tftp->last_bytes = 0;
    tftp->at = 0;
    tftp->size = TFTP_SIZE_UNKNOWN;
    tftp->wait_ms = tftp->timeout_ms != 0 ? tftp->timeout_ms : TFTP_TIMEOUT_MS;
}

static void first_data(struct tftp *tftp, uint32_t now_ms) {
    tftp->state = SEND;
    tftp->opening = 0;
    tftp->block = 1;
    go_on(tftp, now_ms);
}

static void serve(struct tftp *tftp, const uint8_t *packet, uint16_t bytes, uint32_t now_ms) {
    uint8_t writing = packet[1] == TFTP_OP_WRITE, status, found;
    uint32_t values[OPTION_COUNT];
    uint16_t at = 2;
    const char *name = text_at(packet, bytes, &at), *mode = name != 0 ? text_at(packet, bytes, &at) : 0;

    if (tftp->options & CLIENT && tftp_busy(tftp)) {
        return; /* both asked at the same time: this end's request is the one that the peer serves */
    }
    if (mode == 0 || !read_options(packet, bytes, at, values, &found)) {
        return; /* half a request: the other half was lost */
    }
    if (tftp_busy(tftp)) {
        (void)over(tftp, TFTP_REPLACED, IDLE);
    }
    tftp->state = IDLE;
    clear(tftp, found);
    if (!same(mode, octet) || !choose(tftp, values)) {
        tell_error(tftp, same(mode, octet) ? TFTP_NO_OPTION : TFTP_ILLEGAL);
        return;
    }
    if (writing && tftp->options & TSIZE) {
        tftp->size = values[2];
    }
    status = tftp->calls->open(tftp, name, writing, &tftp->size);
    if (status != TFTP_OK) {
        tell_error(tftp, status);
        return;
    }
    if (tftp->size == TFTP_SIZE_UNKNOWN) {
        tftp->options = (uint8_t)(tftp->options & ~TSIZE);
    }
    if (writing) {
        tftp->state = RECEIVE;
    } else if (tftp->options == 0) {
        first_data(tftp, now_ms);
        return;
    } else {
        tftp->state = SEND;
    }
    go_on(tftp, now_ms);
}

static uint8_t ask(struct tftp *tftp, const char *name, uint8_t state, uint32_t now_ms) {
    uint8_t status;

    if (tftp_busy(tftp)) {
        return TFTP_LATER;
    }
    clear(tftp, CLIENT | BLKSIZE | TSIZE);
    tftp->block_bytes = block_max(tftp);
    tftp->name = name;
    tftp->state = state;
    if (make_request(tftp) == 0) {
        tftp->state = IDLE;
        return TFTP_ILLEGAL;
    }
    status = tftp->calls->open(tftp, name, state == ASK_READ, &tftp->size);
    if (status != TFTP_OK) {
        tftp->state = IDLE;
        return status;
    }
    if (state == ASK_WRITE && tftp->size == TFTP_SIZE_UNKNOWN) {
        tftp->options = CLIENT | BLKSIZE;
    }
    go_on(tftp, now_ms);
    return TFTP_OK;
}

static void take_oack(struct tftp *tftp, const uint8_t *packet, uint16_t bytes, uint32_t now_ms) {
    if (tftp->state == RECEIVE && tftp->block == 0 && tftp->options & CLIENT && tftp->opening) {
        transmit(tftp, now_ms); /* it comes again: the ACK was lost */
        return;
    }
    if (tftp->state != ASK_READ && tftp->state != ASK_WRITE) {
        return;
    }
    if (!agree(tftp, packet, bytes)) {
        fail(tftp, TFTP_NO_OPTION);
    } else if (tftp->state == ASK_WRITE) {
        first_data(tftp, now_ms);
    } else {
        tftp->state = RECEIVE;
        go_on(tftp, now_ms);
    }
}

static void take_ack(struct tftp *tftp, uint16_t block, uint32_t now_ms) {
    if (tftp->state == ASK_WRITE && block == 0) { /* a server without options */
        tftp->block_bytes = TFTP_BLOCK;
        if (TFTP_BLOCK > block_max(tftp)) {
            fail(tftp, TFTP_NO_OPTION);
            return;
        }
        first_data(tftp, now_ms);
    } else if (tftp->state == SEND && tftp->block == block && !(tftp->due && tftp->tries == 1)) {
        if (tftp->opening) {
            first_data(tftp, now_ms);
        } else if (tftp->last_bytes < tftp->block_bytes) {
            (void)over(tftp, TFTP_OK, IDLE);
        } else {
            tftp->at += tftp->block_bytes;
            tftp->block++;
            go_on(tftp, now_ms);
        }
    } /* else a duplicate: to answer it would double every block from here on */
}

static void take_block(struct tftp *tftp, const uint8_t *from, uint16_t bytes, uint32_t now_ms) {
    uint8_t status, last = bytes < tftp->block_bytes;

    if (bytes > tftp->block_bytes) {
        fail(tftp, TFTP_ILLEGAL);
        return;
    }
    status = bytes != 0 ? tftp->calls->write(tftp, tftp->at, from, bytes) : TFTP_OK;
    if (status == TFTP_LATER) {
        return;
    }
    if (status == TFTP_OK) {
        tftp->opening = 0;
        tftp->block++;
        tftp->at += bytes;
        if (last) {
            status = over(tftp, TFTP_OK, RECEIVED);
        }
        if (status == TFTP_OK) {
            go_on(tftp, now_ms);
            return;
        }
        tftp->state = IDLE;
        tell_error(tftp, status);
        return;
    }
    fail(tftp, status);
}

static void take_data(struct tftp *tftp, const uint8_t *packet, uint16_t bytes, uint32_t now_ms) {
    uint16_t block = get16(packet + 2);

    if (tftp->state == ASK_READ && block == 1) { /* a server without options */
        tftp->block_bytes = TFTP_BLOCK;
        if (TFTP_BLOCK > block_max(tftp)) {
            fail(tftp, TFTP_NO_OPTION);
            return;
        }
        tftp->state = RECEIVE;
    }
    if (tftp->state == RECEIVE && block == (uint16_t)(tftp->block + 1)) {
        take_block(tftp, packet + TFTP_HEAD, (uint16_t)(bytes - TFTP_HEAD), now_ms);
    } else if ((tftp->state == RECEIVE || tftp->state == RECEIVED) && block == tftp->block &&
               !tftp->opening) {
        transmit(tftp, now_ms); /* its ACK was lost */
    } else if (tftp->state == IDLE) {
        tell_error(tftp, TFTP_UNKNOWN_ID); /* this end was restarted meanwhile */
    }
}

/* --- what is called */

void tftp_begin(struct tftp *tftp) {
    clear(tftp, 0);
    tftp->state = IDLE;
}

uint8_t tftp_busy(const struct tftp *tftp) {
    return tftp->state != IDLE && tftp->state != RECEIVED;
}

uint8_t tftp_get(struct tftp *tftp, const char *name, uint32_t now_ms) {
    return ask(tftp, name, ASK_READ, now_ms);
}

uint8_t tftp_put(struct tftp *tftp, const char *name, uint32_t now_ms) {
    return ask(tftp, name, ASK_WRITE, now_ms);
}

void tftp_receive(struct tftp *tftp, const uint8_t *packet, uint16_t bytes, uint32_t now_ms) {
    if (bytes < TFTP_HEAD || packet[0] != 0) {
        return;
    }
    switch (packet[1]) {
    case TFTP_OP_READ:
    case TFTP_OP_WRITE:
        serve(tftp, packet, bytes, now_ms);
        break;
    case TFTP_OP_DATA:
        take_data(tftp, packet, bytes, now_ms);
        break;
    case TFTP_OP_ACK:
        take_ack(tftp, get16(packet + 2), now_ms);
        break;
    case TFTP_OP_OACK:
        take_oack(tftp, packet, bytes, now_ms);
        break;
    case TFTP_OP_ERROR:
        if (tftp_busy(tftp)) {
            (void)over(tftp, packet[2] == 0 && packet[3] <= TFTP_NO_OPTION ? packet[3] : TFTP_UNDEFINED,
                       IDLE);
        }
        break;
    default:
        break;
    }
}

void tftp_poll(struct tftp *tftp, uint32_t now_ms) {
    /* At first the client repeats what it asked, later the sender its block. So no packet has two timers. */
    uint8_t sends = tftp->opening ? tftp->options & CLIENT : tftp->state == SEND;

    if (tftp->due) {
        transmit(tftp, now_ms);
    } else if (tftp_busy(tftp) && now_ms - tftp->since_ms >= tftp->wait_ms) {
        if (tftp->tries >= TFTP_TRIES) {
            (void)over(tftp, TFTP_SILENT, IDLE);
            return;
        }
        tftp->tries++;
        tftp->since_ms = now_ms;
        if (sends) {
            transmit(tftp, now_ms);
        }
    }
}

void tftp_sent(struct tftp *tftp, uint32_t now_ms) {
    tftp->since_ms = now_ms;
}

void tftp_abort(struct tftp *tftp, uint8_t error) {
    if (tftp_busy(tftp)) {
        fail(tftp, error);
    }
}
