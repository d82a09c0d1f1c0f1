/* node.h: what the paper's node needs of its board, on top of hal.h. A board's source (uno.c) defines these.
 * */
#ifndef MOTECRYPT_NODE_H
#define MOTECRYPT_NODE_H

#include <stdint.h>

/* Bring up the UART to the radio (115200 8N1) and the sensor. */
void node_init(void);

/* Write one byte to the radio; waits until there is room. */
void node_write(uint8_t byte);

/* Do nothing for a while. */
void node_wait(uint16_t milliseconds);

/* The sensor's value, in tenths of a degree Celsius. */
int16_t node_temperature(void);

#endif
