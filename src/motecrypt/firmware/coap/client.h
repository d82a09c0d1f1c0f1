/* client.h: a CoAP client for a node that observes one resource of a server (RFC 7641).
 *
 * It registers, takes notifications that are newer than those before, and registers again where no answer
 * comes, where the newest notification is stale, and where the server says that the observation is over. Each
 * try is a new, non-confirmable request, so nothing is kept to be repeated. As server.h, it has no heap and
 * no hardware; the caller passes the time and carries the messages.
 */
#ifndef MOTECRYPT_COAP_CLIENT_H
#define MOTECRYPT_COAP_CLIENT_H

#include "coap.h"

enum {
    COAP_RETRY_MS = 5000,       /* after the first request without an answer; then twice as long, and so on */
    COAP_RETRY_MAX_MS = 320000, /* and not longer than this */
    COAP_STALE_MS = 5000,       /* after Max-Age a notification is still waited for */
    COAP_MAX_AGE_S = 60,        /* where a notification does not say how long it is fresh */
    COAP_MAX_AGE_MAX_S = 86400,
    COAP_ECHO_MAX = 16 /* bytes of an Echo option (RFC 9175) that is sent back; a longer one is not */
};

struct coap_client {
    const char *path; /* such as "heating/setpoint" */

    /* A representation of the resource has come, or an error (`code` from 0x80 on). */
    void (*take)(struct coap_client *client, uint8_t code, const uint8_t *payload, coap_size bytes);

    uint32_t due;               /* the time of the next request */
    uint32_t pause;             /* ms until the request after it */
    uint32_t newest, newest_at; /* number and time of the newest notification */
    uint8_t token;
    uint8_t observed; /* a notification has come since the last request */
    uint8_t over;     /* the observation ends */
    uint8_t echo[COAP_ECHO_MAX], echo_bytes;
};

/* Begin to observe `path` with `take` set. `token`: any number that no other client of this node has. */
void coap_client_begin(struct coap_client *client, const char *path, uint8_t token, uint32_t now_ms);

/* Write a request that is due, under a new message ID, into `to`. Returns its length; 0 if none is due.
 * `now_ms` goes round. */
coap_size coap_client_poll(struct coap_client *client, uint16_t *mid, uint32_t now_ms, uint8_t *to,
                           coap_size room);

/* Take a response. Returns whether it is for this client, else it is for nobody. */
uint8_t coap_client_take(struct coap_client *client, const struct coap_message *response, uint32_t now_ms);

/* End the observation: coap_client_poll then writes one last request for the server. */
void coap_client_end(struct coap_client *client, uint32_t now_ms);

/* Write the acknowledgement that a confirmable response asks for, or the reset of a confirmable or notifying
 * one that is for nobody (`known` 0). Returns 4, or 0 if it asks for none. */
coap_size coap_acknowledge(const struct coap_message *response, uint8_t known, uint8_t *to, coap_size room);

#endif
