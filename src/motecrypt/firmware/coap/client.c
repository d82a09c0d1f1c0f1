/* client.c: a CoAP client for a node. See client.h. */
#include "client.h"

enum {
    ENDED = 2, /* of `over`: the last request was sent */
    NUMBER_HALF = 0x800000,
    NUMBER_LIFE_MS = 128000,
    ECHO_PAUSE_MAX_MS = 4 * COAP_RETRY_MS /* at most two requests without a pause */
};

void coap_client_begin(struct coap_client *client, const char *path, uint8_t token, uint32_t now_ms) {
    client->path = path;
    client->token = token;
    client->due = now_ms;
    client->pause = COAP_RETRY_MS;
    client->observed = client->over = client->echo_bytes = 0;
}

/* Each part of the path as an option. */
static void add_path(struct coap_writer *writer, const char *path) {
    const char *end = path;

    for (;; end++) {
        if (*end == '/' || *end == 0) {
            coap_add(writer, COAP_URI_PATH, (const uint8_t *)path, (coap_size)(end - path));
            if (*end == 0) {
                return;
            }
            path = end + 1;
        }
    }
}

coap_size coap_client_poll(struct coap_client *client, uint16_t *mid, uint32_t now_ms, uint8_t *to,
                           coap_size room) {
    struct coap_writer writer;

    if (client->over == ENDED || (int32_t)(now_ms - client->due) < 0) {
        return 0;
    }
    coap_begin(&writer, to, room, COAP_NON, COAP_GET, ++*mid, &client->token, 1);
    coap_add_number(&writer, COAP_OBSERVE, client->over);
    add_path(&writer, client->path);
    if (client->echo_bytes > 0) {
        coap_add(&writer, COAP_ECHO, client->echo, client->echo_bytes);
        client->echo_bytes = 0;
    }
    if (client->over) {
        client->over = ENDED;
    }
    client->observed = 0; /* a server that has restarted counts from its own beginning */
    client->due = now_ms + client->pause;
    if (client->pause < COAP_RETRY_MAX_MS) {
        client->pause *= 2;
    }
    return coap_end(&writer);
}

void coap_client_end(struct coap_client *client, uint32_t now_ms) {
    if (!client->over) {
        client->over = 1;
        client->due = now_ms;
    }
}

/* Whether a notification is newer than the one before (RFC 7641, section 3.4). */
static uint8_t is_newer(const struct coap_client *client, uint32_t number, uint32_t now_ms) {
    uint32_t ahead = (number - client->newest) & (2 * NUMBER_HALF - 1);

    return !client->observed || (ahead > 0 && ahead < NUMBER_HALF) ||
           now_ms - client->newest_at > NUMBER_LIFE_MS;
}

/* How long the response is fresh. */
static uint32_t fresh_ms(const struct coap_message *response) {
    struct coap_option option;
    uint32_t seconds = COAP_MAX_AGE_S;

    if (coap_find(&option, response, COAP_MAX_AGE)) {
        seconds = option.bytes > 4 ? COAP_MAX_AGE_MAX_S : coap_number(&option);
    }
    if (seconds > COAP_MAX_AGE_MAX_S) {
        seconds = COAP_MAX_AGE_MAX_S;
    }
    return 1000 * seconds + COAP_STALE_MS;
}

uint8_t coap_client_take(struct coap_client *client, const struct coap_message *response, uint32_t now_ms) {
    struct coap_option option;

    if (response->token_bytes != 1 || response->token[0] != client->token || response->code >> 5 < 2 ||
        client->over == ENDED) {
        return 0;
    }
    if (response->code == COAP_UNAUTHORIZED && coap_find(&option, response, COAP_ECHO) && option.bytes > 0 &&
        option.bytes <= COAP_ECHO_MAX) {
        for (client->echo_bytes = 0; client->echo_bytes < option.bytes; client->echo_bytes++) {
            client->echo[client->echo_bytes] = option.value[client->echo_bytes];
        }
        if (client->pause <= ECHO_PAUSE_MAX_MS) {
            client->due = now_ms; /* the server asks whether this node is there now */
        }
        return 1;
    }
    if (response->code >> 5 != 2 || !coap_find(&option, response, COAP_OBSERVE)) {
        client->observed = 0;
        client->due = now_ms + client->pause; /* not, or not any more: try again, later and later */
    } else if (is_newer(client, coap_number(&option), now_ms)) {
        client->newest = coap_number(&option);
        client->newest_at = now_ms;
        client->observed = 1;
        client->pause = COAP_RETRY_MS;
        client->due = now_ms + fresh_ms(response);
    } else {
        return 1;
    }
    client->take(client, response->code, response->payload, response->payload_bytes);
    return 1;
}

coap_size coap_acknowledge(const struct coap_message *response, uint8_t known, uint8_t *to, coap_size room) {
    struct coap_writer writer;
    struct coap_option option;
    uint8_t notifies = response->kind == COAP_NON && coap_find(&option, response, COAP_OBSERVE);

    if (response->kind != COAP_CON && (known || !notifies)) {
        return 0;
    }
    coap_begin(&writer, to, room, known ? COAP_ACK : COAP_RST, COAP_EMPTY, response->mid, 0, 0);
    return coap_end(&writer);
}
