/* hal.c for the ATmega128RFA1 at 16 MHz. Datasheet: Microchip 8266. */
#define HAL_BLOCK 72
#include "hal_avr.h"
