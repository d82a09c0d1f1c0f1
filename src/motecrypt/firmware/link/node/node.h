/* node.h: one end of a link as an application uses it: its buffers, its radio, its storage in one object.
 *
 * The core (link.h) decides; this file copies messages into its buffer and out of it. Exported
 * libraries contain it, with one of these storages:
 *
 *   LINK_STORAGE_HEADER   eeprom.h (AVR), flash.h (two sectors of a flash) or file.h (POSIX); it names the
 *                         type link_place, where a node's storage is
 *
 * A node has no state outside its object and the caller's buffer, so a program may have several.
 */
#ifndef MOTECRYPT_LINK_NODE_H
#define MOTECRYPT_LINK_NODE_H

#include "link.h"
#include "stream.h"
#include LINK_STORAGE_HEADER

enum { LINK_COMMAND_HEAD = 4 }; /* the link's own bytes in front of a command */

/* What a node's buffer holds: a message that comes and one that goes. `bytes` is the longest message, with 4
 * more if it is a command; `packet` the longest packet. On an AVR LINK_BUFFER_BYTES is at most 255. */
#define LINK_NODE_BYTES(bytes, packet) (2 * LINK_BUFFER_BYTES(bytes, packet))

struct link_node {
    struct link core; /* first, so that a link is its node */
    link_place place;

    /* Send one packet; with LINK_STREAM a packet may come in several parts. */
    void (*put)(struct link_node *node, const uint8_t *packet, uint8_t bytes);

    /* A message has come: 1 if the application takes it, and then it never comes again. `event` is
     * LINK_MESSAGE or LINK_COMMANDED. May send, may not receive. 0: nothing is taken. Parts of files are
     * refused without a question. */
    uint8_t (*take)(struct link_node *node, const uint8_t *message, link_size bytes, uint8_t event);

    uint8_t *out;   /* the half of the buffer for what goes */
    link_size room; /* of a message, in bytes */
};

/* Begin with `put`, `take` and `place` set. `buffer` has LINK_NODE_BYTES(room, packet); a key block for
 * longer packets than `packet` is refused. `answer_ms` is how long an answer may take.
 * Returns LINK_NOTHING, LINK_NO_KEY or LINK_NO_STATE; after the last two nothing else may be called. */
uint8_t link_node_begin(struct link_node *node, uint8_t *buffer, link_size room, uint8_t packet,
                        uint16_t answer_ms);

/* Whether a key block may be written, or why not; afterwards begin again. `packet` is as above. */
enum {
    LINK_FITS = 0,
    LINK_NOT_A_BLOCK = 1, /* it is of another version, or has no node's number */
    /* its packets are too short or longer than `packet`, or this program is for another radio */
    LINK_OTHER_RADIO = 2,
    LINK_NOT_NEWER = 3 /* its generation is not later than that of the keys that are there */
};
uint8_t link_node_refuses(struct link_node *node, const uint8_t *block, uint8_t packet);

/* Write a key block (link_provision) that came by a cable; afterwards, taken or not, begin again. It must be of
 * a later generation than the one that is there: no block may be written twice. `packet` is as above.
 * Returns LINK_NOTHING, LINK_REFUSED if link_node_refuses has a reason, or LINK_STORAGE. */
uint8_t link_node_provision(struct link_node *node, const uint8_t *block, uint8_t packet);

/* Send a message, which is copied; `how` is a sum of LINK_CONFIRMED, LINK_LONG and LINK_COMMAND or LINK_FILE. Returns what
 * link_send does. */
uint8_t link_node_send(struct link_node *node, const uint8_t *message, link_size bytes, uint8_t how);

/* Take a packet; a message in it goes to `take`. Returns what link_receive does. */
uint8_t link_node_receive(struct link_node *node, const uint8_t *packet, uint8_t bytes);

/* Take a byte of a line without packet boundaries. Returns what link_receive does for the packet that it
 * completes, else LINK_NOTHING. */
uint8_t link_node_byte(struct link_node *node, struct link_stream *stream, uint8_t byte);

/* The same for a node that is in a broadcast group, too: `group` is its other end, with storage of its own. */
uint8_t link_group_byte(struct link_node *node, struct link_node *group, struct link_stream *stream,
                        uint8_t byte);

#endif
