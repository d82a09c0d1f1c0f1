/* mote.h: what the paper's mote needs of its board, on top of hal.h. A board's source (uno.c) defines these.
 * */
#ifndef MOTECRYPT_MOTE_H
#define MOTECRYPT_MOTE_H

#include <stdint.h>

/* Bring up the UART to the radio (115200 8N1) and the sensor. */
void mote_init(void);

/* Write one byte to the radio; waits until there is room. */
void mote_write(uint8_t byte);

/* Do nothing for a while. */
void mote_wait(uint16_t milliseconds);

/* The sensor's value, in tenths of a degree Celsius. */
int16_t mote_temperature(void);

#endif
