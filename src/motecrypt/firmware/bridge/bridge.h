/* bridge.h: a board with a radio as a computer's radio: packets in frames on its serial line (docs/formats.md).
 *
 * The program calls bridge_byte for each byte that the line brings, bridge_received for each packet, and bridge_poll as
 * often as it can; it has the four functions at the end.
 */
#ifndef MOTECRYPT_BRIDGE_H
#define MOTECRYPT_BRIDGE_H

#include <stdint.h>

/* What an exported program has of the numbers below. */
#ifdef __has_include
#if __has_include("bridge_options.h")
#include "bridge_options.h"
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* A program may define these before: bytes of its radio's longest packet, up to 255, and packets held. */
#ifndef BRIDGE_PACKET_MAX
#define BRIDGE_PACKET_MAX 255
#endif
#ifndef BRIDGE_PACKET_MIN
#define BRIDGE_PACKET_MIN 1
#endif
#ifndef BRIDGE_QUEUE
#define BRIDGE_QUEUE 4
#endif
/* The share of the time that it may send, of 1,000. */
#ifndef BRIDGE_DUTY
#define BRIDGE_DUTY 1000
#endif

enum { BRIDGE_UNKNOWN = 127, BRIDGE_FAULT = 0xffff };

struct bridge {
    const char *radio; /* its name in `motecrypt list radios` */
    uint8_t channel, reset;
    uint8_t lost; /* packets that came and could not be handed over since the last that could */

    uint8_t frame[3 + BRIDGE_PACKET_MAX + 2]; /* without escapes */
    uint16_t bytes;                           /* of it; 0xffff: it is too long */
    uint8_t escaped;

    uint8_t packet[BRIDGE_QUEUE][BRIDGE_PACKET_MAX];
    uint8_t length[BRIDGE_QUEUE], sequence[BRIDGE_QUEUE];
    uint32_t since[BRIDGE_QUEUE]; /* when each was taken */
    uint8_t first, count;
    uint32_t sent_at, rest; /* it rests until `rest` ms after that time */
};

/* Greet. `reset`: why the board started, if it knows: 1 power, 2 reset pin, 3 watchdog, 4 brown-out; else 0. */
void bridge_begin(struct bridge *bridge, const char *radio, uint8_t channel, uint8_t reset);

/* A byte from the computer. */
void bridge_byte(struct bridge *bridge, uint8_t byte);

/* A packet from the radio. `rssi` in dBm and `snr` in quarters of a dB, or BRIDGE_UNKNOWN. */
void bridge_received(struct bridge *bridge, const uint8_t *packet, uint8_t bytes, int8_t rssi, int8_t snr);

/* Report to the computer that the radio does not answer. */
void bridge_fault(void);

/* Send the packet whose turn it is, if it may. */
void bridge_poll(struct bridge *bridge);

/* What the program has. */

/* Milliseconds since the start. */
uint32_t bridge_clock(void);
/* A byte to the computer. */
void bridge_write(uint8_t byte);
/* Whether the line takes so many bytes now, without waiting. */
uint8_t bridge_takes(uint16_t bytes);
/* Send a packet and wait until it has left: the ms it was on the air, rounded up, or BRIDGE_FAULT. */
uint16_t bridge_transmit(const uint8_t *packet, uint8_t bytes);

#ifdef __cplusplus
}
#endif

#endif
