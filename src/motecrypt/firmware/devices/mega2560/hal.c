/* hal.c for the Arduino Mega 2560: ATmega2560 at 16 MHz. Datasheet: Microchip DS40002211A. */
#define HAL_BLOCK 40
#include "hal_avr.h"
