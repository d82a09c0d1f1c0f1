/* sensor_play.c: the sensor mote's program with the link's core, and a board that plays a script.
 *
 * Arguments: the storage in hexadecimal, 188 bytes; the temperature in tenths; then what comes: a number is so many
 * milliseconds of silence, x and hexadecimal are bytes. Behind the script all ends. Told are, each in a line: bytes
 * that are sent between two looks at the line, waits, and at the end the storage. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define main sensor_main
#include "sensor.c"
#undef main

enum { STORAGE_BYTES = 188 };

static uint8_t storage[STORAGE_BYTES];
static char **script;
static int temperature, sending;
static unsigned quiet_ms;

static void tell_end(void) {
    printf("\nkept ");
    for (int i = 0; i < STORAGE_BYTES; i++) {
        printf("%02x", storage[i]);
    }
    printf("\n");
    exit(0);
}

void mote_init(void) {
}

void mote_write(uint8_t byte) {
    printf(sending ? "%02x" : "\nsend %02x", byte);
    sending = 1;
}

int16_t mote_read(uint16_t milliseconds) {
    if (milliseconds != 1) {
        printf("\nread %u", milliseconds);
    }
    for (;;) {
        if (quiet_ms > 0) {
            quiet_ms--;
            sending = 0;
            return -1;
        }
        if (*script == NULL) {
            tell_end();
        }
        if (**script != 'x') {
            quiet_ms = (unsigned)atoi(*script++);
            continue;
        }
        if ((*script)[1] != 0) {
            unsigned byte;

            sscanf(*script + 1, "%2x", &byte);
            memmove(*script + 1, *script + 3, strlen(*script + 3) + 1);
            sending = 0;
            return (int16_t)byte;
        }
        script++;
    }
}

void mote_wait(uint16_t milliseconds) {
    static int waits;

    printf("\nwait %u", milliseconds);
    if (++waits == 3) {
        tell_end();
    }
}

int16_t mote_temperature(void) {
    return (int16_t)temperature;
}

uint8_t mote_load(uint8_t at) {
    return storage[at];
}

void mote_store(uint8_t at, uint8_t byte) {
    storage[at] = byte;
}

int main(int argc, char **argv) {
    (void)argc;
    for (int i = 0; i < STORAGE_BYTES; i++) {
        unsigned byte;

        sscanf(argv[1] + 2 * i, "%2x", &byte);
        storage[i] = (uint8_t)byte;
    }
    temperature = atoi(argv[2]);
    script = argv + 3;
    return sensor_main();
}
