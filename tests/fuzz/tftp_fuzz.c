/* tftp_fuzz.c: malformed and odd packets for the node's side of TFTP (docs/tftp.md).
 *
 * With libFuzzer (clang -fsanitize=fuzzer) it is the target; with OWN_INPUTS it has a main that makes inputs
 * from a seed: `tftp_fuzz RUNS SEED`. Each packet is in a block that ends where it ends.
 */
#include "tftp.h"

#include <sanitizer/asan_interface.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PACKET_MOST = 600, ROOM_MOST = 600 };

static uint8_t packet_block[PACKET_MOST + 64] __attribute__((aligned(8)));
static uint8_t room_block[ROOM_MOST + 64] __attribute__((aligned(8)));
static uint8_t last[ROOM_MOST];
static uint16_t last_bytes;
static const uint8_t *input;
static size_t input_left;
static uint8_t mood; /* what callbacks answer next */
static int is_open;
static uint32_t at_next, file_bytes;

static uint8_t *cut(uint8_t *block, size_t whole, size_t bytes) {
    ASAN_UNPOISON_MEMORY_REGION(block, whole);
    ASAN_POISON_MEMORY_REGION(block + bytes, whole - bytes);
    return block;
}

static uint8_t take(void) {
    if (input_left == 0) {
        return 0;
    }
    input_left--;
    return *input++;
}

static uint8_t put(struct tftp *tftp, const uint8_t *packet, uint16_t bytes) {
    if (bytes < TFTP_HEAD || bytes > tftp->room || packet != tftp->packet) {
        abort();
    }
    memcpy(last, packet, bytes);
    last_bytes = bytes;
    return (mood & 7) != 1;
}

static uint8_t open_file(struct tftp *tftp, const char *name, uint8_t writing, uint32_t *size) {
    (void)tftp;
    if (is_open || strlen(name) > PACKET_MOST) {
        abort(); /* the one before was not closed */
    }
    if ((mood & 7) == 2) {
        return TFTP_NOT_FOUND;
    }
    is_open = 1;
    at_next = 0;
    if (!writing && (mood & 0x40)) {
        *size = file_bytes;
    }
    return TFTP_OK;
}

static uint8_t read_file(struct tftp *tftp, uint32_t at, uint8_t *to, uint16_t *bytes) {
    if (!is_open || *bytes > tftp->room - TFTP_HEAD || *bytes < TFTP_BLOCK_MIN) {
        abort();
    }
    if ((mood & 7) == 3) {
        return TFTP_LATER;
    }
    if ((mood & 7) == 4) {
        return TFTP_UNDEFINED;
    }
    if (*bytes > file_bytes - at) {
        *bytes = (uint16_t)(file_bytes - at);
    }
    memset(to, (int)at, *bytes);
    return TFTP_OK;
}

static uint8_t write_file(struct tftp *tftp, uint32_t at, const uint8_t *from, uint16_t bytes) {
    volatile uint8_t sum = 0;

    (void)tftp;
    if (!is_open || at != at_next) {
        abort();
    }
    for (uint16_t i = 0; i < bytes; i++) {
        sum = (uint8_t)(sum + from[i]);
    }
    if ((mood & 7) == 3) {
        return TFTP_LATER;
    }
    if ((mood & 7) == 5) {
        return TFTP_DISK_FULL;
    }
    at_next += bytes;
    return TFTP_OK;
}

static uint8_t close_file(struct tftp *tftp, uint8_t outcome) {
    (void)tftp;
    (void)outcome;
    if (!is_open) {
        abort(); /* closed twice, or never opened */
    }
    is_open = 0;
    return (mood & 7) == 6 ? TFTP_DISK_FULL : TFTP_OK;
}

static const struct tftp_calls calls = {put, open_file, read_file, write_file, close_file};

/* A request or an OACK with options as they are, cut or with other bytes. */
static uint16_t words(uint8_t *packet, uint8_t what) {
    static const char *const texts[] = {"log",     "octet",      "blksize", "8",       "512",
                                        "timeout", "1",          "tsize",   "0",       "OCTET",
                                        "65464",   "9999999999", "",        "netascii"};
    uint16_t at = 2;

    packet[0] = 0;
    packet[1] = what;
    if (what != TFTP_OP_OACK && (take() & 15) != 0) {
        memcpy(packet + at, "log\0octet", 10);
        at = (uint16_t)(at + 10);
    }
    for (uint8_t count = take() & 7; count > 0; count--) {
        const char *text = texts[take() % (sizeof texts / sizeof *texts)];

        memcpy(packet + at, text, strlen(text) + 1);
        at = (uint16_t)(at + strlen(text) + 1);
    }
    return at;
}

static uint16_t make(struct tftp *tftp, uint8_t *packet) {
    uint8_t what = take();
    uint16_t bytes;

    switch (what & 7) {
    case TFTP_OP_READ:
    case TFTP_OP_WRITE:
    case TFTP_OP_OACK:
        bytes = words(packet, what & 7);
        break;
    case TFTP_OP_DATA:
    case TFTP_OP_ACK:
        packet[0] = 0;
        packet[1] = what & 7;
        bytes = (uint16_t)(tftp->block + (what >> 3 & 1));
        packet[2] = (uint8_t)(bytes >> 8);
        packet[3] = (uint8_t)bytes;
        bytes = TFTP_HEAD;
        if ((what & 7) == TFTP_OP_DATA) { /* a whole block, the last one, or one too long */
            uint16_t length = what & 0x40 ? (uint16_t)(take() * 3) : tftp->block_bytes;

            length = length > PACKET_MOST - TFTP_HEAD ? PACKET_MOST - TFTP_HEAD : length;
            memset(packet + TFTP_HEAD, what, length);
            bytes = (uint16_t)(TFTP_HEAD + length);
        }
        break;
    case 0: /* its own packet comes back */
        memcpy(packet, last, last_bytes);
        bytes = last_bytes;
        break;
    default:
        bytes = take();
        for (uint16_t i = 0; i < bytes; i++) {
            packet[i] = take();
        }
        if (what & 0x10) {
            packet[0] = 0;
        }
    }
    if (what & 0x80 && bytes > 0) { /* cut or changed */
        uint8_t how = take();

        packet[how % bytes] ^= take();
        bytes = how & 1 ? (uint16_t)(bytes - how % bytes) : bytes;
    }
    return bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const uint16_t rooms[] = {64, 65, 123, 516, 600};
    struct tftp tftp;
    uint32_t now = 0xffff0000;

    input = data;
    input_left = size;
    is_open = 0;
    last_bytes = 0;
    memset(&tftp, 0, sizeof tftp);
    tftp.calls = &calls;
    tftp.room = rooms[take() % 5];
    tftp.packet = cut(room_block, sizeof room_block, tftp.room);
    tftp.block_max = take() & 1 ? 8 : 0;
    tftp.ack_bytes = take() & 63;
    file_bytes = take() * 5u;
    tftp_begin(&tftp);
    while (input_left > 0) {
        uint8_t what = take();

        mood = what & 0x80 ? take() : 0x40;
        switch (what & 15) {
        case 0:
            (void)tftp_get(&tftp, "theirs", now);
            break;
        case 1:
            (void)tftp_put(&tftp, what & 0x40 ? "a-name-that-is-too-long-for-a-buffer-of-64-bytes" : "mine",
                           now);
            break;
        case 2:
            tftp_abort(&tftp, what >> 4 & 7);
            break;
        case 3:
            tftp_sent(&tftp, now);
            break;
        case 4:
        case 5:
            now += (uint32_t)take() * 100;
            tftp_poll(&tftp, now);
            break;
        default: {
            uint8_t made[2 * PACKET_MOST];
            uint16_t bytes = make(&tftp, made);
            uint8_t *packet = cut(packet_block, sizeof packet_block, bytes);

            memcpy(packet, made, bytes);
            tftp_receive(&tftp, packet, bytes, now);
        }
        }
        if (tftp_busy(&tftp) != is_open) {
            abort(); /* a file is open while a transfer runs, and only then */
        }
    }
    return 0;
}

#define OWN_SIZE_MAX 508
#define OWN_SIZE(number) (8 + (number) % 500)
#include "own_inputs.h"
