/* hal.c for the Arduino Nano: ATmega328P at 16 MHz. Datasheet: Microchip DS40002061B. */
#include "hal_avr.h"
