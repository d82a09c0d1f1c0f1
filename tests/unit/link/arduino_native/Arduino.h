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
void pinMode(uint8_t pin, uint8_t mode);
void digitalWrite(uint8_t pin, uint8_t level);
#ifdef __cplusplus
}

enum { LED_BUILTIN = 13, A0 = 14 };
enum { LOW, HIGH };
enum { INPUT, OUTPUT };

class __FlashStringHelper; /* a string in flash; here it is where all is */
#define F(text) (reinterpret_cast<const __FlashStringHelper *>(text))

struct HardwareSerial {
    void begin(unsigned long baud);
    int available();
    int read();
    size_t write(const uint8_t *bytes, size_t count);
    size_t println(const __FlashStringHelper *text);
};
extern HardwareSerial Serial;
#endif

#endif
