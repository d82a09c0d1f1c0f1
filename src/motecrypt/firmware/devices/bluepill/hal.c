/* hal.c: STM32F103C8 on a Blue Pill. 72 MHz from the 8 MHz crystal; USART1 on PA9 (out) and PA10 (in), which a serial
 * adapter connects. It does not depend on the cipher. Section numbers: ST RM0008.
 */
#include "hal.h"
#include "hal_counter_arm.h"

#define CLOCK_HZ 72000000u
#define BAUD 115200u

#define AT(address) (*(volatile uint32_t *)(address))

#define BKP_DR1 0x40006C04u
#define GPIOA 0x40010800u
#define USART1 0x40013800u
#define RCC 0x40021000u
#define RCC_CFGR (RCC + 0x04u)
#define RCC_AHBENR (RCC + 0x14u)
#define RCC_APB2ENR (RCC + 0x18u)
#define FLASH_ACR 0x40022000u
#define CRC_IDR 0x40023004u

#define HSE_ON (1u << 16)
#define PLL_ON (1u << 24)

/* Each wait is for hardware that answers within milliseconds or never (a broken crystal): no deadline could do better
 * than waiting, as there is no way to report it. */
static void wait_for(uint32_t address, uint32_t mask, uint32_t value) {
    while ((AT(address) & mask) != value) {
    }
}

/* 7.3.2: 8 MHz x 9 = 72 MHz; the first peripheral bus runs at half of it. 3.3.3: two wait states, prefetch on. */
static void start_clock(void) {
    AT(RCC) |= HSE_ON;
    wait_for(RCC, HSE_ON << 1, HSE_ON << 1);
    AT(FLASH_ACR) = 1u << 4 | 2u;
    AT(RCC_CFGR) = 7u << 18 | 1u << 16 | 4u << 8;
    AT(RCC) |= PLL_ON;
    wait_for(RCC, PLL_ON << 1, PLL_ON << 1);
    AT(RCC_CFGR) |= 2u;
    wait_for(RCC_CFGR, 3u << 2, 2u << 2);
}

/* 9.2.2, 27.6: PA9 is the alternate function's, fast; PA10 an input. */
static void start_uart(void) {
    AT(GPIOA + 4u) = (AT(GPIOA + 4u) & ~(255u << 4)) | 0xBu << 4 | 4u << 8;
    AT(USART1 + 0x08u) = (CLOCK_HZ + BAUD / 2u) / BAUD; /* sixteenths of a divisor by 16 */
    AT(USART1 + 0x0Cu) = 1u << 13 | 1u << 3 | 1u << 2;  /* on, sender, receiver */
}

void hal_init(void) {
    start_clock();
    AT(RCC_AHBENR) |= 1u << 6;             /* CRC, whose spare register takes the marks */
    AT(RCC_APB2ENR) |= 1u << 14 | 1u << 2; /* USART1, GPIOA */
    (void)AT(RCC_APB2ENR);
    start_uart();
    start_counter();
}

uint8_t hal_read(void) {
    while (!(AT(USART1) & 0x20u)) {
    }
    return (uint8_t)AT(USART1 + 4u);
}

void hal_write(uint8_t byte) {
    while (!(AT(USART1) & 0x80u)) {
    }
    AT(USART1 + 4u) = byte;
}

void hal_mark(uint8_t begins) {
    AT(CRC_IDR) = begins;
}

/* A simulator writes SIMULATED to the backup register, which has only 16 bits on the chip. */
#define SIMULATED_AT AT(BKP_DR1)
#include "hal_stack_arm.h"

uint32_t hal_clock_hz(void) {
    return CLOCK_HZ;
}
