/* hal_stm32f4.h: the hal of an STM32F407VG on ST's Discovery board: the PLL from the 8 MHz crystal; USART2 on PA2 (out) and
 * PA3 (in), which a serial adapter connects; cycles from DWT's counter. Section numbers: ST RM0090. A device's hal.c
 * includes it once, after
 *
 *   CLOCK_HZ       the core's clock
 *   UART_HZ        that of the first peripheral bus, at most 42 MHz
 *   PLL_SETTINGS   RCC_PLLCFGR without the source
 *   BUSES          RCC_CFGR's dividers of the buses
 *   WAIT_STATES    of the flash (table 10)
 */
#ifndef MOTECRYPT_HAL_STM32F4_H
#define MOTECRYPT_HAL_STM32F4_H

#include "hal.h"

#define BAUD 115200u

#define AT(address) (*(volatile uint32_t *)(address))

#define GPIOA 0x40020000u
#define CRC_IDR 0x40023004u
#define RCC 0x40023800u
#define RCC_CFGR (RCC + 0x08u)
#define RCC_AHB1ENR (RCC + 0x30u)
#define RCC_APB1ENR (RCC + 0x40u)
#define FLASH_ACR 0x40023C00u
#define USART2 0x40004400u
#define RTC_BKP0R 0x40002850u
#define DEMCR 0xE000EDFCu
#define DWT_CTRL 0xE0001000u
#define DWT_CYCCNT 0xE0001004u

#define HSE_ON (1u << 16)
#define HSE_READY (1u << 17)
#define PLL_ON (1u << 24)
#define PLL_READY (1u << 25)
#define PLL_FROM_HSE (1u << 22)

/* Each wait is for hardware that answers within milliseconds or never (a broken crystal): no deadline could
 * do better than waiting, as there is no way to report it. */
static void wait_for(uint32_t address, uint32_t mask, uint32_t value) {
    while ((AT(address) & mask) != value) {
    }
}

/* 7.3: the PLL from the crystal. 3.9.1: wait states, caches and prefetch on. */
static void start_clock(void) {
    AT(RCC) |= HSE_ON;
    wait_for(RCC, HSE_READY, HSE_READY);
    AT(RCC + 4u) = PLL_SETTINGS | PLL_FROM_HSE;
    AT(RCC) |= PLL_ON;
    wait_for(RCC, PLL_READY, PLL_READY);
    AT(FLASH_ACR) = 7u << 8 | WAIT_STATES;
    AT(RCC_CFGR) = BUSES | 2u; /* the PLL */
    wait_for(RCC_CFGR, 3u << 2, 2u << 2);
}

/* 8.4, 30.6: PA2 and PA3 are USART2's (alternate function 7). */
static void start_uart(void) {
    AT(GPIOA) = (AT(GPIOA) & ~(15u << 4)) | 10u << 4;
    AT(GPIOA + 0x20u) = (AT(GPIOA + 0x20u) & ~(255u << 8)) | 0x77u << 8;
    AT(USART2 + 0x08u) = (UART_HZ + BAUD / 2u) / BAUD; /* sixteenths of a divisor by 16 */
    AT(USART2 + 0x0Cu) = 1u << 13 | 1u << 3 | 1u << 2; /* on, sender, receiver */
}

void hal_init(void) {
    start_clock();
    AT(RCC_AHB1ENR) |= 1u << 12 | 1u; /* CRC, whose spare register takes the marks; GPIOA */
    AT(RCC_APB1ENR) |= 1u << 17;      /* USART2 */
    (void)AT(RCC_APB1ENR);            /* a part is ready two cycles after its clock is on (7.3.10) */
    start_uart();
    AT(DEMCR) |= 1u << 24; /* DWT on */
    AT(DWT_CYCCNT) = 0u;
    AT(DWT_CTRL) |= 1u;
}

uint8_t hal_read(void) {
    while (!(AT(USART2) & 0x20u)) {
    }
    return (uint8_t)AT(USART2 + 4u);
}

void hal_write(uint8_t byte) {
    while (!(AT(USART2) & 0x80u)) {
    }
    AT(USART2 + 4u) = byte;
}

void hal_mark(uint8_t begins) {
    AT(CRC_IDR) = begins;
}

static uint32_t timer_start;

void hal_timer_start(void) {
    timer_start = AT(DWT_CYCCNT);
}

/* 32 bits of cycles: after 178 s it begins again. */
uint32_t hal_timer_cycles(void) {
    return AT(DWT_CYCCNT) - timer_start;
}

/* A simulator writes SIMULATED to the backup register before the firmware starts; power-on clears it. */
#define SIMULATED_AT AT(RTC_BKP0R)
#include "hal_stack_arm.h"

uint32_t hal_clock_hz(void) {
    return CLOCK_HZ;
}

#endif
