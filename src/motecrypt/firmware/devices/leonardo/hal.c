/* hal.c for the Arduino Leonardo: ATmega32U4 at 16 MHz. Datasheet: Atmel-7766. Its serial line is USART 1, at the
 * board's pins 0 and 1; USB is not used. */
#define HAL_USART 1
#define HAL_BLOCK 16
#include "hal_avr.h"
