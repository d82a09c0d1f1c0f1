/* hal.c: STM32F051R8 on ST's Discovery board. 48 MHz from the internal oscillator through the PLL; USART1 on PA9 (out) and
 * PA10 (in), which a serial adapter connects. It does not depend on the cipher. Section numbers: ST RM0091.
 */
#include "hal.h"
#include "hal_counter_arm.h"

#define CLOCK_HZ 48000000u
#define BAUD 115200u

#define AT(address) (*(volatile uint32_t *)(address))

#define RTC_BKP0R 0x40002850u
#define USART1 0x40013800u
#define RCC 0x40021000u
#define RCC_CFGR (RCC + 0x04u)
#define RCC_AHBENR (RCC + 0x14u)
#define RCC_APB2ENR (RCC + 0x18u)
#define FLASH_ACR 0x40022000u
#define CRC_IDR 0x40023004u
#define GPIOA 0x48000000u

#define PLL_ON (1u << 24)

/* Each wait is for hardware that answers within milliseconds or never: no deadline could do better than waiting, as
 * there is no way to report it. */
static void wait_for(uint32_t address, uint32_t mask, uint32_t value) {
    while ((AT(address) & mask) != value) {
    }
}

/* 6.4.2: 8 MHz / 2 x 12 = 48 MHz. 3.5.1: one wait state, prefetch on. */
static void start_clock(void) {
    AT(FLASH_ACR) = 1u << 4 | 1u;
    AT(RCC_CFGR) = 10u << 18;
    AT(RCC) |= PLL_ON;
    wait_for(RCC, PLL_ON << 1, PLL_ON << 1);
    AT(RCC_CFGR) |= 2u;
    wait_for(RCC_CFGR, 3u << 2, 2u << 2);
}

/* 8.4, 27.8: PA9 and PA10 are USART1's (alternate function 1). */
static void start_uart(void) {
    AT(GPIOA) = (AT(GPIOA) & ~(15u << 18)) | 10u << 18;
    AT(GPIOA + 0x24u) = (AT(GPIOA + 0x24u) & ~(255u << 4)) | 0x11u << 4;
    AT(USART1 + 0x0Cu) = (CLOCK_HZ + BAUD / 2u) / BAUD; /* sixteenths of a divisor by 16 */
    AT(USART1) = 1u << 3 | 1u << 2 | 1u;                /* sender, receiver, on */
}

void hal_init(void) {
    start_clock();
    AT(RCC_AHBENR) |= 1u << 17 | 1u << 6; /* GPIOA; CRC, whose spare register takes the marks */
    AT(RCC_APB2ENR) |= 1u << 14;          /* USART1 */
    (void)AT(RCC_APB2ENR);
    start_uart();
    start_counter();
}

uint8_t hal_read(void) {
    while (!(AT(USART1 + 0x1Cu) & 0x20u)) {
    }
    return (uint8_t)AT(USART1 + 0x24u);
}

void hal_write(uint8_t byte) {
    while (!(AT(USART1 + 0x1Cu) & 0x80u)) {
    }
    AT(USART1 + 0x28u) = byte;
}

void hal_mark(uint8_t begins) {
    AT(CRC_IDR) = begins;
}

/* A simulator writes SIMULATED to the backup register before the firmware starts; power-on clears it. */
#define SIMULATED_AT AT(RTC_BKP0R)
#include "hal_stack_arm.h"

uint32_t hal_clock_hz(void) {
    return CLOCK_HZ;
}
