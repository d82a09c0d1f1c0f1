/* hal.c: STM32F407VG at 24 MHz, at which the flash has no wait states: 8 MHz / 8 x 192 / 8; PLLQ 4 gives USB its 48 MHz. */
#define CLOCK_HZ 24000000u
#define UART_HZ CLOCK_HZ
#define PLL_SETTINGS (8u | 192u << 6 | 3u << 16 | 4u << 24)
#define BUSES 0u
#define WAIT_STATES 0u
#include "hal_stm32f4.h"
