/* hal.c for the ATtiny85 at 8 MHz, its internal oscillator. Datasheet: Microchip ATtiny25/45/85 2586Q. It has no USART: bytes go
 * through the data register of the USI, which is off, in a simulator only. */
#define HAL_LINE USIDR
#include "hal_avr.h"
