/* bench.c: the benchmark firmware, the same for every cell, device and runner.
 *
 * It waits for framed requests on the UART, keeps one key, nonce, associated data, message and tag,
 * and runs one operation of the linked cipher on them. docs/formats.md describes the frames. Every
 * request is answered by one frame; a damaged one is answered with REPLY_ERROR and changes nothing
 * that a later, whole request would not set again.
 *
 * It uses the cipher through cipher.h and the device through hal.h, and nothing else.
 */
#include "cipher.h"
#include "hal.h"
#include CIPHER_HEADER

enum {
    PROTOCOL_VERSION = 1,
    FRAME_END = 0x7e,
    FRAME_ESCAPE = 0x7d,
    FRAME_FLIP = 0x20,
};

enum request { HELLO = 'H', KEY = 'K', NONCE = 'N', ASSOCIATED = 'A', MESSAGE = 'M', TAG = 'T', RUN = 'R' };

enum reply { REPLY_HELLO = 'h', REPLY_OK = 'k', REPLY_RAN = 'r', REPLY_ERROR = 'e' };

enum failure { BAD_CHECKSUM = 1, BAD_VERSION = 2, BAD_REQUEST = 3, TOO_LONG = 4 };

enum operation { OPERATION_SETUP = 0, OPERATION_ENCRYPT = 1, OPERATION_DECRYPT = 2 };

/* A buffer that requests fill; `used` bytes of it are valid. */
struct store {
    uint8_t *bytes;
    uint16_t capacity;
    uint16_t used;
};

static uint8_t key_bytes[BENCH_KEY_BYTES];
static uint8_t nonce_bytes[BENCH_NONCE_BYTES];
static uint8_t ad_bytes[BENCH_AD_BYTES];
static uint8_t message_bytes[BENCH_MESSAGE_BYTES];
static uint8_t tag_bytes[16];
static uint8_t run_bytes[3]; /* operation, repetitions (little-endian) */

static struct store key = {key_bytes, sizeof key_bytes, 0};
static struct store nonce = {nonce_bytes, sizeof nonce_bytes, 0};
static struct store ad = {ad_bytes, sizeof ad_bytes, 0};
static struct store message = {message_bytes, sizeof message_bytes, 0};
static struct store tag = {tag_bytes, sizeof tag_bytes, 0};
static struct store run = {run_bytes, sizeof run_bytes, 0};
static struct store hello = {run_bytes, 0, 0};

static struct cipher_context context;

/* CRC-16/CCITT (polynomial 0x1021, initial 0xffff), one byte at a time without a table. */
static uint16_t checksum(uint16_t crc, uint8_t byte) {
    uint8_t x = (uint8_t)((crc >> 8) ^ byte);
    x ^= (uint8_t)(x >> 4);
    return (uint16_t)((uint16_t)(crc << 8) ^ (uint16_t)((uint16_t)x << 12) ^ (uint16_t)((uint16_t)x << 5) ^
                      x);
}

/* --- sending ------------------------------------------------------------------------------------ */

static void send_escaped(uint8_t byte) {
    if (byte == FRAME_END || byte == FRAME_ESCAPE) {
        hal_write(FRAME_ESCAPE);
        byte ^= FRAME_FLIP;
    }
    hal_write(byte);
}

static uint16_t send_byte(uint16_t crc, uint8_t byte) {
    send_escaped(byte);
    return checksum(crc, byte);
}

static uint16_t send_bytes(uint16_t crc, const uint8_t *bytes, uint16_t count) {
    while (count--) {
        crc = send_byte(crc, *bytes++);
    }
    return crc;
}

static uint16_t send_number(uint16_t crc, uint32_t number, uint8_t count) {
    while (count--) {
        crc = send_byte(crc, (uint8_t)number);
        number >>= 8;
    }
    return crc;
}

static uint16_t send_start(uint8_t sequence, uint8_t type) {
    hal_write(FRAME_END);
    uint16_t crc = send_byte(0xffff, PROTOCOL_VERSION);
    crc = send_byte(crc, sequence);
    return send_byte(crc, type);
}

/* The checksum goes out most significant byte first, so that a checksum run over all of a whole frame,
 * its own checksum included, is 0. */
static void send_end(uint16_t crc) {
    send_escaped((uint8_t)(crc >> 8));
    send_escaped((uint8_t)crc);
    hal_write(FRAME_END);
}

static void send_hello(uint8_t sequence) {
    uint16_t crc = send_start(sequence, REPLY_HELLO);
    crc = send_number(crc, hal_clock_hz(), 4);
    crc = send_number(crc, sizeof context, 4);
    crc = send_number(crc, sizeof key_bytes, 2);
    crc = send_number(crc, sizeof nonce_bytes, 2);
    crc = send_number(crc, sizeof ad_bytes, 2);
    crc = send_number(crc, sizeof message_bytes, 2);
    crc = send_number(crc, CIPHER_TAG_BYTES, 1);
    send_end(crc);
}

static void send_error(uint8_t sequence, uint8_t failure) {
    send_end(send_byte(send_start(sequence, REPLY_ERROR), failure));
}

/* --- the operation ------------------------------------------------------------------------------ */

static uint8_t operate(uint8_t operation, const struct cipher_io *io) {
    uint8_t status;
    switch (operation) {
    case OPERATION_SETUP:
        hal_mark(1);
        status = cipher_setup(&context, key_bytes, (uint8_t)key.used);
        hal_mark(0);
        break;
    case OPERATION_ENCRYPT:
        hal_mark(1);
        status = cipher_encrypt(&context, io);
        hal_mark(0);
        break;
    default:
        hal_mark(1);
        status = cipher_decrypt(&context, io);
        hal_mark(0);
        break;
    }
    return status;
}

static void send_run(uint8_t sequence) {
    struct cipher_io io = {nonce_bytes, ad_bytes,     message_bytes, message_bytes,
                           tag_bytes,   message.used, ad.used,       (uint8_t)nonce.used};
    uint16_t repetitions = (uint16_t)(run_bytes[1] | (uint16_t)((uint16_t)run_bytes[2] << 8));
    uint8_t status = CIPHER_OK;

    hal_stack_paint();
    hal_timer_start();
    while (repetitions-- && status == CIPHER_OK) {
        status = operate(run_bytes[0], &io);
    }
    uint32_t cycles = hal_timer_cycles();
    uint32_t stack = hal_stack_depth();

    uint16_t crc = send_start(sequence, REPLY_RAN);
    crc = send_byte(crc, status);
    crc = send_number(crc, cycles, 4);
    crc = send_number(crc, stack, 4);
    crc = send_bytes(crc, tag_bytes, CIPHER_TAG_BYTES);
    crc = send_bytes(crc, message_bytes, message.used);
    send_end(crc);
}

/* --- receiving ---------------------------------------------------------------------------------- */

static struct store *store_of(uint8_t type) {
    switch (type) {
    case HELLO:
        return &hello;
    case KEY:
        return &key;
    case NONCE:
        return &nonce;
    case ASSOCIATED:
        return &ad;
    case MESSAGE:
        return &message;
    case TAG:
        return &tag;
    case RUN:
        return &run;
    default:
        return 0;
    }
}

/* Read one frame into the store that its type names; returns 0 or a failure. An empty frame (two
 * delimiters in a row) is skipped, so that a lost delimiter costs only one frame. */
static uint8_t receive(uint8_t *sequence, uint8_t *type) {
    uint16_t crc = 0xffff;
    uint16_t count = 0;
    uint8_t version = 0;
    uint8_t previous[2] = {0, 0}; /* the checksum is the last two bytes: payload runs two behind */
    struct store *store = 0;
    uint8_t failure = 0;

    *sequence = 0;
    *type = 0;
    for (;;) {
        uint8_t byte = hal_read();
        if (byte == FRAME_END) {
            if (count == 0) {
                continue;
            }
            break;
        }
        if (byte == FRAME_ESCAPE) {
            byte = hal_read();
            if (byte == FRAME_END) {
                return BAD_CHECKSUM; /* a frame cut off inside an escape; its delimiter starts the next */
            }
            byte ^= FRAME_FLIP;
        }
        crc = checksum(crc, byte);
        if (count == 0) {
            version = byte;
        } else if (count == 1) {
            *sequence = byte;
        } else if (count == 2) {
            *type = byte;
            store = store_of(byte);
        } else if (count >= 5 && store) {
            uint16_t at = (uint16_t)(count - 5);
            if (at < store->capacity) {
                store->bytes[at] = previous[count & 1];
            } else {
                failure = TOO_LONG;
            }
        }
        if (count >= 3) {
            previous[count & 1] = byte;
        }
        if (++count == 0xffff) {
            return TOO_LONG;
        }
    }
    if (count < 5 || crc != 0) {
        return BAD_CHECKSUM;
    }
    if (version != PROTOCOL_VERSION) {
        return BAD_VERSION;
    }
    if (!store) {
        return BAD_REQUEST;
    }
    if (failure) {
        return failure;
    }
    store->used = (uint16_t)(count - 5);
    if (store == &run && (run.used != sizeof run_bytes || run_bytes[0] > OPERATION_DECRYPT)) {
        return BAD_REQUEST;
    }
    return 0;
}

int main(void) {
    hal_init();
    send_hello(0);
    for (;;) {
        uint8_t sequence;
        uint8_t type;
        uint8_t failure = receive(&sequence, &type);
        if (failure) {
            send_error(sequence, failure);
        } else if (type == HELLO) {
            send_hello(sequence);
        } else if (type == RUN) {
            send_run(sequence);
        } else {
            send_end(send_start(sequence, REPLY_OK));
        }
    }
}
