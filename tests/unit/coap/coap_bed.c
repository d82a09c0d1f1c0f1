/* coap_bed.c: a node's CoAP codec and server for tests: as a library for Python, or, with FUZZ, as a program
 * that feeds it hostile messages, each in memory of just its length: SEED RUNS. */
#include "server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_BYTES = 300 };

static uint8_t led[4], led_bytes, stored[512];
static coap_size stored_bytes;

static uint8_t get_temperature(struct coap_server *server, uint16_t at, uint8_t *to, coap_size room,
                               coap_size *bytes) {
    static const char text[] = "+21.4C";

    (void)server;
    *bytes = at < 6 ? (coap_size)(6 - at) : 0;
    *bytes = *bytes < room ? *bytes : room;
    memcpy(to, text + (at < 6 ? at : 6), *bytes);
    return at + *bytes < 6;
}

static uint8_t get_led(struct coap_server *server, uint16_t at, uint8_t *to, coap_size room,
                       coap_size *bytes) {
    (void)server;
    (void)room;
    *bytes = at == 0 ? led_bytes : 0;
    memcpy(to, led, *bytes);
    return 0;
}

static uint8_t put_led(struct coap_server *server, uint8_t method, uint16_t at, const uint8_t *from,
                       coap_size bytes, uint8_t more) {
    (void)server;
    if (method != COAP_PUT || at != 0 || more || bytes > sizeof led) {
        return COAP_BAD_REQUEST;
    }
    memcpy(led, from, bytes);
    led_bytes = (uint8_t)bytes;
    return COAP_CHANGED;
}

static uint8_t get_text(struct coap_server *server, uint16_t at, uint8_t *to, coap_size room,
                        coap_size *bytes) {
    (void)server;
    *bytes = 0;
    for (; at < TEXT_BYTES && *bytes < room; at++) {
        to[(*bytes)++] = (uint8_t)('0' + at % 75);
    }
    return at < TEXT_BYTES;
}

static uint8_t put_store(struct coap_server *server, uint8_t method, uint16_t at, const uint8_t *from,
                         coap_size bytes, uint8_t more) {
    (void)server;
    (void)more;
    if (at + bytes > sizeof stored) {
        return COAP_TOO_LARGE;
    }
    memcpy(stored + at, from, bytes);
    stored_bytes = (coap_size)(at + bytes);
    return method == COAP_POST ? COAP_CREATED : COAP_CHANGED;
}

static const struct coap_resource resources[] = {
    {"temperature", get_temperature, 0, 1},
    {"led", get_led, put_led, 0},
    {"a/text", get_text, 0, 1},
    {"store", 0, put_store, 0},
};
static struct coap_server server;

void bed_begin(void) {
    coap_server_begin(&server, resources, sizeof resources / sizeof *resources, 1000);
    led_bytes = 0;
    stored_bytes = 0;
}

uint16_t bed_serve(const uint8_t *message, uint16_t bytes, uint8_t *to, uint16_t room) {
    return coap_serve(&server, message, bytes, to, room);
}

uint16_t bed_notify(uint8_t resource, uint8_t *turn, uint8_t *to, uint16_t room) {
    return coap_notify(&server, &resources[resource], turn, to, room);
}

uint16_t bed_stored(uint8_t *to) {
    memcpy(to, stored, stored_bytes);
    return stored_bytes;
}

/* Reads a message and writes it again; 0 if it is not a message. */
uint16_t bed_again(const uint8_t *bytes, uint16_t count, uint8_t *to, uint16_t room) {
    struct coap_message message;
    struct coap_writer writer;
    struct coap_option option, found;
    uint16_t last = 0;

    if (!coap_read(&message, bytes, count)) {
        return 0;
    }
    coap_begin(&writer, to, room, message.kind, message.code, message.mid, message.token,
               message.token_bytes);
    coap_first(&option, &message);
    while (coap_next(&option)) {
        if (option.number > 0 &&
            (!coap_find(&found, &message, option.number) || found.number != option.number)) {
            abort();
        }
        last = option.number;
        (void)coap_number(&option);
        coap_add(&writer, option.number, option.value, option.bytes);
    }
    if (last < UINT16_MAX && coap_find(&found, &message, (uint16_t)(last + 1))) {
        abort(); /* they come in the order of their numbers: there is none */
    }
    coap_add_payload(&writer, message.payload, message.payload_bytes);
    return coap_end(&writer);
}

uint16_t bed_number(uint16_t option, uint32_t value, uint8_t *to, uint16_t room) {
    struct coap_writer writer;

    coap_begin(&writer, to, room, COAP_NON, COAP_GET, 0, 0, 0);
    coap_add_number(&writer, option, value);
    return coap_end(&writer);
}

#ifdef FUZZ
static uint64_t state;

static uint32_t next(uint32_t below) { /* xorshift64*; Vigna, "An experimental exploration of Marsaglia's
                                          xorshift generators, scrambled", 2016 */
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (uint32_t)((state * 2685821657736338717u) >> 32) % below;
}

static uint16_t made(uint8_t *to) {
    static const uint16_t numbers[] = {3,  6,  7,  9,  11, 11, 11,  12,   14,   15,
                                       16, 17, 23, 23, 27, 27, 258, 2000, 65535};
    static const char *const paths[] = {"temperature", "led",         "a",    "text",
                                        "store",       ".well-known", "core", ""};
    struct coap_writer writer;
    uint8_t token[8] = {1, 2, 3, 4, 5, 6, 7, 8}, value[40];
    uint16_t bytes, number = 0;

    coap_begin(&writer, to, 400, (uint8_t)next(4), (uint8_t)(next(4) ? next(5) : next(256)),
               (uint16_t)next(1100), token, (uint8_t)next(9));
    if (next(8) == 0) { /* whole, and what leads deepest */
        to[1] = COAP_GET;
        coap_add_number(&writer, COAP_OBSERVE, next(4) == 0);
        coap_add(&writer, number = COAP_URI_PATH, (const uint8_t *)paths[0], 11);
    }
    for (uint32_t left = next(6); left > 0; left--) {
        uint16_t drawn = numbers[next(sizeof numbers / sizeof *numbers)];

        number = drawn > number ? drawn : number;
        if (number == COAP_URI_PATH) {
            const char *path = paths[next(8)];
            coap_add(&writer, number, (const uint8_t *)path, (coap_size)strlen(path));
        } else if (number > 0) {
            uint16_t length = (uint16_t)next(next(8) ? 4 : 40);
            for (uint16_t i = 0; i < length; i++) {
                value[i] = (uint8_t)next(256);
            }
            coap_add(&writer, number, value, length);
        }
    }
    for (uint8_t i = 0; i < sizeof value; i++) {
        value[i] = (uint8_t)next(256);
    }
    coap_add_payload(&writer, value, (coap_size)next(sizeof value + 1));
    bytes = coap_end(&writer);
    for (uint32_t left = next(4); left > 0 && bytes > 0; left--) {
        to[next(bytes)] = (uint8_t)next(256);
    }
    return next(4) || bytes == 0 ? bytes : (uint16_t)next(bytes);
}

int main(int count, char **words) {
    static uint8_t message[400];
    unsigned long runs, answered = 0, taken = 0, notified = 0;

    if (count != 3) {
        return 2;
    }
    state = strtoull(words[1], 0, 10) * 2 + 1;
    runs = strtoul(words[2], 0, 10);
    bed_begin();
    for (unsigned long run = 0; run < runs; run++) {
        uint16_t bytes = made(message), room = (uint16_t)(next(4) ? 88 : next(200)), again;
        uint8_t *given = malloc(bytes), *to = malloc(room), *copy = malloc(bytes), turn = 0;

        memcpy(given, message, bytes);
        again = bed_again(given, bytes, copy, bytes);
        taken += again > 0;
        if (again > bytes || bed_serve(given, bytes, to, room) > room) {
            abort();
        }
        answered += bed_serve(given, bytes, to, room) > 0;
        notified += bed_notify((uint8_t)(next(2) * 2), &turn, to, room) > 0;
        free(given);
        free(copy);
        free(to);
    }
    printf("%lu taken, %lu answered, %lu notified\n", taken, answered, notified);
    return 0;
}
#endif
