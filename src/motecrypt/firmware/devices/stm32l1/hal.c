/* hal.c: STM32L100RC on ST's Discovery board. 16 MHz from the internal oscillator, at which the flash has no wait
 * states; USART2 on PA2 (out) and PA3 (in), which a serial adapter connects. It does not depend on the cipher. Section
 * numbers: ST RM0038.
 */
#include "hal.h"
#include "hal_counter_arm.h"

#define CLOCK_HZ 16000000u
#define BAUD 115200u

#define AT(address) (*(volatile uint32_t *)(address))

#define CRC_IDR 0x40023004u
#define RCC 0x40023800u
#define RCC_CFGR (RCC + 0x08u)
#define RCC_AHBENR (RCC + 0x1Cu)
#define RCC_APB1ENR (RCC + 0x24u)
#define FLASH_ACR 0x40023C00u
#define PWR_CR 0x40007000u
#define PWR_CSR 0x40007004u
#define USART2 0x40004400u
#define GPIOA 0x40020000u
#define RTC_BKP0R 0x40002850u

/* Each wait is for hardware that answers within milliseconds or never: no deadline could do better than waiting, as
 * there is no way to report it. */
static void wait_for(uint32_t address, uint32_t mask, uint32_t value) {
    while ((AT(address) & mask) != value) {
    }
}

/* 5.1.5: 16 MHz without wait states needs the core's voltage range 1. 3.9: 64-bit reads with prefetch. */
static void start_clock(void) {
    AT(RCC_APB1ENR) |= 1u << 28; /* PWR */
    AT(PWR_CR) = (AT(PWR_CR) & ~(3u << 11)) | 1u << 11;
    wait_for(PWR_CSR, 1u << 4, 0);
    AT(FLASH_ACR) |= 1u << 2; /* first the width, then prefetch (3.9.1) */
    AT(FLASH_ACR) |= 1u << 1;
    AT(RCC) |= 1u; /* HSI */
    wait_for(RCC, 2u, 2u);
    AT(RCC_CFGR) = (AT(RCC_CFGR) & ~3u) | 1u;
    wait_for(RCC_CFGR, 3u << 2, 1u << 2);
}

/* 7.4, 27.6: PA2 and PA3 are USART2's (alternate function 7). */
static void start_uart(void) {
    AT(GPIOA) = (AT(GPIOA) & ~(15u << 4)) | 10u << 4;
    AT(GPIOA + 0x20u) = (AT(GPIOA + 0x20u) & ~(255u << 8)) | 0x77u << 8;
    AT(USART2 + 0x08u) = (CLOCK_HZ + BAUD / 2u) / BAUD; /* sixteenths of a divisor by 16 */
    AT(USART2 + 0x0Cu) = 1u << 13 | 1u << 3 | 1u << 2;  /* on, sender, receiver */
}

void hal_init(void) {
    start_clock();
    AT(RCC_AHBENR) |= 1u << 12 | 1u; /* CRC, whose spare register takes the marks; GPIOA */
    AT(RCC_APB1ENR) |= 1u << 17;     /* USART2 */
    (void)AT(RCC_APB1ENR);           /* a part is ready two cycles after its clock is on (6.3.7) */
    start_uart();
    start_counter();
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

/* A simulator writes SIMULATED to the backup register before the firmware starts; power-on clears it. */
#define SIMULATED_AT AT(RTC_BKP0R)
#include "hal_stack_arm.h"

uint32_t hal_clock_hz(void) {
    return CLOCK_HZ;
}
