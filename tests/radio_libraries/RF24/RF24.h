/* RF24.h: an nRF24L01+ as the library RF24 drives it. Product specification 1.0, tables 28 and 20, section 7.4. */
#ifndef RF24_MODEL_H
#define RF24_MODEL_H

#include <Arduino.h>

enum rf24_datarate_e { RF24_1MBPS, RF24_2MBPS, RF24_250KBPS };

class RF24 {
    uint8_t enAa = 0x3f, dynpd = 0, rate = RF24_1MBPS, tries = 0;
    bool enDpl = false, enDynAck = false, listening = false;

    void rules() const {
        if ((dynpd & ~enAa) != 0)
            Serial.println(F("broken: DYNPD needs EN_AA on the same pipe"));
        if (dynpd != 0 && !enDpl)
            Serial.println(F("broken: DYNPD needs EN_DPL"));
        if (rate != RF24_2MBPS)
            Serial.println(F("broken: the figures are those of 2 Mbps"));
    }

  public:
    RF24(uint16_t, uint16_t) {
    }
    bool begin() {
        return tries++ > 0;
    }
    bool isChipConnected() {
        return tries > 1;
    }
    void setChannel(uint8_t) {
    }
    void setDataRate(rf24_datarate_e to) {
        rate = to;
    }
    void setAutoAck(bool on) {
        enAa = on ? 0x3f : 0;
    }
    void enableDynamicPayloads() {
        dynpd = 0x3f, enDpl = true;
    }
    void enableDynamicAck() {
        enDynAck = true;
    }
    void openWritingPipe(const uint8_t *) {
    }
    void openReadingPipe(uint8_t, const uint8_t *) {
    }
    void startListening() {
        rules(), listening = true;
    }
    void stopListening() {
        listening = false;
    }
    bool available() {
        return false;
    }
    uint8_t getDynamicPayloadSize() {
        return 0;
    }
    void read(void *, uint8_t) {
    }

    bool writeFast(const void *buffer, uint8_t bytes, bool noAck) {
        return write(buffer, bytes, noAck);
    }
    bool txStandBy(uint32_t) {
        return true;
    }

    bool write(const void *buffer, uint8_t bytes, bool noAck = false) {
        const uint8_t *from = static_cast<const uint8_t *>(buffer);

        rules();
        if (listening)
            Serial.println(F("broken: it sends while it listens"));
        if (noAck && !enDynAck)
            Serial.println(F("broken: W_TX_PAYLOAD_NOACK needs EN_DYN_ACK"));
        if (!noAck && enAa != 0)
            Serial.println(F("broken: all nodes at the address would acknowledge at once"));
        if (bytes > 32)
            Serial.println(F("broken: a payload has at most 32 bytes"));
        Serial.print(F("sent "));
        while (bytes-- > 0) {
            Serial.print(*from >> 4, HEX);
            Serial.print(*from++ & 15, HEX);
        }
        Serial.println();
        return true;
    }
};

#endif
