/* hal.c: CH32V003 at 48 MHz: the flash has one wait state. It does not depend on the cipher. */
#define CLOCK_HZ 48000000u
#include "hal_ch32v003.h"
