/* hal_ch32v003.h: the hal of a CH32V003 that runs from its internal oscillator; USART1 on PD5 (out) and PD6
 * (in), which a serial adapter connects; cycles from SysTick. A device's hal.c includes it after
 *
 *   CLOCK_HZ   24000000, at which the flash has no wait state, or 48000000, at which it has one
 *
 * Section numbers: WCH, CH32V003 Reference Manual V1.7.
 */
#ifndef MOTECRYPT_HAL_CH32V003_H
#define MOTECRYPT_HAL_CH32V003_H

#include "hal.h"

#define BAUD 115200u

#define AT(address) (*(volatile uint32_t *)(address))

#define GPIOD_CFGLR 0x40011400u
#define USART1 0x40013800u
#define DMA_MADDR(channel)                                                                                   \
    (0x40020000u + 20u * (channel)) /* an address for a transfer that is never started */
#define RCC 0x40021000u
#define FLASH_ACTLR 0x40022000u
#define SYSTICK 0xE000F000u

#define PLL_ON (1u << 24)
#define PLL_READY (1u << 25)

/* 3.4: the internal 24 MHz, or twice that; 16.4.1: one wait state before. The PLL answers within milliseconds
 * or never: there would be no way to report that, so no deadline helps. */
static void start_clock(void) {
    AT(FLASH_ACTLR) = CLOCK_HZ > 24000000u;
    AT(RCC + 4u) = 0u; /* not divided */
    if (CLOCK_HZ == 24000000u) {
        return;
    }
    AT(RCC) |= PLL_ON;
    while (!(AT(RCC) & PLL_READY)) {
    }
    AT(RCC + 4u) = 2u;
    while ((AT(RCC + 4u) & 0xCu) != 8u) {
    }
}

void hal_init(void) {
    start_clock();
    AT(RCC + 0x14u) |= 1u;                 /* DMA, whose spare addresses take the marks */
    AT(RCC + 0x18u) |= 1u << 14 | 1u << 5; /* USART1, port D */
    AT(GPIOD_CFGLR) = (AT(GPIOD_CFGLR) & ~(0xFFu << 20)) | 0x4Bu << 20; /* 7.3.1 */
    AT(USART1 + 8u) = (CLOCK_HZ + BAUD / 2u) / BAUD;
    AT(USART1 + 12u) = 1u << 13 | 1u << 3 | 1u << 2; /* on, sender, receiver */
    AT(SYSTICK) = 1u << 2 | 1u;                      /* on, not divided */
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
    AT(DMA_MADDR(7u)) = begins;
}

static uint32_t timer_start;

void hal_timer_start(void) {
    timer_start = AT(SYSTICK + 8u);
}

/* 32 bits of cycles: after 89 s it begins again. */
uint32_t hal_timer_cycles(void) {
    return AT(SYSTICK + 8u) - timer_start;
}

/* A simulator writes SIMULATED to this register before the firmware starts; a reset clears it. */
#define SIMULATED_AT AT(DMA_MADDR(6u))
#include "hal_stack_riscv.h"

uint32_t hal_clock_hz(void) {
    return CLOCK_HZ;
}

#endif
