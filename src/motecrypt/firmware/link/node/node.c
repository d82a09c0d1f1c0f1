/* node.c: see node.h. */
#include "node.h"
#include "parts.h"

#include <string.h>

void link_packet(struct link *link, const uint8_t *packet, uint8_t bytes) {
    struct link_node *node = (struct link_node *)link;

    node->put(node, packet, bytes);
    if (OPTIONS(link) & LINK_STREAM) {
        const uint8_t zero = 0;

        for (; bytes < PACKET_BYTES(link); bytes++) { /* an answer: on a stream all packets are whole */
            node->put(node, &zero, 1);
        }
    }
}

uint8_t link_node_begin(struct link_node *node, uint8_t *buffer, link_size room, uint8_t packet,
                        uint16_t answer_ms) {
    link_size half = (link_size)LINK_BUFFER_BYTES(room, packet);
    uint8_t status = link_begin(&node->core, buffer, half);

#ifndef LINK_ANSWER_MS
    node->core.answer_ms = answer_ms;
#else
    (void)answer_ms;
#endif
    node->out = buffer + half;
    node->room = room;
    return status == LINK_NOTHING && PACKET_BYTES(&node->core) > packet ? LINK_NO_KEY : status;
}

uint8_t link_node_refuses(struct link_node *node, const uint8_t *block, uint8_t packet) {
    uint16_t generation;
    uint8_t status;

    memset(&node->core, 0, sizeof node->core);
    status = link_load_record(&node->core);
    memcpy(&generation, block + 4, sizeof generation);
    if ((block[0] | 1) != VERSIONS || block[1] > LINK_BROADCAST) {
        return LINK_NOT_A_BLOCK;
    }
    if (block[3] < LINK_PACKET_MIN || block[3] > packet) {
        return LINK_OTHER_RADIO;
    }
#ifdef LINK_OPTIONS
    if (block[2] != OPTIONS(&node->core) || block[3] != PACKET_BYTES(&node->core)) {
        return LINK_OTHER_RADIO;
    }
#endif
    return status != LINK_NO_KEY && generation <= node->core.generation ? LINK_NOT_NEWER : LINK_FITS;
}

uint8_t link_node_provision(struct link_node *node, const uint8_t *block, uint8_t packet) {
    if (link_node_refuses(node, block, packet) != LINK_FITS) {
        return LINK_REFUSED;
    }
    return link_provision(&node->core, block) ? LINK_NOTHING : LINK_STORAGE;
}

uint8_t link_node_send(struct link_node *node, const uint8_t *message, link_size bytes, uint8_t how) {
    link_size before = (how & LINK_FILE) == LINK_COMMAND ? LINK_COMMAND_HEAD : 0;

    if (node->core.out != 0) {
        return LINK_BUSY; /* the buffer holds the message that waits */
    }
    if (bytes + before > node->room) {
        return LINK_TOO_LONG;
    }
    memcpy(node->out + LINK_HEAD + before, message, bytes);
    return link_send(&node->core, node->out, (link_size)(bytes + before), how);
}

uint8_t link_node_receive(struct link_node *node, const uint8_t *packet, uint8_t bytes) {
    uint8_t event = link_receive(&node->core, packet, bytes);

    if (event == LINK_MESSAGE || event == LINK_COMMANDED) {
        link_size before = event == LINK_COMMANDED ? LINK_COMMAND_HEAD : 0;
        uint8_t taken = 0;

        if (node->take != 0) {
            taken = node->take(node, node->core.in + LINK_HEAD + before,
                               (link_size)(node->core.in_bytes - before), event);
        }
        link_answer(&node->core, taken);
    } else if (event == LINK_FILE_PART) {
        link_answer(&node->core, 0); /* it has no place for files */
    }
    return event;
}

uint8_t link_group_byte(struct link_node *node, struct link_node *group, struct link_stream *stream,
                        uint8_t byte) {
    uint8_t event, to;

    if (!link_stream_byte(stream, byte, link_clock(&node->core))) {
        return LINK_NOTHING;
    }
    to = stream->packet[0] & LINK_BROADCAST;
    if (to == LINK_BROADCAST) {
        node = group;
    }
    event = link_node_receive(node, stream->packet, stream->packet_bytes);
    if (event == LINK_FORGED || to != node->core.node) {
        link_stream_slip(stream);
    }
    return event;
}

uint8_t link_node_byte(struct link_node *node, struct link_stream *stream, uint8_t byte) {
    uint8_t event;

    if (!link_stream_byte(stream, byte, link_clock(&node->core))) {
        return LINK_NOTHING;
    }
    event = link_node_receive(node, stream->packet, stream->packet_bytes);
    if (event == LINK_FORGED || (stream->packet[0] & LINK_BROADCAST) != node->core.node) {
        link_stream_slip(stream);
    }
    return event;
}
