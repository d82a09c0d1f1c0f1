/* mote.h: what a mote's program needs of its board, beside hal.h. A board's source (uno.c) defines these. */
#ifndef MOTECRYPT_MOTE_H
#define MOTECRYPT_MOTE_H

#include <stdint.h>

/* Bring up the UART to the radio (115200 8N1) and the sensor. */
void mote_init(void);

/* Write one byte to the radio; waits until there is room. */
void mote_write(uint8_t byte);

/* Read one byte from the radio; -1 when none came within `milliseconds`. */
int16_t mote_read(uint16_t milliseconds);

/* Do nothing for a while; bytes that come meanwhile may be lost. */
void mote_wait(uint16_t milliseconds);

/* The sensor's value, in tenths of a degree Celsius. */
int16_t mote_temperature(void);

/* Memory that outlives a loss of power, of LINK_STORAGE_BYTES. */
uint8_t mote_load(uint8_t at);
void mote_store(uint8_t at, uint8_t byte);

#endif
