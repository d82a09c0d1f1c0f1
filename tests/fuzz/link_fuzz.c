/* link_fuzz.c: hostile packets, odd storage and restarts for the link core (docs/link.md).
 *
 * With libFuzzer (clang -fsanitize=fuzzer) it is the target; with OWN_INPUTS it has a main that makes inputs
 * from a seed: `link_fuzz RUNS SEED`. With stub_suite.c most tags are right, so that the code after a
 * verification is reached without forging packets.
 */
#include "link.h"
#include "stream.h"

#include <sanitizer/asan_interface.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 255 };

static uint8_t storage[LINK_STORAGE_BYTES];
static uint8_t last[256]; /* the packet sent last, to come back changed */
static uint8_t last_bytes;

/* Blocks that end at a given length; an allocation for each would take most of the time. */
enum { BLOCK = LINK_BUFFER_BYTES(MOST, 255) + 64, LENGTHS = 5 };
static uint8_t in_block[BLOCK] __attribute__((aligned(8)));
static uint8_t out_block[BLOCK] __attribute__((aligned(8)));
static uint8_t packet_block[256 + 64] __attribute__((aligned(8)));
static uint8_t stream_block[256 + 64] __attribute__((aligned(8)));

static uint8_t *cut(uint8_t *block, size_t whole, size_t bytes) {
    ASAN_UNPOISON_MEMORY_REGION(block, whole);
    ASAN_POISON_MEMORY_REGION(block + bytes, whole - bytes);
    return block;
}

/* What a node's storage holds once it is provisioned, for all options and lengths; made when first asked for. */
static uint8_t images[256][LENGTHS][LINK_STORAGE_BYTES];

static uint16_t now;
static int broken; /* storage that keeps nothing */

void link_packet(struct link *link, const uint8_t *packet, uint8_t bytes) {
    (void)link;
    if (bytes == 0 || bytes > link->packet_bytes) {
        abort(); /* longer than the radio's */
    }
    memcpy(last, packet, bytes);
    last_bytes = bytes;
}

uint16_t link_clock(struct link *link) {
    (void)link;
    return now;
}

void link_load(struct link *link, uint8_t at, uint8_t *to, uint8_t bytes) {
    (void)link;
    if (at + bytes > LINK_STORAGE_BYTES) {
        abort();
    }
    memcpy(to, storage + at, bytes);
}

void link_store(struct link *link, uint8_t at, const uint8_t *from, uint8_t bytes) {
    (void)link;
    if (at + bytes > LINK_STORAGE_BYTES) {
        abort();
    }
    if (!broken) {
        memcpy(storage + at, from, bytes);
    }
}

static const uint8_t *input;
static size_t input_left;

static uint8_t take(void) {
    if (input_left == 0) {
        return 0;
    }
    input_left--;
    return *input++;
}

/* Hand a packet over in a block of exactly its length. */
static uint8_t receive(struct link *link, const uint8_t *bytes, uint8_t count) {
    uint8_t *packet = cut(packet_block, sizeof packet_block, count), event;

    memcpy(packet, bytes, count);
    event = link_receive(link, packet, count);
    if (event == LINK_MESSAGE || event == LINK_COMMANDED || event == LINK_FILE_PART) {
        volatile uint8_t sum = 0;

        if (link->in_bytes > link->in_room) {
            abort();
        }
        for (link_size i = 0; i < link->in_bytes; i++) {
            sum = (uint8_t)(sum + link->in[LINK_HEAD + i]);
        }
    }
    return event;
}

static void feed(struct link *link, struct link_stream *stream, uint8_t count) {
    while (count-- > 0) {
        now = (uint16_t)(now + (take() & 7) * 4);
        if (link_stream_byte(stream, take(), now) &&
            receive(link, stream->packet, stream->packet_bytes) == LINK_FORGED) {
            link_stream_slip(stream);
        }
    }
}

static void play(struct link *link, uint8_t *in, link_size room, uint8_t *out, struct link_stream *stream) {
    uint8_t packet[256];

    while (input_left > 0) {
        uint8_t what = take(), count = take();

        switch (what & 15) {
        case 0: /* a message of any length */
            if (link->out == 0) {
                memset(out + LINK_HEAD, count, count);
            }
            (void)link_send(link, out, count < 4 ? 4 : count, take());
            break;
        case 1: /* one that fits a packet */
            if (link->out == 0) {
                (void)link_send(link, out, (link_size)(link->packet_bytes - 6), what & 0x40);
            }
            break;
        case 2:
            now = (uint16_t)(now + 4 * count);
            (void)link_poll(link);
            break;
        case 3:
            if (link_begin(link, in, room) != LINK_NOTHING) {
                return;
            }
            link->answer_ms = 100;
            break;
        case 4:
            link_answer(link, count & 1);
            break;
        case 5:
            (void)link_renew(link, out, link->record.epoch + (count & 3) * 0x1000000u - (count & 1),
                             (uint16_t)(count >> 2));
            break;
        case 6:
            feed(link, stream, count);
            break;
        case 7: /* what was sent, changed */
            memcpy(packet, last, last_bytes);
            if (last_bytes > 0) {
                packet[count % last_bytes] ^= take();
                packet[0] ^= take() & 0xc0;
                (void)receive(link, packet, last_bytes);
            }
            break;
        case 8:
            storage[count % LINK_STORAGE_BYTES] ^= take();
            break;
        case 9:
            broken = count < 64;
            break;
        case 10: /* far ahead */
            link->next += (uint32_t)count << (take() & 31);
            link->record.send += (uint32_t)count << (take() & 31);
            link->record.failures = (uint16_t)(link->record.failures + 64 * (count & 15));
            link->since = (uint8_t)(link->since + count);
            link->answers = count & 32;
            link->fresh = count & 16;
            if (link->out != 0) {
                link->tries = 1 + (count & 7);
            }
            break;
        default: { /* a packet for this node, with counters that may fit */
            uint8_t bytes = (uint8_t)(count % (link->packet_bytes + 2));

            for (uint8_t i = 0; i < bytes; i++) {
                packet[i] = take();
            }
            packet[0] = (uint8_t)((packet[0] & 0xc0) | link->node);
            if (what & 0x10) {
                packet[1] = (uint8_t)(link->next + (packet[1] & 15) - 4);
            } else if (link->out != 0) {
                packet[1] = link->out[18];
            }
            if (what & 0x20) {
                packet[3] = (uint8_t)(link->next >> 8);
                packet[4] = (uint8_t)(link->next >> 16);
                packet[5] = (uint8_t)(link->next >> 24);
            }
            if (what & 0x40 && bytes > 3) { /* a whole long message, of any type */
                packet[0] |= 0x80;
                packet[0] &= (uint8_t)~0x40;
                packet[2] = (uint8_t)(0x80 | (packet[2] & 0x70));
                packet[bytes - 1] = 0x80;
                if (what & 0x20 && bytes > 10) {
                    /* a command that names a message, or an offer of the epoch that is */
                    uint32_t named = link->record.send - link->send_left - 1u - (count & 3);

                    if (packet[2] & 0x20) {
                        memcpy(packet + 6, &link->record.salt, 2);
                    } else {
                        memcpy(packet + 6, &named, 4);
                    }
                }
            }
            if (what & 0x80 && bytes >= 12 && link->out != 0) { /* an answer with the right proof */
                packet[0] |= 0xc0;
                packet[1] = link->out[18];
                memset(packet + 4, 0, 8);
            } else if (what & 0x80 && bytes >= 6) { /* a short packet with a wrong tag */
                packet[0] &= 0x7f;
                packet[bytes - 4] = 0xa5;
            }
            (void)receive(link, packet, bytes);
        }
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const uint8_t lengths[LENGTHS] = {12, 13, 24, 64, 255};
    struct link link;
    struct link_stream stream;
    uint8_t block[24] = {3, 5, 0, 12, 1};
    uint8_t *in, *out, *image, length;
    link_size room;

    input = data;
    input_left = size;
    now = 0;
    broken = last_bytes = 0;
    block[2] = take();
    block[1] = block[2] & 0x40 ? LINK_BROADCAST : 5;
    length = take() % LENGTHS;
    block[3] = lengths[length];
    /* `in` has exactly the size that the core is given; odd storage may name longer packets. */
    room = (link_size)LINK_BUFFER_BYTES(take(), block[3]);
    in = cut(in_block, sizeof in_block, room);
    out = cut(out_block, sizeof out_block, LINK_BUFFER_BYTES(MOST, 255));
    memset(&stream, 0, sizeof stream);
    stream.packet = cut(stream_block, sizeof stream_block, block[3]);
    stream.packet_bytes = block[3];
    image = images[block[2]][length];
    if (image[0] == 0) {
        (void)link_provision(&link, block);
        memcpy(image, storage, sizeof storage);
    }
    memcpy(storage, image, sizeof storage);
    if (link_begin(&link, in, room) == LINK_NOTHING) {
        link.answer_ms = 100;
        play(&link, in, room, out, &stream);
    }
    return 0;
}

#define OWN_SIZE_MAX 1023
#define OWN_SIZE(number) (8 + ((number) % 16 ? (number) / 16 % 248 : (number) / 16 % 1016))
#include "own_inputs.h"
