/* parts.h: what the link core's sources share among themselves; nobody else includes it. */
#ifndef MOTECRYPT_LINK_PARTS_H
#define MOTECRYPT_LINK_PARTS_H

#include "link.h"

/* What a derived key is for: the upper three bits of a key's identifier. Its tag length is in the lower
 * five, so that no two tag lengths share a key. Messages have use 0; node keys, which only the host derives,
 * have use 6. The lowest bit of the use of messages and answers is the direction: 0 from the node, 1 from the
 * gateway. */
enum { USE_ANSWER = 2 << 5, USE_EPOCH = 4 << 5, USE_STORE = 5 << 5 };
enum { DIRECTION = 1 << 5, TAG_BYTES = DIRECTION - 1, CHECK_BYTES = 4, ANSWER_TAG_BYTES = 8 };

/* Of `answer_state`: the application is to say; it took the message `answered`. */
enum { NOBODY, ASKED, ANSWERED };

/* The upper bits of an epoch are its number, NUMBER of its upper half; the rest is random. */
enum { EPOCH_RANDOM_BITS = 18, NUMBER = 0xfffc };

/* Positions in storage. */
enum { AT_KEY = 8, AT_CHECK = 24, AT_SLOTS = 28 };
enum { SLOTS = 8, SLOT_BYTES = 20 };
enum { VERSIONS = 2 | 3 }; /* of a key block: 2 is of version 2.0 of the link */
enum { NOT_SAVED = 0x80 }; /* in `slot`: the last save failed */

#ifdef LINK_OPTIONS
#define OPTIONS(link) ((uint8_t)LINK_OPTIONS)
#else
#define OPTIONS(link) ((link)->options)
#endif
#ifdef LINK_PACKET_BYTES
#define PACKET_BYTES(link) ((uint8_t)LINK_PACKET_BYTES)
#else
#define PACKET_BYTES(link) ((link)->packet_bytes)
#endif

static inline uint8_t is_gateway(const struct link *link) {
    (void)link;
    return OPTIONS(link) >> 7;
}

static inline uint8_t outwards(const struct link *link) {
    return (uint8_t)(is_gateway(link) * DIRECTION);
}

static inline uint8_t inwards(const struct link *link) {
    return (uint8_t)(DIRECTION - outwards(link));
}

static inline uint8_t long_tag_bytes(const struct link *link) {
    (void)link;
    return OPTIONS(link) & LINK_TAG_16 ? 16 : 8;
}

static inline uint8_t listens(const struct link *link) {
    return OPTIONS(link) & LINK_LISTENS && link->node != LINK_BROADCAST;
}

#ifdef __AVR__
#define NOINLINE __attribute__((noinline)) /* smaller, and its frame is not the caller's */
/* Keep a pointer in a register where the compiler knows it as a constant: ldd and std have half the size of lds
 * and sts. */
#define IN_REGISTER(pointer) __asm__("" : "+b"(pointer))
#else
#define NOINLINE
#define IN_REGISTER(pointer) (void)(pointer)
#endif

/* On an AVR, assembly takes the place of some functions, because it is smaller: of the suite and the keys, and, on a
 * node whose radio is known, of more. tests/unit/link/test_link_avr.py compares it with their C. */
#if defined(__AVR__) && !defined(LINK_PLAIN_C)
#define LINK_AVR
void link_enter(void); /* calls_avr.h */
void link_leave(void);
#if defined(LINK_OPTIONS) && defined(LINK_PACKET_BYTES) && !(LINK_OPTIONS & 128) /* LINK_GATEWAY */
#define LINK_AVR_FIXED
#endif
#endif

/* Positions in the head of a message's buffer (link.c). */
enum { AT_NONCE = 16, AT_KIND = AT_NONCE, AT_FLAGS, AT_COUNTER, AT_CONTENT, NONCE_BYTES = 6 };

/* The suite: suite_ccm.c or suite_ascon.c.
 *
 * A pseudorandom function of 16 or 32 bytes, which takes the place of the last 16: AES-CMAC, or Ascon-CXOF128
 * keyed in front. */
enum { PRF_BYTES = 16 };
void link_prf(const uint8_t *key, uint8_t *data, uint8_t bytes);

/* Encrypt or decrypt a message of `bytes` in its buffer, under the key of that identifier and the nonce in the
 * head. The tag is after the message. Afterwards the full tag is at the front of the buffer. Returns 1, or
 * 0 when the tag was wrong: then no plaintext remains, and no tag. */
uint8_t link_crypt(struct link *link, uint8_t *buffer, link_size bytes, uint8_t id, uint8_t decrypting);

/* Bring the key of that identifier into link->key. */
void link_key(struct link *link, uint8_t id);

/* Derive the key of that identifier from the one in link->key (docs/link.md, Keys). */
void link_derive(struct link *link, uint8_t id);

/* Read the record, or write it so that it is there after a loss of power at any moment. */
uint8_t link_load_record(struct link *link);
uint8_t link_save(struct link *link);

#endif
