/* hal.c: STM32F407VG at 168 MHz: 8 MHz / 8 x 336 / 2; PLLQ 7 gives USB its 48 MHz. The first peripheral bus runs at a
 * quarter, the second one at half of it (RM0090, 7.2).
 */
#define CLOCK_HZ 168000000u
#define UART_HZ (CLOCK_HZ / 4u)
#define PLL_SETTINGS (8u | 336u << 6 | 7u << 24)
#define BUSES (4u << 13 | 5u << 10)
#define WAIT_STATES 5u
#include "hal_stm32f4.h"
