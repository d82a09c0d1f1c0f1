/* oscore_store.h: a node's OSCORE context in its storage: keys from `motecrypt provision --oscore`, and
 * sequence numbers kept as the secure link keeps its counters (docs/coap.md, Storage of a context).
 *
 * The numbers are in the link's own record, whose copies, check values and worn cells store.c deals with. A
 * program uses either the link or this, never both, since each claims numbers in that record. The program
 * defines link_load and link_store (link.h) for LINK_STORAGE_BYTES + OSCORE_STORED_BYTES.
 */
#ifndef MOTECRYPT_OSCORE_STORE_H
#define MOTECRYPT_OSCORE_STORE_H

#include "link.h"
#include "oscore.h"

enum {
    OSCORE_STORED_BYTES = 54, /* version, two identifiers, two keys, IV, the link's check value, checksum */
    OSCORE_STORED_VERSION = 1,
    OSCORE_STORED_CHECK = 48,
    OSCORE_STORED_SUM = 52
};

struct oscore_store {
    struct oscore oscore; /* first, so that a context is its store */
    struct link link;
};

/* Read keys and numbers. Returns LINK_NOTHING; LINK_NO_KEY where there is no context, or one of another
 * provisioning; LINK_NO_STATE where its numbers are lost: after these two nothing else may be called. */
uint8_t oscore_load(struct oscore_store *store);

#endif
