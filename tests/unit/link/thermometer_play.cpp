/* thermometer_play.cpp: the exported sketch Thermometer with the link's core, and a board that plays a script.
 *
 * Arguments: the storage in hexadecimal, 188 bytes; the temperature in tenths; then what comes: a number is so many
 * milliseconds of silence, x and hexadecimal are bytes, 11 in a millisecond. It ends after the script, or after
 * WAITS waits: a sketch that halts never stops waiting.
 * Printed are, each in a line: the bytes that are sent by one turn of the sketch's loop, text, levels of the LED, waits,
 * and at the end the storage. */
#include <Arduino.h>
#include <avr/eeprom.h>

#include <stdio.h>
#include <stdlib.h>

#include SKETCH

enum { STORAGE_BYTES = 188, BYTES_A_MS = 11, WAITS = 3 };

HardwareSerial Serial;
static uint8_t storage[STORAGE_BYTES];
static unsigned long now_ms;
static int temperature_tenths, sending, coming = -1, waits, led_mode = INPUT;

static void tell_end() {
    printf("\nkept ");
    for (int i = 0; i < STORAGE_BYTES; i++) {
        printf("%02x", storage[i]);
    }
    printf("\n");
    exit(0);
}

void HardwareSerial::begin(unsigned long baud) {
    if (baud != 115200) {
        printf("\nbaud %lu", baud);
    }
}

int HardwareSerial::available() {
    return coming >= 0;
}

int HardwareSerial::read() {
    int byte = coming;

    coming = -1;
    return byte;
}

size_t HardwareSerial::write(const uint8_t *bytes, size_t count) {
    for (size_t i = 0; i < count; i++) {
        printf(sending ? "%02x" : "\nsend %02x", bytes[i]);
        sending = 1;
    }
    return count;
}

size_t HardwareSerial::println(const __FlashStringHelper *text) {
    return (size_t)printf("\nsay %s", reinterpret_cast<const char *>(text));
}

void pinMode(uint8_t pin, uint8_t mode) {
    if (pin == LED_BUILTIN) {
        led_mode = mode;
    }
}

void digitalWrite(uint8_t pin, uint8_t level) {
    if (pin == LED_BUILTIN && led_mode == OUTPUT) {
        printf("\nLED %u", level);
    }
}

unsigned long millis() {
    return now_ms;
}

void delay(unsigned long milliseconds) {
    printf("\nwait %lu", milliseconds);
    if (++waits == WAITS) {
        tell_end();
    }
}

int analogRead(int) {
    return temperature_tenths;
}

void eeprom_read_block(void *to, const void *from, size_t bytes) {
    memcpy(to, storage + (uintptr_t)from, bytes);
}

void eeprom_update_block(const void *from, void *to, size_t bytes) {
    memcpy(storage + (uintptr_t)to, from, bytes);
}

static void turn() {
    loop();
    sending = 0;
}

static void play(const char *what) {
    unsigned byte;
    int in_ms = 0;

    if (*what != 'x') {
        for (int left = atoi(what); left > 0; left--) {
            now_ms++;
            turn();
        }
        return;
    }
    for (what++; sscanf(what, "%2x", &byte) == 1; what += 2) {
        coming = (int)byte;
        now_ms += ++in_ms == BYTES_A_MS;
        in_ms %= BYTES_A_MS;
        turn();
    }
}

int main(int argc, char **argv) {
    for (int i = 0; i < STORAGE_BYTES; i++) {
        unsigned byte = 0;

        sscanf(argv[1] + 2 * i, "%2x", &byte);
        storage[i] = (uint8_t)byte;
    }
    temperature_tenths = atoi(argv[2]);
    setup();
    sending = 0;
    for (int i = 3; i < argc; i++) {
        play(argv[i]);
    }
    tell_end();
}
