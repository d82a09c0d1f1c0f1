/* hal.c for the ATmega8 at 8 MHz, its internal oscillator. Datasheet: Microchip 2486. It has no register without any
 * effect: TWI is off here, and so is timer 2, and their registers only hold what is written. */
#define HAL_MARK TWBR
#define HAL_SIMULATED TWAR
#define HAL_PAINTED OCR2
#include "hal_avr.h"
