/* hal.c for the ATtiny84 at 8 MHz, its internal oscillator. Datasheet: Microchip ATtiny24/44/84 8006K. It has no USART: bytes go
 * through the data register of the USI, which is off, in a simulator only. */
#define HAL_LINE USIDR
#include "hal_avr.h"
