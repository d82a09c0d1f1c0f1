/* server.c: a CoAP server for a node. See server.h. */
#include "server.h"

enum {
    RESPONSE_ROOM =
        24, /* the parts of a response before its payload: head, token, observe, format, block, marker */
    LINK_FORMAT = 40,
    MORE = 8 /* the bit of a block option */
};

/* What a request asks for, from its options. */
struct asked {
    struct coap_message message;
    struct coap_option block;
    uint8_t blocked;      /* it has Block2 (GET) or Block1 */
    uint8_t observe;      /* 0 or 1 as the option says; 2: it is not there */
    uint32_t block_value; /* of that block option, or 0 */
};

/* Whether the request's Uri-Path is that path. */
static uint8_t has_path(const struct coap_message *message, const char *path) {
    struct coap_option option;
    uint8_t first = 1;

    coap_first(&option, message);
    while (coap_next(&option)) {
        if (option.number == COAP_URI_PATH) {
            if (!first && *path++ != '/') {
                return 0;
            }
            first = 0;
            for (coap_size i = 0; i < option.bytes; i++) {
                if (*path == 0 || *path == '/' || (uint8_t)*path != option.value[i]) {
                    return 0;
                }
                path++;
            }
        }
    }
    return *path == 0;
}

/* Read the options. Returns 0, or the code of a refusal. */
static uint8_t understand(struct asked *asked) {
    struct coap_option option;
    uint16_t block = asked->message.code == COAP_GET ? COAP_BLOCK2 : COAP_BLOCK1;

    asked->blocked = 0;
    asked->block_value = 0;
    asked->observe = 2;
    coap_first(&option, &asked->message);
    while (coap_next(&option)) {
        if (option.number == block) {
            if (asked->blocked || option.bytes > 3) {
                return COAP_BAD_OPTION;
            }
            asked->blocked = 1;
            asked->block_value = coap_number(&option);
            if ((asked->block_value & 7) == 7) {
                return COAP_BAD_REQUEST;
            }
        } else if (option.number == COAP_OBSERVE) {
            if (option.bytes == 0 || (option.bytes == 1 && option.value[0] == 1)) {
                asked->observe = option.bytes == 1;
            }
        } else if (option.number == COAP_ACCEPT) {
            if (coap_number(&option) != 0 && coap_number(&option) != LINK_FORMAT) {
                return COAP_NOT_ACCEPTABLE;
            }
        } else if ((option.number & 1) != 0 && option.number != COAP_URI_PATH &&
                   option.number != COAP_URI_HOST && option.number != COAP_URI_PORT &&
                   option.number != COAP_URI_QUERY && option.number != COAP_BLOCK2) {
            return COAP_BAD_OPTION;
        }
    }
    return 0;
}

/* Where a part of a longer text goes. */
struct part {
    uint8_t *to;
    uint16_t at; /* bytes of the text to leave out */
    coap_size room, bytes;
    uint8_t more;
};

static void say(struct part *part, const char *text) {
    for (; *text != 0; text++) {
        if (part->at > 0) {
            part->at--;
        } else if (part->bytes < part->room) {
            part->to[part->bytes++] = (uint8_t)*text;
        } else {
            part->more = 1;
        }
    }
}

/* The resources in the format of RFC 6690. */
static uint8_t list(const struct coap_server *server, uint16_t at, uint8_t *to, coap_size room,
                    coap_size *bytes) {
    struct part part = {to, at, room, 0, 0};

    for (uint8_t i = 0; i < server->resources_count; i++) {
        say(&part, i > 0 ? ",</" : "</");
        say(&part, server->resources[i].path);
        say(&part, server->resources[i].observable ? ">;obs" : ">");
    }
    *bytes = part.bytes;
    return part.more;
}

static uint8_t is_token(const struct coap_observer *observer, const struct coap_message *message) {
    if (observer->token_bytes != message->token_bytes) {
        return 0;
    }
    for (uint8_t i = 0; i < message->token_bytes; i++) {
        if (observer->token[i] != message->token[i]) {
            return 0;
        }
    }
    return 1;
}

/* Remove the observer with the request's token; then add it again if the request asks for it. Returns whether
 * it was added. */
static uint8_t observe(struct coap_server *server, const struct coap_resource *resource,
                       const struct asked *asked) {
    struct coap_observer *free = 0;

    for (uint8_t i = 0; i < COAP_OBSERVERS; i++) {
        struct coap_observer *each = &server->observers[i];

        if (each->resource == resource && is_token(each, &asked->message)) {
            each->resource = 0;
        }
        if (each->resource == 0 && free == 0) {
            free = each;
        }
    }
    if (asked->observe != 0 || !resource->observable || free == 0) {
        return 0;
    }
    free->resource = resource;
    free->mid = server->mid; /* of the response, unless that is an acknowledgement */
    free->token_bytes = asked->message.token_bytes;
    for (uint8_t i = 0; i < free->token_bytes; i++) {
        free->token[i] = asked->message.token[i];
    }
    return 1;
}

/* Write a response with a representation; `resource` 0 is the list of resources. `sequence` is of Observe, or
 * -1. */
static coap_size represent(struct coap_server *server, const struct coap_resource *resource,
                           const struct asked *asked, struct coap_writer *writer, int32_t sequence) {
    uint8_t exponent =
        asked->blocked && (asked->block_value & 7) < COAP_BLOCK ? asked->block_value & 7 : COAP_BLOCK;
    coap_size room = (coap_size)(16u << exponent), bytes = 0;
    uint32_t at = (asked->block_value >> 4) << ((asked->block_value & 7) + 4);
    uint8_t more, *payload = writer->bytes + writer->room - room;

    /* The representation is made at the end of the buffer, and moved behind the options. */
    if (at > 0xFFFF) {
        writer->bytes[1] = COAP_BAD_REQUEST;
        return coap_end(writer);
    }
    more = resource == 0 ? list(server, (uint16_t)at, payload, room, &bytes)
                         : resource->get(server, (uint16_t)at, payload, room, &bytes);
    if (at > 0 && bytes == 0) {
        writer->bytes[1] = COAP_BAD_REQUEST; /* a block behind the end */
        return coap_end(writer);
    }
    if (sequence >= 0) {
        coap_add_number(writer, COAP_OBSERVE, (uint32_t)sequence);
    }
    if (resource == 0) {
        coap_add_number(writer, COAP_CONTENT_FORMAT, LINK_FORMAT);
    }
    if (asked->blocked || more) {
        coap_add_number(writer, COAP_BLOCK2, (at >> (exponent + 4)) << 4 | (more ? MORE : 0) | exponent);
    }
    coap_add_payload(writer, payload, bytes);
    return coap_end(writer);
}

/* Hand a PUT or POST to its resource, and write the response. */
static coap_size change(struct coap_server *server, const struct coap_resource *resource,
                        const struct asked *asked, struct coap_writer *writer) {
    uint8_t more = (asked->block_value & MORE) != 0, exponent = asked->block_value & 7, code;
    uint32_t at = (asked->block_value >> 4) << (exponent + 4);

    if (asked->blocked && more && asked->message.payload_bytes != 16u << exponent) {
        code = COAP_BAD_REQUEST;
    } else if (at + asked->message.payload_bytes > 0xFFFF) {
        code = COAP_TOO_LARGE;
    } else {
        code = resource->put(server, asked->message.code, (uint16_t)at, asked->message.payload,
                             asked->message.payload_bytes, more);
        if (more && code >> 5 == 2) {
            code = COAP_CONTINUE;
        }
    }
    writer->bytes[1] = code;
    if (asked->blocked) {
        coap_add_number(writer, COAP_BLOCK1, asked->block_value);
    }
    return coap_end(writer);
}

/* Someone does not want a notification: its observer is forgotten. */
static void forget(struct coap_server *server, uint16_t mid) {
    for (uint8_t i = 0; i < COAP_OBSERVERS; i++) {
        if (server->observers[i].mid == mid) {
            server->observers[i].resource = 0;
        }
    }
}

static coap_size answer(struct coap_server *server, const struct asked *asked, struct coap_writer *writer) {
    const struct coap_resource *resource = 0;
    uint8_t get = asked->message.code == COAP_GET;

    for (uint8_t i = 0; i < server->resources_count && resource == 0; i++) {
        if (has_path(&asked->message, server->resources[i].path)) {
            resource = &server->resources[i];
        }
    }
    if (resource == 0 && !has_path(&asked->message, ".well-known/core")) {
        writer->bytes[1] = COAP_NOT_FOUND;
    } else if (get && (resource == 0 || resource->get != 0)) {
        uint8_t observed = resource != 0 && asked->observe != 2 && observe(server, resource, asked);

        writer->bytes[1] = COAP_CONTENT;
        return represent(server, resource, asked, writer, observed ? (int32_t)server->notified : -1);
    } else if ((asked->message.code == COAP_PUT || asked->message.code == COAP_POST) && resource != 0 &&
               resource->put != 0) {
        return change(server, resource, asked, writer);
    } else {
        writer->bytes[1] = COAP_NOT_ALLOWED;
    }
    return coap_end(writer);
}

void coap_server_begin(struct coap_server *server, const struct coap_resource *resources, uint8_t count,
                       uint16_t mid) {
    server->resources = resources;
    server->resources_count = count;
    server->mid = mid;
    server->notified = 0;
    for (uint8_t i = 0; i < COAP_OBSERVERS; i++) {
        server->observers[i].resource = 0;
        server->observers[i].mid = mid;
    }
}

coap_size coap_serve(struct coap_server *server, const uint8_t *message, coap_size bytes, uint8_t *to,
                     coap_size room) {
    struct asked asked;
    struct coap_writer writer;
    uint8_t refusal, kind = COAP_ACK;
    uint16_t mid;

    if (room < RESPONSE_ROOM + (16u << COAP_BLOCK) || !coap_read(&asked.message, message, bytes)) {
        return 0;
    }
    mid = asked.message.mid;
    if (asked.message.code == COAP_EMPTY || asked.message.code >> 5 != 0) {
        if (asked.message.kind == COAP_RST) {
            forget(server, mid);
        }
        if (asked.message.kind != COAP_CON) {
            return 0;
        }
        coap_begin(&writer, to, room, COAP_RST, COAP_EMPTY, mid, 0, 0); /* a ping, or a response to nobody */
        return coap_end(&writer);
    }
    if (asked.message.kind != COAP_CON && asked.message.kind != COAP_NON) {
        return 0;
    }
    if (asked.message.kind == COAP_NON) {
        kind = COAP_NON;
        mid = ++server->mid;
    }
    coap_begin(&writer, to, room, kind, COAP_SERVER_ERROR, mid, asked.message.token,
               asked.message.token_bytes);
    refusal = understand(&asked);
    if (refusal != 0) {
        to[1] = refusal;
        return coap_end(&writer);
    }
    return answer(server, &asked, &writer);
}

coap_size coap_notify(struct coap_server *server, const struct coap_resource *resource, uint8_t *turn,
                      uint8_t *to, coap_size room) {
    static const struct asked whole;
    struct coap_writer writer;

    if (room < RESPONSE_ROOM + (16u << COAP_BLOCK)) {
        return 0;
    }
    while (*turn < COAP_OBSERVERS) {
        struct coap_observer *observer = &server->observers[(*turn)++];

        if (observer->resource == resource) {
            observer->mid = ++server->mid;
            server->notified = (server->notified + 1) & 0xFFFFFF;
            coap_begin(&writer, to, room, COAP_NON, COAP_CONTENT, observer->mid, observer->token,
                       observer->token_bytes);
            return represent(server, resource, &whole, &writer, (int32_t)server->notified);
        }
    }
    return 0;
}
