/* Arduino.h: what a sketch with the link uses of Arduino's core, for a computer; thermometer_play.cpp has it. */
#ifndef NATIVE_ARDUINO_H
#define NATIVE_ARDUINO_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif
unsigned long millis(void);
void delay(unsigned long milliseconds);
int analogRead(int pin);
#ifdef __cplusplus
}

enum { A0 = 14 };

struct HardwareSerial {
    void begin(unsigned long baud);
    int available();
    int read();
    size_t write(const uint8_t *bytes, size_t count);
};
extern HardwareSerial Serial;
#endif

#endif
