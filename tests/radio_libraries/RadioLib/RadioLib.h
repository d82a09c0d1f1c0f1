/* RadioLib.h: RFM69 and SX1276 as the library RadioLib drives them. */
#ifndef RADIOLIB_MODEL_H
#define RADIOLIB_MODEL_H

#include <Arduino.h>

enum { RADIOLIB_ERR_NONE = 0, RADIOLIB_ERR_CHIP_NOT_FOUND = -2 };

struct Module {
    Module(uint32_t, uint32_t, uint32_t, uint32_t) {
    }
};

class PacketRadio {
    uint8_t tries = 0, most;

  protected:
    explicit PacketRadio(uint8_t longest) : most(longest) {
    }
    int16_t there() {
        return tries++ > 0 ? RADIOLIB_ERR_NONE : RADIOLIB_ERR_CHIP_NOT_FOUND;
    }

    static void rule(bool kept, const __FlashStringHelper *what) {
        if (!kept)
            Serial.println(what);
    }

  public:
    int16_t startReceive() {
        return RADIOLIB_ERR_NONE;
    }
    void setPacketReceivedAction(void (*)()) {
    }
    size_t getPacketLength() {
        return 0;
    }
    int16_t readData(uint8_t *, size_t) {
        return RADIOLIB_ERR_NONE;
    }

    int16_t transmit(const uint8_t *data, size_t bytes) {
        rule(bytes <= most, F("broken: the packet is longer than the chip's memory"));
        Serial.print(F("sent "));
        while (bytes-- > 0) {
            Serial.print(*data >> 4, HEX);
            Serial.print(*data++ & 15, HEX);
        }
        Serial.println();
        return RADIOLIB_ERR_NONE;
    }
};

/* HopeRF RFM69 data sheet 1.1 (the SX1231): 3.3.2 and 3.4.6; a FIFO of 66 bytes, of which the library leaves 64. */
class RF69 : public PacketRadio {
  public:
    RF69(Module *) : PacketRadio(64) {
    }

    int16_t begin(float, float kbaud = 4.8f, float deviation = 5, float receiver = 125, int8_t = 10,
                  uint8_t preamble = 16) {
        rule(deviation + kbaud / 2 <= 500,
             F("broken: deviation and half the bit rate together are at most 500 kHz"));
        rule(2 * deviation / kbaud >= 0.5f && 2 * deviation / kbaud <= 10,
             F("broken: the modulation index is 0.5 to 10"));
        rule(receiver >= deviation + kbaud / 2, F("broken: the receiver is narrower than the signal"));
        rule(receiver <= 500, F("broken: the receiver has at most 500 kHz"));
        rule(kbaud == 250 && preamble == 32,
             F("broken: the figures are those of 250 kBaud and 4 bytes of preamble"));
        return there();
    }
};

/* Semtech SX1276 data sheet, 4.1.1: spreading factor 6 needs the implicit header. */
class SX1276 : public PacketRadio {
  public:
    SX1276(Module *) : PacketRadio(255) {
    }

    int16_t begin(float, float khz = 125, uint8_t factor = 9, uint8_t rate = 7) {
        rule(factor >= 7 && factor <= 12, F("broken: with a header the spreading factor is 7 to 12"));
        rule(khz == 125 && factor == 9 && rate == 5, F("broken: the figures are those of 125 kHz, SF9, 4/5"));
        return there();
    }
};

#endif
