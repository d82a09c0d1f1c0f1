/* link.h: the sending half of the link on a mote (docs/radio.md has the format; link/sender.py is its twin).
 *
 * The cipher is AES-CCM with 8 bytes of tag, through cipher.h. One message at a time, each under a
 * counter that counter.c never gives out twice. Packets of 12 bytes, as the SRF has them.
 */
#ifndef MOTECRYPT_LINK_H
#define MOTECRYPT_LINK_H

#include "counter.h"

#include CIPHER_HEADER
#include "cipher.h"

enum {
    LINK_FRAME_BYTES = 12,
    LINK_MESSAGE_MAX = 48,
    LINK_TAG_BYTES = 8,
    LINK_TRIES = 10,      /* bursts without progress */
    LINK_ANSWER_MS = 250, /* a burst of 10 frames takes 11 ms, its answer 10 ms; the rest is for programs */
    LINK_SILENCE_MS = 20  /* between the bytes of an answer */
};

enum link_outcome {
    LINK_ACCEPTED = 0,    /* proven by the receiver's tag */
    LINK_REFUSED = 1,     /* it may have it, and takes it no more */
    LINK_UNCONFIRMED = 2, /* it may have it */
    LINK_NO_COUNTER = 3,  /* nothing was sent: see counter.h */
    LINK_TOO_LONG = 4     /* nothing was sent */
};

struct link {
    struct cipher_context cipher;
    struct counter counter;
    uint32_t stream;
};

/* Prepare the link. `stream` must differ between all motes that share a key.
 * Returns LINK_ACCEPTED, or LINK_NO_COUNTER when the counter or the key is unusable. */
uint8_t link_init(struct link *link, const uint8_t *key, uint8_t key_bytes, uint32_t stream);

/* Send a message of at most LINK_MESSAGE_MAX bytes and wait for what becomes of it. */
uint8_t link_send(struct link *link, const uint8_t *message, uint8_t bytes);

#endif
