/* endpoint.c: CoAP with OSCORE for a node. See endpoint.h. */
#include "endpoint.h"

#include <string.h>

void coap_endpoint_begin(struct coap_endpoint *endpoint, struct oscore *oscore,
                         const struct coap_resource *resources, uint8_t count, struct coap_client *client) {
    memset(endpoint, 0, sizeof *endpoint);
    endpoint->oscore = oscore;
    endpoint->client = client;
    coap_server_begin(&endpoint->server, resources, count, (uint16_t)oscore->send);
}

/* Protect the message in `plain`. Returns the protected one's length, or 0. */
static coap_size protect(struct coap_endpoint *endpoint, struct oscore_request *request, coap_size bytes,
                         uint8_t *to) {
    coap_size count = 0;

    if (bytes == 0 || oscore_protect(endpoint->oscore, request, endpoint->plain, bytes, to,
                                     COAP_ENDPOINT_BYTES, &count) != OSCORE_OK) {
        return 0;
    }
    return count;
}

/* The code of a refusal (RFC 8613, section 8.2), which leaves unprotected. */
static uint8_t refusal(uint8_t status) {
    switch (status) {
    case OSCORE_PLAIN:
    case OSCORE_UNKNOWN:
    case OSCORE_REPLAYED:
        return COAP_UNAUTHORIZED;
    case OSCORE_MALFORMED:
        return COAP_BAD_OPTION;
    case OSCORE_FORGED:
        return COAP_BAD_REQUEST;
    case OSCORE_NO_ROOM:
        return COAP_TOO_LARGE;
    default:
        return COAP_SERVER_ERROR;
    }
}

/* Who has registered by the request that was just served keeps that request. */
static void keep_observer(struct coap_endpoint *endpoint, coap_size bytes,
                          const struct oscore_request *request) {
    struct coap_message response;
    struct coap_option option;

    if (!coap_read(&response, endpoint->plain, bytes) || !coap_find(&option, &response, COAP_OBSERVE)) {
        return;
    }
    for (uint8_t i = 0; i < COAP_OBSERVERS; i++) {
        const struct coap_observer *each = &endpoint->server.observers[i];

        if (each->resource != 0 && each->token_bytes == response.token_bytes &&
            memcmp(each->token, response.token, each->token_bytes) == 0) {
            endpoint->observers[i] = *request;
        }
    }
}

/* Write a refusal into the place of the request. */
static coap_size refuse(struct coap_endpoint *endpoint, uint8_t *message, const struct coap_message *sealed,
                        uint8_t status) {
    uint8_t token[COAP_TOKEN_MAX], confirmable = sealed->kind == COAP_CON;
    struct coap_writer writer;
    uint16_t mid = confirmable ? sealed->mid : ++endpoint->server.mid;

    memcpy(token, sealed->token, sealed->token_bytes);
    coap_begin(&writer, message, COAP_ENDPOINT_BYTES, confirmable ? COAP_ACK : COAP_NON, refusal(status), mid,
               token, sealed->token_bytes);
    coap_add_number(&writer, COAP_MAX_AGE, 0);
    return coap_end(&writer);
}

/* Serve a request that did not come before. The reply is kept, unless it is a refusal: what was refused may
 * come again, and no stranger can make the node forget a reply. */
static coap_size serve(struct coap_endpoint *endpoint, uint8_t *message, coap_size bytes,
                       const struct coap_message *sealed, uint32_t now_ms) {
    struct oscore_request request;
    coap_size count = 0;
    uint8_t status = oscore_unprotect(endpoint->oscore, &request, message, bytes, endpoint->plain,
                                      sizeof endpoint->plain, &count);

    if (status != OSCORE_OK) {
        return refuse(endpoint, message, sealed, status);
    }
    endpoint->replied_mid = sealed->mid;
    endpoint->replied_at = now_ms;
    endpoint->replied_token_bytes = sealed->token_bytes;
    memcpy(endpoint->replied_token, sealed->token, sealed->token_bytes);
    count = coap_serve(&endpoint->server, endpoint->plain, count, message, COAP_ENDPOINT_BYTES);
    memcpy(endpoint->plain, message, count);
    keep_observer(endpoint, count, &request);
    endpoint->replied_bytes = protect(endpoint, &request, count, endpoint->reply);
    memcpy(message, endpoint->reply, endpoint->replied_bytes);
    return endpoint->replied_bytes;
}

/* Take a response; its acknowledgement goes into its place. */
static coap_size respond(struct coap_endpoint *endpoint, uint8_t *message, coap_size bytes,
                         const struct coap_message *sealed, uint32_t now_ms) {
    uint8_t acknowledgement[COAP_HEAD_BYTES], known = 0;
    struct coap_message plain;
    coap_size count = 0, reply;
    struct coap_client *client = endpoint->client;

    if (client != 0) {
        known = sealed->token_bytes == 1 && sealed->token[0] == client->token;
    }
    reply = coap_acknowledge(sealed, known, acknowledgement, sizeof acknowledgement);
    if (known &&
        oscore_unprotect(endpoint->oscore, &endpoint->asked, message, bytes, endpoint->plain,
                         sizeof endpoint->plain, &count) == OSCORE_OK &&
        coap_read(&plain, endpoint->plain, count)) {
        (void)coap_client_take(client, &plain, now_ms);
    }
    memcpy(message, acknowledgement, reply);
    return reply;
}

coap_size coap_endpoint_take(struct coap_endpoint *endpoint, uint8_t *message, coap_size bytes,
                             uint32_t now_ms) {
    struct coap_message sealed;

    if (!coap_read(&sealed, message, bytes)) {
        return 0;
    }
    if (sealed.code == COAP_EMPTY || sealed.kind == COAP_RST) { /* a ping, a reset of a notification */
        bytes = coap_serve(&endpoint->server, message, bytes, endpoint->plain, sizeof endpoint->plain);
        memcpy(message, endpoint->plain, bytes);
        return bytes;
    }
    if (sealed.code >> 5 != 0) {
        return respond(endpoint, message, bytes, &sealed, now_ms);
    }
    if (sealed.kind != COAP_CON && sealed.kind != COAP_NON) {
        return 0;
    }
    if (endpoint->replied_bytes > 0 && sealed.mid == endpoint->replied_mid &&
        sealed.token_bytes == endpoint->replied_token_bytes &&
        memcmp(sealed.token, endpoint->replied_token, sealed.token_bytes) == 0 &&
        now_ms - endpoint->replied_at <= COAP_EXCHANGE_MS) {
        memcpy(message, endpoint->reply, endpoint->replied_bytes);
        return endpoint->replied_bytes;
    }
    return serve(endpoint, message, bytes, &sealed, now_ms);
}

coap_size coap_endpoint_poll(struct coap_endpoint *endpoint, uint8_t *to, uint32_t now_ms) {
    coap_size count;

    if (endpoint->client == 0) {
        return 0;
    }
    count = coap_client_poll(endpoint->client, &endpoint->server.mid, now_ms, endpoint->plain,
                             sizeof endpoint->plain);
    return protect(endpoint, &endpoint->asked, count, to);
}

coap_size coap_endpoint_notify(struct coap_endpoint *endpoint, const struct coap_resource *resource,
                               uint8_t *turn, uint8_t *to) {
    coap_size count = coap_notify(&endpoint->server, resource, turn, endpoint->plain, sizeof endpoint->plain);

    return count > 0 ? protect(endpoint, &endpoint->observers[*turn - 1], count, to) : 0;
}
