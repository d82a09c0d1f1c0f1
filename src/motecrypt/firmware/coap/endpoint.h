/* endpoint.h: CoAP with OSCORE for a node, over a transport that may lose and double messages, such as
 * bare.h: a server, and at most one client.
 *
 * A request that comes twice is done once and answered twice. Without its OSCORE context nothing is served: a
 * request in the clear gets 4.01. Messages are at most COAP_ENDPOINT_BYTES long. Neither heap nor hardware.
 */
#ifndef MOTECRYPT_COAP_ENDPOINT_H
#define MOTECRYPT_COAP_ENDPOINT_H

#include "client.h"
#include "oscore.h"
#include "server.h"

#ifndef COAP_ENDPOINT_BYTES
#define COAP_ENDPOINT_BYTES 160
#endif

enum { COAP_EXCHANGE_MS = 247000 }; /* EXCHANGE_LIFETIME: so long a message ID names one message */

struct coap_endpoint {
    struct coap_server server;
    struct oscore *oscore;
    struct coap_client *client;                      /* 0: none */
    struct oscore_request asked;                     /* what the client has asked for last */
    struct oscore_request observers[COAP_OBSERVERS]; /* the requests of those who observe the server */
    uint32_t replied_at;
    uint16_t replied_mid;
    uint8_t replied_token[COAP_TOKEN_MAX], replied_token_bytes;
    coap_size replied_bytes;            /* of the reply below; 0: no request has come yet */
    uint8_t reply[COAP_ENDPOINT_BYTES]; /* to the last request, in case that comes again */
    uint8_t plain[COAP_ENDPOINT_BYTES];
};

/* Begin. The message IDs go on from the number of the next message that the context sends. */
void coap_endpoint_begin(struct coap_endpoint *endpoint, struct oscore *oscore,
                         const struct coap_resource *resources, uint8_t count, struct coap_client *client);

/* Take a message in a buffer of COAP_ENDPOINT_BYTES, and write there what is to be sent. Returns its length;
 * 0: nothing. `now_ms` goes round. */
coap_size coap_endpoint_take(struct coap_endpoint *endpoint, uint8_t *message, coap_size bytes,
                             uint32_t now_ms);

/* Write a request of the client that is due into a buffer of COAP_ENDPOINT_BYTES. Returns its length, or 0.
 */
coap_size coap_endpoint_poll(struct coap_endpoint *endpoint, uint8_t *to, uint32_t now_ms);

/* A resource has changed: as coap_notify, into a buffer of COAP_ENDPOINT_BYTES. */
coap_size coap_endpoint_notify(struct coap_endpoint *endpoint, const struct coap_resource *resource,
                               uint8_t *turn, uint8_t *to);

#endif
