/* core_driver.c: the link's core as a computer loads it from a file: `core_driver CORE < calls`.
 *
 * A line of input is a call, its bytes in hex: `k` and a key with use, node, generation and epoch: derive; `m` and
 * what storage holds: begin; `s`, how, and a message: send; `r` and a packet: receive; `a` and whether the message
 * was taken: answer. A line of output: event, the packets that were sent (each after its length), the message.
 */
#include "native.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *core;

static void *named(const char *name) {
    void *found = dlsym(core, name);
    if (found == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        exit(3);
    }
    return found;
}

#define CALL(result, name, ...) result (*name)(__VA_ARGS__) = (result (*)(__VA_ARGS__))named(#name)

static uint8_t bytes[4096];

static size_t parse(const char *hex) {
    size_t count = 0;
    unsigned value;
    while (sscanf(hex, "%2x", &value) == 1) {
        bytes[count++] = (uint8_t)value;
        hex += 2;
    }
    return count;
}

static void print(const uint8_t *from, size_t count) {
    putchar(' ');
    for (size_t i = 0; i < count; i++) {
        printf("%02x", from[i]);
    }
}

int main(int argc, char **argv) {
    static char line[8300];
    const uint8_t *at;
    struct port *port;
    core = argc == 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
    if (core == NULL) {
        fprintf(stderr, "%s\n", argc == 2 ? dlerror() : "usage: core_driver CORE");
        return 2;
    }
    CALL(uint8_t, port_begin, struct port *, uint16_t);
    CALL(uint8_t, port_send, struct port *, const uint8_t *, uint16_t, uint8_t);
    CALL(uint8_t, link_receive, struct link *, const uint8_t *, uint8_t);
    CALL(void, link_answer, struct link *, uint8_t);
    CALL(uint32_t, port_sent, struct port *, const uint8_t **);
    CALL(uint32_t, port_message, struct port *, const uint8_t **);
    CALL(void, port_derive, uint8_t *, uint8_t, uint8_t, uint16_t, uint32_t);
    if (*(const size_t *)named("port_bytes") != sizeof *port || (port = calloc(1, sizeof *port)) == NULL) {
        fputs("another size\n", stderr);
        return 3;
    }
    while (fgets(line, sizeof line, stdin) != NULL) {
        size_t count = parse(line + 1);
        uint8_t event = 0;
        switch (line[0]) {
        case 'k':
            port_derive(bytes, bytes[16], bytes[17], (uint16_t)(bytes[18] | bytes[19] << 8),
                        bytes[20] | (uint32_t)bytes[21] << 8 | (uint32_t)bytes[22] << 16 |
                            (uint32_t)bytes[23] << 24);
            break;
        case 'm':
            memset(port, 0, sizeof *port);
            memcpy(port->storage, bytes, sizeof port->storage);
            event = port_begin(port, 250);
            break;
        case 's':
            event = port_send(port, bytes + 1, (uint16_t)(count - 1), bytes[0]);
            break;
        case 'r':
            event = link_receive(&port->link, bytes, (uint8_t)count);
            break;
        default:
            link_answer(&port->link, bytes[0]);
        }
        printf("%u", event);
        count = port_sent(port, &at);
        print(at, count);
        if (line[0] == 'k') {
            print(bytes, 16);
        } else {
            count = event == LINK_MESSAGE || event == LINK_FILE_PART ? port_message(port, &at) : 0;
            print(at, count);
        }
        putchar('\n');
        fflush(stdout);
    }
    return 0;
}
