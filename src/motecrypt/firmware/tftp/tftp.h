/* tftp.h: TFTP for a node (RFC 1350 with the options blksize, timeout and tsize of RFC 2347 to 2349).
 *
 * One `struct tftp` is one end with one peer: one transfer at a time, as server or as client. It has no heap,
 * no hardware and no state outside `struct tftp` and the caller's buffer. Packets may travel in any transport
 * that keeps their boundaries: messages of the secure link, packets of a radio, UDP. There are no ports: a
 * request that comes ends what this end serves to its peer, and one that comes while this end is a client is
 * ignored.
 *
 * Only mode octet is known. Block numbers go on with 0 behind 65535.
 */
#ifndef MOTECRYPT_TFTP_H
#define MOTECRYPT_TFTP_H

#include <stdint.h>

enum {
    TFTP_HEAD = 4,          /* bytes of a DATA packet in front of its block */
    TFTP_BLOCK_MIN = 8,     /* RFC 2348 */
    TFTP_BLOCK_MAX = 65464, /* RFC 2348 */
    TFTP_BLOCK = 512,       /* without the option blksize */
    TFTP_TIMEOUT_MS = 4000, /* until a packet that was not answered goes again; with the option timeout the
                               peer chooses for a server */
    TFTP_TRIES = 10,        /* of one packet */
    TFTP_BUFFER_MIN = 64    /* bytes of the buffer: requests and OACKs must fit, too */
};

enum tftp_opcode {
    TFTP_OP_READ = 1,
    TFTP_OP_WRITE = 2,
    TFTP_OP_DATA = 3,
    TFTP_OP_ACK = 4,
    TFTP_OP_ERROR = 5,
    TFTP_OP_OACK = 6
};

/* What callbacks return: TFTP_OK, TFTP_LATER, or the error that is sent to the peer. */
enum tftp_status {
    TFTP_UNDEFINED = 0,
    TFTP_NOT_FOUND = 1,
    TFTP_NO_ACCESS = 2,
    TFTP_DISK_FULL = 3,
    TFTP_ILLEGAL = 4,
    TFTP_UNKNOWN_ID = 5,
    TFTP_EXISTS = 6,
    TFTP_NO_USER = 7,
    TFTP_NO_OPTION = 8,
    TFTP_OK = 0x40,
    TFTP_LATER = 0x41,   /* not now: tftp_poll asks again */
    TFTP_SILENT = 0x42,  /* as an outcome: the peer did not answer */
    TFTP_REPLACED = 0x43 /* as an outcome: the peer has begun something else */
};

enum { TFTP_SIZE_UNKNOWN = 0xffffffff }; /* an unknown file size */

struct tftp;

struct tftp_calls {
    /* Send one packet. 0: not now, tftp_poll asks again. */
    uint8_t (*put)(struct tftp *tftp, const uint8_t *packet, uint16_t bytes);

    /* Open a file for the peer, or for tftp_get and tftp_put. `writing`: this end will write it. `size`
     * is its size where known; when reading, set it, or leave TFTP_SIZE_UNKNOWN. Returns TFTP_OK or an
     * error. */
    uint8_t (*open)(struct tftp *tftp, const char *name, uint8_t writing, uint32_t *size);

    /* Read `*bytes` at `at`; fewer only at the end of the file. Returns TFTP_OK, TFTP_LATER or an error. It
     * may be asked for the same bytes again, and must give the same. */
    uint8_t (*read)(struct tftp *tftp, uint32_t at, uint8_t *to, uint16_t *bytes);

    /* Write behind what came before. Returns TFTP_OK, TFTP_LATER (the peer sends it again) or an error. */
    uint8_t (*write)(struct tftp *tftp, uint32_t at, const uint8_t *from, uint16_t bytes);

    /* The transfer is over. `outcome` is TFTP_OK when the file is complete: for a written file, what this
     * returns is sent to the peer. Otherwise it is an error, TFTP_SILENT or TFTP_REPLACED. */
    uint8_t (*close)(struct tftp *tftp, uint8_t outcome);
};

/* Set `calls`, `packet` and `room`, and what has another value than 0, before tftp_begin. The rest is this
 * code's. */
struct tftp {
    const struct tftp_calls *calls;
    uint8_t *packet;     /* room for one packet that goes */
    uint16_t room;       /* its bytes, TFTP_BUFFER_MIN or more; blocks have up to TFTP_HEAD fewer */
    uint16_t block_max;  /* longest block; 0: what fits into `room` */
    uint32_t timeout_ms; /* 0: TFTP_TIMEOUT_MS */
    uint8_t ack_bytes; /* zeros fill an ACK to so many bytes, where that makes it cheaper for the transport */
    uint8_t state;
    uint8_t options; /* those of this transfer */
    uint8_t opening; /* nothing but requests and OACKs went so far */
    uint8_t due;     /* a packet that could not go yet */
    uint8_t tries;
    uint16_t block;       /* the number of the block that is on its way, or that came last */
    uint16_t block_bytes; /* of this transfer */
    uint16_t last_bytes;  /* of the block on its way */
    uint32_t at;          /* where that block begins, or the next one that comes */
    uint32_t size;
    uint32_t wait_ms;  /* of this transfer */
    uint32_t since_ms; /* when the last packet went, or when the last new one came */
    const char *name;  /* of a request of this end's own */
};

/* Begin, idle. */
void tftp_begin(struct tftp *tftp);

/* Whether a transfer is on its way. */
uint8_t tftp_busy(const struct tftp *tftp);

/* Ask the peer for a file, or offer it one; `name` must stay until the transfer is over. Returns TFTP_OK,
 * TFTP_LATER while another transfer is on its way, what `open` returned, or TFTP_ILLEGAL if the name is too
 * long. */
uint8_t tftp_get(struct tftp *tftp, const char *name, uint32_t now_ms);
uint8_t tftp_put(struct tftp *tftp, const char *name, uint32_t now_ms);

/* Take a received packet. It must not be in the buffer for outgoing packets. */
void tftp_receive(struct tftp *tftp, const uint8_t *packet, uint16_t bytes, uint32_t now_ms);

/* Send again what was not answered in time; call it often. */
void tftp_poll(struct tftp *tftp, uint32_t now_ms);

/* The packet passed to `put` was sent only now (the outcome of a confirmed message of the link is known): the
 * time limit
 * for its answer starts again. */
void tftp_sent(struct tftp *tftp, uint32_t now_ms);

/* End the transfer and send the error to the peer. */
void tftp_abort(struct tftp *tftp, uint8_t error);

#endif
