/* node_bed.c: a node with OSCORE over the bare transport, as in the sketch Oscore, for tests: a library
 * for Python, or with FUZZ a program that attacks it: SEED RUNS. */
#include "bare.h"
#include "endpoint.h"
#include "oscore_store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STORED = LINK_STORAGE_BYTES + OSCORE_STORED_BYTES, TOKEN = 'c' };

struct node {
    uint8_t storage[STORED];
    struct oscore_store store;
    struct coap_endpoint endpoint;
    struct coap_client client;
    struct coap_bare in, out;
    uint8_t buffer[COAP_BARE_ROOM];
    uint8_t led, text[8], text_bytes, setpoint[16], setpoint_bytes, setpoint_code;
    uint8_t broken;
    unsigned long served, taken;
};

static struct node *node; /* the one whose function was called */

void link_load(struct link *link, uint8_t at, uint8_t *to, uint8_t bytes) {
    (void)link;
    memcpy(to, node->storage + at, bytes);
}

void link_store(struct link *link, uint8_t at, const uint8_t *from, uint8_t bytes) {
    (void)link;
    if (!node->broken) {
        memcpy(node->storage + at, from, bytes);
    }
}

static uint8_t get_text(struct coap_server *server, uint16_t at, uint8_t *to, coap_size room,
                        coap_size *bytes) {
    (void)server;
    for (*bytes = 0; at < node->text_bytes && *bytes < room; at++) {
        to[(*bytes)++] = node->text[at];
    }
    node->served++;
    return at < node->text_bytes;
}

static uint8_t get_led(struct coap_server *server, uint16_t at, uint8_t *to, coap_size room,
                       coap_size *bytes) {
    (void)server;
    (void)room;
    *bytes = at == 0;
    if (at == 0) {
        to[0] = node->led;
    }
    return 0;
}

static uint8_t put_led(struct coap_server *server, uint8_t method, uint16_t at, const uint8_t *from,
                       coap_size bytes, uint8_t more) {
    (void)server;
    (void)at;
    if (method != COAP_PUT || bytes != 1 || more) {
        return COAP_BAD_REQUEST;
    }
    node->led = from[0];
    node->served++;
    return COAP_CHANGED;
}

static const struct coap_resource resources[] = {
    {"temperature", get_text, 0, 1},
    {"led", get_led, put_led, 0},
};

static void take_setpoint(struct coap_client *client, uint8_t code, const uint8_t *payload, coap_size bytes) {
    (void)client;
    node->setpoint_code = code;
    node->setpoint_bytes = (uint8_t)(bytes < sizeof node->setpoint ? bytes : sizeof node->setpoint);
    memcpy(node->setpoint, payload, node->setpoint_bytes);
    node->taken++;
}

unsigned bed_bytes(void) {
    return (unsigned)sizeof(struct node);
}

/* Start with what is in storage; LINK_NOTHING, or why not. */
uint8_t bed_start(struct node *made, const uint8_t *storage, uint8_t observes) {
    uint8_t status;

    node = made;
    memset(node, 0, sizeof *node);
    memcpy(node->storage, storage, STORED);
    status = oscore_load(&node->store);
    if (status != LINK_NOTHING) {
        return status;
    }
    node->led = '0';
    memcpy(node->text, "+21.4C", 6);
    node->text_bytes = 6;
    node->client.take = take_setpoint;
    coap_client_begin(&node->client, "setpoint", TOKEN, 0);
    coap_endpoint_begin(&node->endpoint, &node->store.oscore, resources, 2, observes ? &node->client : 0);
    coap_bare_begin(&node->in, node->buffer, node->store.link.packet_bytes, node->store.link.node, 1);
    coap_bare_begin(&node->out, node->buffer, node->store.link.packet_bytes, node->store.link.node, 0);
    return LINK_NOTHING;
}

void bed_storage(const struct node *made, uint8_t *to) {
    memcpy(to, made->storage, STORED);
}

void bed_break(struct node *made, uint8_t broken) {
    made->broken = broken;
}

void bed_text(struct node *made, const uint8_t *text, uint8_t bytes) {
    memcpy(made->text, text, bytes);
    made->text_bytes = bytes;
}

/* What the node has: 0 the LED, 1 code and 2 bytes of the newest set point, 3 how often that came. */
unsigned bed_get(const struct node *made, uint8_t what) {
    return what == 0   ? made->led
           : what == 1 ? made->setpoint_code
           : what == 2 ? made->setpoint_bytes
                       : (unsigned)made->taken;
}

void bed_setpoint(const struct node *made, uint8_t *to) {
    memcpy(to, made->setpoint, made->setpoint_bytes);
}

void bed_end(struct node *made, uint32_t now_ms) {
    coap_client_end(&made->client, now_ms);
}

/* Cut the message in the buffer into packets, one behind the other in `to`. Returns how many. */
static unsigned send(coap_size bytes, uint8_t *to) {
    unsigned count = 0;

    if (bytes > 0 && coap_bare_send(&node->out, (uint8_t)bytes)) {
        while (coap_bare_packet(&node->out, to + count * node->out.packet_bytes)) {
            count++;
        }
    }
    return count;
}

unsigned bed_receive(struct node *made, const uint8_t *packet, uint8_t bytes, uint32_t now_ms, uint8_t *to,
                     uint8_t *event) {
    node = made;
    *event = coap_bare_receive(&node->in, packet, bytes);
    if (*event != COAP_BARE_MESSAGE) {
        return 0;
    }
    return send(coap_endpoint_take(&node->endpoint, node->buffer + 1, node->buffer[0], now_ms), to);
}

unsigned bed_poll(struct node *made, uint32_t now_ms, uint8_t *to) {
    node = made;
    return send(coap_endpoint_poll(&node->endpoint, node->buffer + 1, now_ms), to);
}

unsigned bed_notify(struct node *made, uint8_t *turn, uint8_t *to) {
    node = made;
    return send(coap_endpoint_notify(&node->endpoint, &resources[0], turn, node->buffer + 1), to);
}

#ifdef FUZZ
static uint64_t state;

static uint32_t next(uint32_t below) {
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (uint32_t)((state * 2685821657736338717u) >> 32) % below;
}

static struct oscore client;
static struct oscore_request asked;

/* A genuine request of the client, of one of three kinds. Returns its length. */
static coap_size request(uint8_t *to) {
    uint8_t plain[64], token = (uint8_t)next(4), kind = (uint8_t)next(3);
    struct coap_writer writer;
    coap_size count = 0;

    coap_begin(&writer, plain, sizeof plain, next(4) ? COAP_CON : COAP_NON, kind == 1 ? COAP_PUT : COAP_GET,
               (uint16_t)next(65536), &token, 1);
    if (kind == 2) {
        coap_add_number(&writer, COAP_OBSERVE, next(2));
    }
    coap_add(&writer, COAP_URI_PATH, (const uint8_t *)(kind == 1 ? "led" : "temperature"),
             kind == 1 ? 3 : 11);
    if (kind == 1) {
        coap_add_payload(&writer, (const uint8_t *)"1", 1);
    }
    client.send_kept = client.send + 2;
    (void)oscore_protect(&client, &asked, plain, coap_end(&writer), to, COAP_BARE_MESSAGE_MAX, &count);
    return count;
}

/* The server's response to the node's request in `packets`, sometimes changed, and sometimes once more. */
static void respond(struct node *made, uint8_t *packets, unsigned count, uint32_t now_ms) {
    static uint8_t buffer[COAP_BARE_ROOM], plain[COAP_BARE_MESSAGE_MAX], out[32 * 255];
    struct oscore_request got;
    struct coap_message request;
    struct coap_writer writer;
    struct coap_bare up, down;
    coap_size bytes = 0;
    uint8_t event = 0, changes = next(2) ? 0 : (uint8_t)next(4),
            code = next(4) ? COAP_CONTENT : COAP_UNAUTHORIZED;

    coap_bare_begin(&up, buffer, made->in.packet_bytes, made->store.link.node, 0);
    for (unsigned i = 0; i < count; i++) {
        event = coap_bare_receive(&up, packets + i * made->in.packet_bytes, made->in.packet_bytes);
    }
    if (event != COAP_BARE_MESSAGE ||
        oscore_unprotect(&client, &got, buffer + 1, buffer[0], plain, sizeof plain, &bytes) != OSCORE_OK ||
        !coap_read(&request, plain, bytes)) {
        abort();
    }
    coap_begin(&writer, plain, sizeof plain, next(2) ? COAP_CON : COAP_NON, code, (uint16_t)next(65536),
               request.token, request.token_bytes);
    if (next(4)) {
        coap_add_number(&writer, COAP_OBSERVE, next(1 << 24));
        coap_add_number(&writer, COAP_MAX_AGE, next(100));
    } else if (next(2)) {
        coap_add(&writer, COAP_ECHO, buffer, (coap_size)next(20));
    }
    coap_add_payload(&writer, buffer, (coap_size)next(40));
    client.send_kept = client.send + 2;
    if (oscore_protect(&client, &got, plain, coap_end(&writer), buffer + 1, COAP_BARE_MESSAGE_MAX, &bytes) !=
        OSCORE_OK) {
        abort();
    }
    for (; changes > 0; changes--) {
        buffer[1 + next(bytes)] = (uint8_t)next(256);
    }
    coap_bare_begin(&down, buffer, made->in.packet_bytes, made->store.link.node, 1);
    for (uint8_t times = (uint8_t)(1 + next(2)); times > 0 && coap_bare_send(&down, (uint8_t)bytes);
         times--) {
        while (coap_bare_packet(&down, packets)) {
            (void)bed_receive(made, packets, made->in.packet_bytes, now_ms, out, &event);
        }
    }
}

int main(int words, char **word) {
    static struct node made;
    static uint8_t storage[STORED], out[32 * 255], packets[32 * 255];
    unsigned long runs, messages = 0, broken = 0, answers = 0, before, doubled = 0, served = 0, taken = 0;

    if (words != 4) {
        return 2;
    }
    FILE *file = fopen(word[3], "rb");
    if (file == 0 || fread(storage, 1, sizeof storage, file) != sizeof storage) {
        return 2;
    }
    fclose(file);
    state = strtoull(word[1], 0, 10) * 2 + 1;
    runs = strtoul(word[2], 0, 10);
    if (bed_start(&made, storage, 1) != LINK_NOTHING) {
        return 3;
    }
    client = made.store.oscore;
    client.receive_kept = 0xFFFFFFFF; /* only the node has storage */
    memcpy(client.sender_key, made.store.oscore.recipient_key, OSCORE_KEY_BYTES);
    memcpy(client.recipient_key, made.store.oscore.sender_key, OSCORE_KEY_BYTES);
    client.sender_id[0] = made.store.oscore.recipient_id[0];
    client.recipient_id[0] = made.store.oscore.sender_id[0];
    for (unsigned long run = 0; run < runs; run++) {
        static uint8_t buffer[COAP_BARE_ROOM];
        struct coap_bare down;
        uint8_t changes = next(4) ? (uint8_t)next(4) : 0, again = (uint8_t)(1 + (next(8) == 0)), turn = 0;
        unsigned count = 0;
        coap_size bytes = request(buffer + 1);

        if (next(8) == 0) { /* anything at all, in a sound frame */
            bytes = (coap_size)(1 + next(COAP_BARE_MESSAGE_MAX));
            for (coap_size i = 0; i < bytes; i++) {
                buffer[1 + i] = (uint8_t)next(256);
            }
            buffer[1] = (uint8_t)(0x40 | (buffer[1] & 0x3F));
        } else {
            for (; changes > 0; changes--) {
                buffer[1 + next(bytes)] = (uint8_t)next(256);
            }
        }
        coap_bare_begin(&down, buffer, made.in.packet_bytes, made.store.link.node, 1);
        down.number = (uint8_t)next(8);
        if (!coap_bare_send(&down, (uint8_t)bytes)) {
            abort();
        }
        while (coap_bare_packet(&down, packets + count * made.in.packet_bytes)) {
            count++;
        }
        before = made.served;
        for (; again > 0; again--) {
            for (unsigned i = 0; i < count; i++) {
                uint8_t *packet = malloc(made.in.packet_bytes),
                        event; /* so that each byte behind it is noticed */

                memcpy(packet, packets + i * made.in.packet_bytes, made.in.packet_bytes);
                if (next(50) == 0) {
                    packet[next(made.in.packet_bytes)] = (uint8_t)next(256);
                }
                if (next(60) != 0) {
                    answers += bed_receive(&made, packet, made.in.packet_bytes, (uint32_t)run * 10000, out,
                                           &event) > 0;
                    messages += event == COAP_BARE_MESSAGE;
                    broken += event == COAP_BARE_BROKEN;
                }
                free(packet);
            }
        }
        served += made.served - before;
        if (made.served > before + 1) {
            doubled++; /* one request was done twice */
        }
        count = bed_poll(&made, (uint32_t)run * 10000, out);
        if (count > 0) {
            before = made.taken;
            respond(&made, out, count, (uint32_t)run * 10000);
            taken += made.taken - before;
        }
        if (next(16) == 0) {
            (void)bed_notify(&made, &turn, out);
        }
        if (next(1000) == 0) { /* a loss of power */
            memcpy(storage, made.storage, sizeof storage);
            if (bed_start(&made, storage, 1) != LINK_NOTHING) {
                abort();
            }
        }
    }
    printf("%lu messages, %lu broken, %lu answered, %lu served, %lu taken, %lu doubled\n", messages, broken,
           answers, served, taken, doubled);
    return doubled > 0;
}
#endif
