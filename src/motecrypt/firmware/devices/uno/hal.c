/* hal.c for the Arduino UNO: ATmega328P at 16 MHz. Datasheet: Microchip DS40002061B; its GPIORs, registers without
 * effect, are in 8.5.1. */
#include "hal_avr.h"
