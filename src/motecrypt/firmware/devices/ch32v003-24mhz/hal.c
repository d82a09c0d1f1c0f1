/* hal.c: CH32V003 at 24 MHz: the flash has no wait state. It does not depend on the cipher. */
#define CLOCK_HZ 24000000u
#include "hal_ch32v003.h"
