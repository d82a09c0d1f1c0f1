/* hal.c for the ATmega1284P at 16 MHz. Datasheet: Microchip DS40002070A. */
#define HAL_BLOCK 72
#include "hal_avr.h"
