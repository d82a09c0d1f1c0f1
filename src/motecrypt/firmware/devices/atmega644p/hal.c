/* hal.c for the ATmega644P at 16 MHz. Datasheet: Microchip 8011Q. */
#define HAL_BLOCK 24
#include "hal_avr.h"
