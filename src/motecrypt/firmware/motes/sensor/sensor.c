/* sensor.c: a mote that sends its temperature over the secure link (docs/link.md), again and again, and takes
 * commands. Its key and counters are in the board's storage, which `motecrypt mote` or `provision` has written; the
 * program holds none. MOTE_INTERVAL_MS is the pause between readings at first.
 *
 * A reading is six bytes, such as "+21.4C": one short packet of 12. Commands, each of which is taken or refused:
 *
 *   'i' and two bytes   milliseconds between readings, little-endian, 1 or more
 *   'c', 'u'            confirmed readings from now on, or unconfirmed ones, as at first
 */
#include "link.h"
#include "mote.h"
#include "stream.h"

enum { TEXT_BYTES = 6, COMMAND_HEAD = 4, COMMAND_MAX = 16, PACKET_MAX = 64, ANSWER_MS = 250, BYTES_A_MS = 11 };

static struct link link;
static uint8_t in[LINK_BUFFER_BYTES(COMMAND_MAX, PACKET_MAX)], out[LINK_BUFFER_BYTES(TEXT_BYTES, PACKET_MAX)];
static uint8_t packet[PACKET_MAX];
static struct link_stream stream;
static uint16_t now_ms, interval_ms = MOTE_INTERVAL_MS;
static uint8_t how;

void link_packet(struct link *of, const uint8_t *bytes, uint8_t count) {
    (void)of;
    for (uint8_t i = 0; i < stream.packet_bytes; i++) {
        mote_write(i < count ? bytes[i] : 0); /* an answer may be shorter than the packets of the line */
    }
}

/* Only the time that is spent listening counts. */
uint16_t link_clock(struct link *of) {
    (void)of;
    return now_ms;
}

void link_load(struct link *of, uint8_t at, uint8_t *to, uint8_t bytes) {
    (void)of;
    for (uint8_t i = 0; i < bytes; i++) {
        to[i] = mote_load((uint8_t)(at + i));
    }
}

void link_store(struct link *of, uint8_t at, const uint8_t *from, uint8_t bytes) {
    (void)of;
    for (uint8_t i = 0; i < bytes; i++) {
        mote_store((uint8_t)(at + i), from[i]);
    }
}

/* Whether the command was one. */
static uint8_t obey(const uint8_t *command, link_size bytes) {
    if (bytes == 3 && command[0] == 'i' && (command[1] | command[2]) != 0) {
        interval_ms = (uint16_t)(command[1] | command[2] << 8);
        return 1;
    }
    if (bytes == 1 && (command[0] == 'c' || command[0] == 'u')) {
        how = command[0] == 'c' ? LINK_CONFIRMED : 0;
        return 1;
    }
    return 0;
}

static void hear(uint8_t byte) {
    uint8_t event;

    if (!link_stream_byte(&stream, byte, now_ms)) {
        return;
    }
    event = link_receive(&link, packet, stream.packet_bytes);
    if (event == LINK_COMMANDED) {
        link_answer(&link, obey(link.in + LINK_HEAD + COMMAND_HEAD, (link_size)(link.in_bytes - COMMAND_HEAD)));
    } else if (event == LINK_MESSAGE || event == LINK_FILE_PART) {
        link_answer(&link, 0); /* it has no use for either */
    }
    if (event == LINK_FORGED || (packet[0] & LINK_BROADCAST) != link.node) {
        link_stream_slip(&stream);
    }
}

/* Take what comes, and ask again for answers that do not, for one interval. */
static void listen(void) {
    uint16_t begun = now_ms;
    uint8_t bytes = 0;

    while ((uint16_t)(now_ms - begun) < interval_ms) {
        int16_t byte = mote_read(1);

        if (byte >= 0) {
            hear((uint8_t)byte);
            bytes++;
        }
        if (byte < 0 || bytes == BYTES_A_MS) {
            bytes = 0;
            now_ms++;
        }
        (void)link_poll(&link);
    }
}

static void write_reading(uint8_t *text, int16_t tenths) {
    uint16_t amount = (uint16_t)(tenths < 0 ? -tenths : tenths);

    text[0] = tenths < 0 ? '-' : '+';
    text[1] = (uint8_t)('0' + amount / 100 % 10);
    text[2] = (uint8_t)('0' + amount / 10 % 10);
    text[3] = '.';
    text[4] = (uint8_t)('0' + amount % 10);
    text[5] = 'C';
}

int main(void) {
    mote_init();
    if (link_begin(&link, in, sizeof in) != LINK_NOTHING || link.packet_bytes > PACKET_MAX ||
        (link.options & (LINK_STREAM | LINK_GATEWAY)) != LINK_STREAM) {
        for (;;) { /* no key, or none for this line: rather silent than unsafe */
            mote_wait(1000);
        }
    }
    link.answer_ms = ANSWER_MS;
    stream.packet = packet;
    stream.packet_bytes = link.packet_bytes;
    for (;;) {
        if (link.out == 0) { /* else the reading before this one still waits for its answer */
            write_reading(out + LINK_HEAD, mote_temperature());
            (void)link_send(&link, out, TEXT_BYTES, how);
        }
        listen();
    }
}
