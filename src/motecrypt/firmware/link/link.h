/* link.h: the secure link, version 2.1, between a node and its gateway. docs/link.md is its specification.
 *
 * One `struct link` is one end of one node's link: the node has one, the gateway one for each node, and a
 * broadcast group is one more. The core has no heap, no hardware and no state outside `struct link` and the
 * caller's buffers. It uses the cipher through cipher.h alone. The build passes
 *
 *   CIPHER_HEADER       the cipher's header, as cipher.h describes, with CIPHER_TAG_BYTES=16,
 *   CIPHER_TAG_VARIES LINK_SUITE          1: AES-128-CCM (suite_ccm.c), 2: Ascon-AEAD128 (suite_ascon.c)
 *   CIPHER_NO_AD        the link has no associated data
 *
 * may pass, for a node whose radio is known, constants that make it smaller:
 *
 *   LINK_OPTIONS        the `options` of its key block
 *   LINK_PACKET_BYTES   the packet length
 *   LINK_ANSWER_MS      how long an answer may take
 *
 * and defines the four functions at the end of this file.
 */
#ifndef MOTECRYPT_LINK_V2_H
#define MOTECRYPT_LINK_V2_H

#include <stdint.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the link keeps and sends numbers as a little-endian machine holds them"
#endif

#ifndef LINK_SHORT_TAG_BYTES
#define LINK_SHORT_TAG_BYTES 4 /* tests make it 1, to see forgeries */
#endif

/* Lengths of messages. An AVR keeps messages under 256 bytes, head and tag included. */
#ifdef __AVR__
typedef uint8_t link_size;
#else
typedef uint16_t link_size;
#endif

enum {
    LINK_HEAD = 22,           /* bytes in front of a message in the caller's buffer */
    LINK_PIECES_MAX = 15,     /* fragments of a message */
    LINK_PIECE_HEAD = 3,      /* bytes of a packet in front of a fragment */
    LINK_TRIES = 10,          /* packets or bursts without progress, then the message is given up */
    LINK_SPREAD_MS = 7,       /* node n waits n times this longer before it sends again */
    LINK_SEND_BLOCK = 64,     /* counters claimed by one write to storage */
    LINK_RECEIVE_AHEAD = 15,  /* counters that a node skips at a restart, to spare its EEPROM */
    LINK_FAILURES_MAX = 4096, /* failed verifications of short tags that an end bears; a power of 2 */
    LINK_FAILURES_SPARE = 64, /* with no more of them left, the other end is asked for long messages */
    LINK_FORGIVEN = 32, /* a failure is forgiven each time that so many counters have passed; a power of 2 */
    LINK_ANSWERS_MAX = 32,  /* answers in a row to packets that bring nothing new; a power of 2 */
    LINK_ANSWER_REST = 128, /* in 256 ms, half of what a byte counts: then one after each such time */
#ifdef MC_FAULT_STEP
    LINK_STEP_MAX = MC_FAULT_STEP,
#else
    LINK_STEP_MAX = 127, /* counters since the last answered message that a short packet can name */
#endif
    LINK_LONG_EVERY = 32, /* of messages without an answer every 32nd is long; a power of 2 */
    LINK_WINDOW = 16,     /* counters behind the newest that may still come */
    LINK_FRESH = 16,      /* a command may name so many of its receiver's newest messages */
    LINK_BROADCAST = 63,  /* the node number of a group */
    LINK_PACKET_MIN = 12,
    LINK_STORAGE_BYTES = 188
};

/* A buffer for messages of up to `bytes` over packets of `packet` bytes. */
#define LINK_BUFFER_BYTES(bytes, packet) (LINK_HEAD + (bytes) + 16 + 1 + (packet))

/* `options` of a key block. */
enum {
    LINK_SHORT = 1,    /* short packets with tags of 4 bytes may be used */
    LINK_LISTENS = 2,  /* both ends can receive: answers, confirmed messages, commands */
    LINK_STREAM = 4,   /* packets have no length of their own: all are packet_bytes long */
    LINK_TAG_16 = 8,   /* tags of long messages have 16 bytes, not 8 */
    LINK_GATEWAY = 128 /* this is the gateway's end */
};

/* How to send. */
enum { LINK_CONFIRMED = 0x40, LINK_COMMAND = 0x10, LINK_FILE = 0x30, LINK_LONG = 1 };

enum link_event {
    LINK_NOTHING = 0,
    LINK_SENT = 1,     /* link_send: the message has left; nobody will answer */
    LINK_WAITING = 2,  /* link_send: the message has left; its outcome comes from link_receive or link_poll */
    LINK_ACCEPTED = 3, /* outcome: the other end's application has taken it, proven by its answer */
    LINK_REFUSED = 4,  /* outcome: the other end has not taken it now, and perhaps did before */
    LINK_UNCONFIRMED = 5, /* outcome: unknown */
    LINK_MESSAGE = 6,     /* link_receive: a message for the application; call link_answer next */
    LINK_COMMANDED = 7,   /* the same, a fresh command: behind its first four bytes, which are the link's */
    LINK_RENEWED = 8,     /* link_receive: a new epoch has begun */
    LINK_FORGED = 9,      /* link_receive: a tag was wrong */
    LINK_BOUND = 10,      /* link_receive: dropped unread, too many short tags were wrong */
    LINK_BUSY = 11,       /* link_send: a message still waits for its outcome */
    LINK_TOO_LONG = 12, /* link_send: more than LINK_PIECES_MAX fragments, or no such kind of message here */
    LINK_NO_KEY = 13,   /* link_begin: no key, or a damaged one */
    LINK_NO_STATE = 14, /* link_begin: the key has no counters: provision the node again */
    LINK_STORAGE = 15,  /* storage does not keep written data; nothing was sent or handed over */
    LINK_USED_UP = 16,  /* all counters of this epoch are used */
    LINK_FILE_PART = 17 /* link_receive: as LINK_MESSAGE, a part of a file (docs/link.md, Files) */
};

/* What storage keeps. Within an epoch the counters only grow, and failures are forgiven only where `receive` grows:
 * so the newest record is the greatest number. */
struct link_record {
    uint16_t failures; /* failed verifications of short tags; bit 15: the other end refuses these */
    uint16_t salt;     /* of the epoch: random, or the generation */
    uint32_t receive;  /* no counter below this is taken after a restart */
    uint32_t send;     /* no counter below this is used after a restart */
    uint32_t epoch;
};

/* All of it is the core's; an application reads `in` and `in_bytes` and sets `answer_ms`. */
struct link {
    struct link_record record;
    uint32_t next;     /* the lowest counter that was not yet received, nor any above it */
    uint32_t answered; /* the counter of the message that the application took last */
    uint8_t *in, *out; /* the buffer for what comes; the message that waits for its outcome */
    uint16_t window;   /* bit i: counter next - 1 - i was received */
    uint16_t in_have;  /* bit i: fragment i is here */
    uint16_t in_need;  /* the fragments that the message has; 0 before the last one came */
    uint16_t out_have; /* bit i: fragment i was at the other end once */
    uint16_t out_at;   /* link_clock when the message was last sent */
#ifndef LINK_ANSWER_MS
    uint16_t answer_ms; /* how long an answer may take */
#endif
    link_size in_room;   /* bytes of the buffer behind LINK_HEAD */
    link_size in_bytes;  /* length of the message received */
    link_size out_bytes; /* content of the message's packets, without their heads */
    uint8_t node;
#ifndef LINK_OPTIONS
    uint8_t options;
#endif
#ifndef LINK_PACKET_BYTES
    uint8_t packet_bytes;
#endif
    uint8_t send_left; /* claimed in storage and not used yet */
    uint8_t since;     /* counters since the other end was known to be synchronised */
    uint8_t fresh;     /* of the messages sent, the number of newest ones that a command may name */
    uint8_t answers;   /* sent since something new came; the newest at that time, in 256 ms */
    uint8_t answer_at;
    uint16_t generation; /* how often the node was provisioned */
    uint8_t slot;        /* the slot of storage that was written last; bit 7: the last save failed */
    uint8_t tries;
    uint8_t answer_state;
    uint8_t key_id, key[16]; /* the key derived last */
};

/* Write a key and its first counters into storage, which forgets all that it held. `block` has 24 bytes:
 * version 3, node number, options, packet_bytes, generation (2 bytes), 0, 0, the node's key. The same block
 * may never be written twice (docs/link.md). Returns 1, or 0 where storage does not keep it. */
uint8_t link_provision(struct link *link, const uint8_t *block);

/* Read the key and the counters. `buffer` holds what comes in: `bytes` in all, LINK_BUFFER_BYTES.
 * Returns LINK_NOTHING, LINK_NO_KEY or LINK_NO_STATE; after the last two nothing else may be called. */
uint8_t link_begin(struct link *link, uint8_t *buffer, link_size bytes);

/* Send the `bytes` after LINK_HEAD in `buffer`. It is encrypted in place and belongs to the core
 * until the outcome is known. A command's first four bytes are left free for the link. */
uint8_t link_send(struct link *link, uint8_t *buffer, link_size bytes, uint8_t how);

/* Take a packet. A message is at in + LINK_HEAD, in_bytes long, until the next call. */
uint8_t link_receive(struct link *link, const uint8_t *packet, uint8_t bytes);

/* Say whether the application has taken the message that link_receive just gave: answers it if asked to. */
void link_answer(struct link *link, uint8_t taken);

/* Send again what was not answered in time; call it often. Returns LINK_NOTHING or LINK_UNCONFIRMED. */
uint8_t link_poll(struct link *link);

/* The gateway begins a new epoch, greater than every one before, and informs the node. `buffer` as for a
 * message of two bytes. `salt` is random; for a node of version 2.0, it is the generation. The same epoch and salt again inform
 * the node again. A waiting message is dropped. Returns LINK_WAITING, LINK_STORAGE, or LINK_TOO_LONG if that is not
 * possible. If its outcome is LINK_REFUSED, the node has another epoch, which is not above record.epoch now. */
uint8_t link_renew(struct link *link, uint8_t *buffer, uint32_t epoch, uint16_t salt);

/* --- What the board or program around the core defines. */

/* Send one packet. */
void link_packet(struct link *link, const uint8_t *packet, uint8_t bytes);

/* Milliseconds since any time; goes round. */
uint16_t link_clock(struct link *link);

/* Storage of LINK_STORAGE_BYTES that survives a loss of power. A failed write is detected when it
 * is read back, so link_store returns nothing. It writes byte by byte. */
void link_load(struct link *link, uint8_t at, uint8_t *to, uint8_t bytes);
void link_store(struct link *link, uint8_t at, const uint8_t *from, uint8_t bytes);

#endif
