/* stream.h: packets out of a serial line that has no packet boundaries (docs/link.md, Streams). */
#ifndef MOTECRYPT_LINK_STREAM_H
#define MOTECRYPT_LINK_STREAM_H

#include <stdint.h>

enum { LINK_SILENCE_MS = 20 }; /* a packet begins after so much silence, or behind a packet */

struct link_stream {
    uint8_t *packet; /* room for packet_bytes */
    uint8_t packet_bytes;
    uint8_t have;
    uint8_t skipping; /* until silence: the last bytes were not a packet */
    uint16_t last;    /* link_clock at the last byte */
};

/* Take a byte that came at `now`; 1 when `packet` is whole. */
static inline uint8_t link_stream_byte(struct link_stream *stream, uint8_t byte, uint16_t now) {
    if ((uint16_t)(now - stream->last) >= LINK_SILENCE_MS) {
        stream->have = stream->skipping = 0;
    }
    stream->last = now;
    if (stream->skipping) {
        return 0;
    }
    stream->packet[stream->have++] = byte;
    if (stream->have < stream->packet_bytes) {
        return 0;
    }
    stream->have = 0;
    return 1;
}

/* The packet was none (another node's, or its tag was wrong): its bytes may be parts of two. */
static inline void link_stream_slip(struct link_stream *stream) {
    stream->skipping = 1;
}

#endif
