/* parts.h: what the link core's sources share among themselves; nobody else includes it. */
#ifndef MOTECRYPT_LINK_PARTS_H
#define MOTECRYPT_LINK_PARTS_H

#include "link.h"

#include "cipher.h"
#include CIPHER_HEADER

/* What a derived key is for: the upper three bits of a key's identifier. Its tag length is in the lower
 * five, so that no two tag lengths share a key. Messages have use 0; node keys, which only the host derives,
 * have use 6. The lowest bit of the use of messages and answers is the direction: 0 from the node, 1 from the
 * gateway. */
enum { USE_ANSWER = 2 << 5, USE_EPOCH = 4 << 5, USE_STORE = 5 << 5 };
enum { DIRECTION = 1 << 5, CHECK_BYTES = 4, ANSWER_TAG_BYTES = 8 };

/* Positions in storage. */
enum { AT_KEY = 8, AT_CHECK = 24, AT_SLOTS = 28 };
enum { SLOTS = 8, SLOT_BYTES = 20 };

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

#ifdef __AVR__
#define NOINLINE __attribute__((noinline)) /* one cipher context on the stack at a time */
#else
#define NOINLINE
#endif

/* A pseudorandom function of 16 or 32 bytes: AES-CMAC, or Ascon-CXOF128 keyed in front. `context` is
 * scratch; `out` gets PRF_BYTES and may be `key`. */
#define PRF_BYTES 16
void link_prf(struct cipher_context *context, const uint8_t *key, const uint8_t *data, uint8_t bytes,
              uint8_t *out);

/* Bring the key of that identifier into link->key. */
void link_key(struct link *link, struct cipher_context *context, uint8_t id);

/* Derive the key of that identifier from the one in link->key (docs/link.md, Keys). */
void link_derive(struct link *link, struct cipher_context *context, uint8_t id);

/* Read the record, or write it so that it is there after a loss of power at any moment. */
uint8_t link_load_record(struct link *link);
uint8_t link_save(struct link *link);

#endif
