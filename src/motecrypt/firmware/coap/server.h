/* server.h: a CoAP server for a node: resources in a table, GET, PUT and POST, observe (RFC 7641), blocks
 * (RFC 7959).
 *
 * One message comes, at most one goes, each in a caller's buffer. There is no clock and no repetition: what
 * carries the messages confirms them (the secure link does), and it may bring a request twice only if that
 * does no harm, as with GET and PUT. Responses to confirmable requests are their acknowledgements.
 */
#ifndef MOTECRYPT_COAP_SERVER_H
#define MOTECRYPT_COAP_SERVER_H

#include "coap.h"

#ifndef COAP_OBSERVERS
#define COAP_OBSERVERS                                                                                       \
    2 /* concurrent registrations; the gateway shares one among all observers of a resource */
#endif

#ifndef COAP_BLOCK
#define COAP_BLOCK 2 /* blocks of at most 16 << COAP_BLOCK bytes, 0 to 6: 64 */
#endif

struct coap_server;

/* A resource. `get` writes its representation from byte `at` on, at most `room` bytes, sets `*bytes` to how
 * many, and returns whether there is more. `put` takes a PUT or a POST (`method`) of `bytes` at `at`, the
 * last of them if `more` is 0, and returns a code such as COAP_CHANGED. Either may be 0: not allowed. */
struct coap_resource {
    const char *path; /* such as "sensors/temperature" */
    uint8_t (*get)(struct coap_server *server, uint16_t at, uint8_t *to, coap_size room, coap_size *bytes);
    uint8_t (*put)(struct coap_server *server, uint8_t method, uint16_t at, const uint8_t *from,
                   coap_size bytes, uint8_t more);
    uint8_t observable;
};

struct coap_observer {
    const struct coap_resource *resource; /* 0: nobody */
    uint16_t mid;                         /* of the last notification */
    uint8_t token[COAP_TOKEN_MAX], token_bytes;
};

struct coap_server {
    const struct coap_resource *resources;
    uint8_t resources_count;
    uint16_t mid;      /* of the last message that this end began */
    uint32_t notified; /* the last number of an Observe option, of 24 bits */
    struct coap_observer observers[COAP_OBSERVERS];
};

/* Begin. `mid`: any number, best another one after each restart. */
void coap_server_begin(struct coap_server *server, const struct coap_resource *resources, uint8_t count,
                       uint16_t mid);

/* Take a message and write the answer into `to`, another buffer of `room` bytes, at least 24 + (16 <<
 * COAP_BLOCK). Returns the answer's length; 0 if there is none: no request, or the bytes are not a
 * message. */
coap_size coap_serve(struct coap_server *server, const uint8_t *message, coap_size bytes, uint8_t *to,
                     coap_size room);

/* A resource has changed: write a notification for one of its observers; `*turn` is 0 at first, and then
 * selects the next one. Returns its length, or 0 after the last observer. */
coap_size coap_notify(struct coap_server *server, const struct coap_resource *resource, uint8_t *turn,
                      uint8_t *to, coap_size room);

#endif
