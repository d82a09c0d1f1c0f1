/* oscore.h: OSCORE (RFC 8613) for a node: CoAP messages protected end to end, with AES-CCM-16-64-128.
 *
 * For CoAP over a bare transport: the secure link protects its messages itself. Keys are derived elsewhere
 * (gateway/protocols/coap/oscore.py), so that a node needs no SHA-256. It uses no heap and no hardware. The
 * build passes a cipher.h cipher: CIPHER_HEADER "ccm.h", CIPHER_TAG_BYTES=8, CIPHER_KEY_BYTES_MAX=16, and
 * defines oscore_keep. Not supported: ID contexts and group keys.
 */
#ifndef MOTECRYPT_OSCORE_H
#define MOTECRYPT_OSCORE_H

#include "coap.h"

enum {
    OSCORE_KEY_BYTES = 16,
    OSCORE_IV_BYTES = 13,
    OSCORE_ID_MAX = 7,
    OSCORE_PIV_MAX = 4, /* of the 5 bytes that a sequence number may have */
    OSCORE_TAG_BYTES = 8,
    OSCORE_SEND_BLOCK = 64,    /* sequence numbers claimed by one write to storage */
    OSCORE_RECEIVE_AHEAD = 16, /* sequence numbers that a restart skips, to spare storage */
    OSCORE_WINDOW = 32         /* sequence numbers behind the newest that may still come */
};

enum oscore_status {
    OSCORE_OK = 0,
    OSCORE_PLAIN = 1,     /* the message has no OSCORE option */
    OSCORE_MALFORMED = 2, /* answer 4.02 */
    OSCORE_UNKNOWN = 3,   /* another key identifier: answer 4.01 */
    OSCORE_REPLAYED = 4,  /* answer 4.01 */
    OSCORE_FORGED = 5,    /* answer 4.00 */
    OSCORE_STORAGE = 6,   /* storage does not keep written data; nothing was sent or taken */
    OSCORE_USED_UP = 7,   /* no sequence number is left */
    OSCORE_NO_ROOM = 8
};

/* A security context. From provisioning: keys, IV and identifiers. From storage at each start: the two
 * numbers that oscore_keep has kept, 0 at first; then oscore_begin. */
struct oscore {
    uint8_t sender_key[OSCORE_KEY_BYTES], recipient_key[OSCORE_KEY_BYTES], iv[OSCORE_IV_BYTES];
    uint8_t sender_id[OSCORE_ID_MAX], recipient_id[OSCORE_ID_MAX];
    uint8_t sender_id_bytes, recipient_id_bytes;
    uint32_t send_kept;    /* no sequence number below this is used after a restart */
    uint32_t receive_kept; /* none below this is taken after a restart */
    uint32_t send;         /* the next one to send */
    uint32_t receive;      /* the lowest one above all that were received */
    uint32_t window;       /* bit i: receive - 1 - i was received */
};

/* What ties a response to its request: filled by protecting or unprotecting the request. */
struct oscore_request {
    uint8_t kid[OSCORE_ID_MAX], piv[OSCORE_PIV_MAX];
    uint8_t kid_bytes, piv_bytes;
    uint8_t answered; /* the one response without a sequence number has come */
    uint32_t newest;  /* the lowest sequence number that the next response may have */
};

/* Begin with the numbers that were kept. */
void oscore_begin(struct oscore *oscore);

/* Protect a message that coap_read takes into `to` of `room` bytes, another buffer, and set `*count` to its
 * length: at most 16 bytes and the sender's identifier more than `bytes`. A request fills `request`; a
 * response is to that request. Returns an oscore_status. */
uint8_t oscore_protect(struct oscore *oscore, struct oscore_request *request, const uint8_t *message,
                       coap_size bytes, uint8_t *to, coap_size room, coap_size *count);

/* The way back, which decrypts within `message`: afterwards that is of no use. A request fills `request`. A
 * response must be to it and newer than those before; only one may come without a sequence number. The
 * Observe option of a notification gets the lower three bytes of the number after its sequence number, or 0,
 * so that the newer one has the greater. */
uint8_t oscore_unprotect(struct oscore *oscore, struct oscore_request *request, uint8_t *message,
                         coap_size bytes, uint8_t *to, coap_size room, coap_size *count);

/* Defined by the board or program around this: keep send_kept and receive_kept where they outlive a loss of
 * power. Returns 1 if that was done. */
uint8_t oscore_keep(struct oscore *oscore);

#endif
