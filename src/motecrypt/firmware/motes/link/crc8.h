/* crc8.h: CRC-8, polynomial 0x07, start 0; bit by bit, since a frame's 11 bytes need no table. */
#ifndef MOTECRYPT_CRC8_H
#define MOTECRYPT_CRC8_H

#include <stdint.h>

static inline uint8_t crc8(const uint8_t *data, uint8_t bytes) {
    uint8_t crc = 0;

    while (bytes-- > 0) {
        crc ^= *data++;
        for (uint8_t bit = 0; bit < 8; bit++) {
            crc = (uint8_t)(crc & 0x80 ? crc << 1 ^ 0x07 : crc << 1);
        }
    }
    return crc;
}

#endif
