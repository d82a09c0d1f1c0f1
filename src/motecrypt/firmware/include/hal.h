/* hal.h: the one contract between a device and the benchmark firmware. Ciphers never include it. */
#ifndef MOTECRYPT_HAL_H
#define MOTECRYPT_HAL_H

#include <stdint.h>

/* Bring up the clock, the UART (115200 baud, 8N1) and the cycle timer. */
void hal_init(void);

/* Read one byte from the UART; waits until there is one. */
uint8_t hal_read(void);

/* Write one byte to the UART; waits until there is room. */
void hal_write(uint8_t byte);

/* Inform a simulator that a timed region begins (1) or ends (0). On a real board: a harmless store. */
void hal_mark(uint8_t begins);

/* The device's own timer, in CPU cycles since hal_timer_start; saturates at 2^32 - 1. */
void hal_timer_start(void);
uint32_t hal_timer_cycles(void);

/* Paint the unused stack below the caller, and count the bytes that have been overwritten since. */
void hal_stack_paint(void);
uint32_t hal_stack_depth(void);

/* CPU cycles a second, as configured by hal_init. */
uint32_t hal_clock_hz(void);

#endif
