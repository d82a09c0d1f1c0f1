/* hal.c: ESP32-C3 on Espressif's ESP32-C3-DevKitM-1. 160 MHz from the PLL; UART0, which the board's USB chip
 * connects; cycles from the core's own counter. It does not depend on the cipher. Section numbers: Espressif,
 * ESP32-C3 Technical Reference Manual 1.1.
 */
#include "hal.h"

#define CLOCK_HZ 160000000u
#define UART_CLOCK_HZ 40000000u
#define BAUD 115200u

#define AT(address) (*(volatile uint32_t *)(address))

#define UART0 0x60000000u
#define UART_CLOCK_DIVIDER (UART0 + 0x14u)
#define UART_STATUS (UART0 + 0x1Cu)
#define UART_CLOCK (UART0 + 0x78u)
#define UART_UPDATE (UART0 + 0x80u)
#define RTC 0x60008000u
#define RTC_STORE(number) (RTC + 0x50u + 4u * (number)) /* 9: keep what is written until the power goes */
#define TIMER_GROUP0 0x6001F000u
#define SYSTEM_CPU_CLOCK 0x600C0008u
#define SYSTEM_CLOCK 0x600C0058u

#define WATCHDOG_KEY 0x50D83AA1u
#define SUPER_WATCHDOG_KEY 0x8F1D312Au
#define SEND_BUFFER_BYTES 128u

/* 12: the boot ROM has started three watchdogs: of a timer group, of the RTC, and one that must be fed, which can do
 * so by itself. */
static void stop_watchdogs(void) {
    AT(TIMER_GROUP0 + 0x64u) = WATCHDOG_KEY;
    AT(TIMER_GROUP0 + 0x48u) = 0u;
    AT(RTC + 0xA8u) = WATCHDOG_KEY;
    AT(RTC + 0x90u) = 0u;
    AT(RTC + 0xB0u) = SUPER_WATCHDOG_KEY;
    AT(RTC + 0xACu) |= 1u << 31;
}

/* 6.2.4: the PLL, which the boot ROM has started, at 480 MHz, divided by 3. */
static void start_clock(void) {
    AT(SYSTEM_CPU_CLOCK) = (AT(SYSTEM_CPU_CLOCK) & ~3u) | 5u;
    AT(SYSTEM_CLOCK) = (AT(SYSTEM_CLOCK) & ~0xC00u) | 1u << 10;
}

/* 26.3.3.1: from the crystal, in sixteenths. The settings come into force with bit 31 of the last register. */
static void start_uart(void) {
    uint32_t sixteenths = (UART_CLOCK_HZ * 16u + BAUD / 2u) / BAUD;
    while (AT(UART_STATUS) >> 16 & 0x3FFu) { /* what the boot ROM prints */
    }
    AT(UART_CLOCK) = (AT(UART_CLOCK) & ~0x003FF000u) | 3u << 20 | 1u << 22;
    AT(UART_CLOCK_DIVIDER) = sixteenths / 16u | (sixteenths & 15u) << 20;
    AT(UART_UPDATE) |= 1u << 31;
    while (AT(UART_UPDATE) & 1u << 31) {
    }
}

/* 1.4: the counter counts cycles, and is on. */
static void start_counter(void) {
    __asm__ volatile("csrw 0x7e0, %0\n\tcsrw 0x7e1, %0" : : "r"(1));
}

void hal_init(void) {
    stop_watchdogs();
    start_clock();
    start_uart();
    start_counter();
}

uint8_t hal_read(void) {
    while ((AT(UART_STATUS) & 0x3FFu) == 0u) {
    }
    return (uint8_t)AT(UART0);
}

void hal_write(uint8_t byte) {
    while ((AT(UART_STATUS) >> 16 & 0x3FFu) >= SEND_BUFFER_BYTES) {
    }
    AT(UART0) = byte;
}

void hal_mark(uint8_t begins) {
    AT(RTC_STORE(2u)) = begins;
}

static uint32_t cycle_counter(void) {
    uint32_t cycles;
    __asm__ volatile("csrr %0, 0x7e2" : "=r"(cycles));
    return cycles;
}

static uint32_t timer_start;

void hal_timer_start(void) {
    timer_start = cycle_counter();
}

/* 32 bits of cycles: after 26 s it begins again. */
uint32_t hal_timer_cycles(void) {
    return cycle_counter() - timer_start;
}

/* A simulator writes SIMULATED to this register before the firmware starts; power-on clears it. */
#define SIMULATED_AT AT(RTC_STORE(3u))
#include "hal_stack_riscv.h"

uint32_t hal_clock_hz(void) {
    return CLOCK_HZ;
}
