/* SPDX-License-Identifier: MIT
 * riscv_esp32c3.h: the registers of ESP32-C3 that start-up code, UART0 and the cycle counter need.
 * Source of all addresses and bits: Espressif, ESP32-C3 Technical Reference Manual 1.1 (3 system and memory, 6
 * reset and clock, 9 low-power management, 16 system registers, 26 UART).
 */
#ifndef MOTECRYPT_RISCV_ESP32C3_H
#define MOTECRYPT_RISCV_ESP32C3_H

#include "riscv_registers.h"

#define ESP32C3_UART0 0x60000000u
#define ESP32C3_UART_STATUS (ESP32C3_UART0 + 0x1Cu)
#define ESP32C3_UART_UPDATE (ESP32C3_UART0 + 0x80u)
#define ESP32C3_CPU_CLOCK 0x600C0008u
#define ESP32C3_SYSTEM_CLOCK 0x600C0058u
#define ESP32C3_XTAL_HZ 40e6
#define ESP32C3_RC_HZ 17.5e6

/* 6.2.4: SOC_CLK_SEL selects crystal, PLL or RC oscillator; the PLL gives 80 or 160 MHz. */
static inline double esp32c3_hz(struct riscv_chip *chip) {
    uint32_t settings = riscv_kept(chip, ESP32C3_SYSTEM_CLOCK);
    double divider = (settings & 0x3FFu) + 1;
    switch (settings >> 10 & 3u) {
    case 1:
        return riscv_kept(chip, ESP32C3_CPU_CLOCK) & 1u ? 160e6 : 80e6;
    case 2:
        return ESP32C3_RC_HZ / divider;
    default:
        return ESP32C3_XTAL_HZ / divider;
    }
}

/* 26.3.3.1: sixteenths of a divisor, of a source that is divided itself. */
static inline double esp32c3_baud(struct riscv_chip *chip) {
    uint32_t divisor = riscv_kept(chip, ESP32C3_UART0 + 0x14), clock = riscv_kept(chip, ESP32C3_UART0 + 0x78);
    double source = (clock >> 20 & 3u) == 3   ? ESP32C3_XTAL_HZ
                    : (clock >> 20 & 3u) == 1 ? 80e6
                                              : ESP32C3_RC_HZ;
    double by = (divisor & 0xFFFu) + (divisor >> 20 & 15u) / 16.0;
    return clock & 1u << 22 && by > 0.0 ? source / ((clock >> 12 & 0xFFu) + 1) / by : 0.0;
}

/* As the boot ROM leaves them where it starts code in the flash. */
static inline void esp32c3_reset(struct riscv_chip *chip) {
    *riscv_register(chip, ESP32C3_CPU_CLOCK) = 0xCu;
    *riscv_register(chip, ESP32C3_SYSTEM_CLOCK) = 1u;          /* crystal / 2 */
    *riscv_register(chip, ESP32C3_UART0 + 0x14) = 0x2B6u;      /* 694 */
    *riscv_register(chip, ESP32C3_UART0 + 0x78) = 0x03700000u; /* the crystal, on */
}

static inline uint32_t esp32c3_read(struct riscv_chip *chip, uint32_t address, uint32_t kept) {
    switch (address) {
    case ESP32C3_UART0:
        return chip->outside.uart_read(chip->outside.context);
    case ESP32C3_UART_STATUS: /* bytes that came, and bytes that wait to leave */
        return (riscv_has_input(chip) ? 1u : 0) | riscv_waiting(chip) << 16;
    case ESP32C3_UART_UPDATE: /* the settings are taken immediately */
        return kept & ~(1u << 31);
    default:
        return kept;
    }
}

static inline void esp32c3_write(struct riscv_chip *chip, uint32_t address, uint32_t value) {
    if (address == ESP32C3_UART0) {
        chip->outside.uart_write(chip->outside.context, (uint8_t)value);
    }
}

static inline const char *esp32c3_absent(uint32_t address) {
    return address - 0x40000000u < 0x00060000u || address - 0x3FF00000u < 0x00020000u
               ? " (the boot ROM is not modelled)"
           : address - 0x42000000u < 0x00800000u || address - 0x3C000000u < 0x00800000u ? " (beyond the flash)"
           : address - 0x4037C000u < 0x00004000u ? " (the cache's memory is not modelled as RAM)"
           : address - 0x50000000u < 0x00002000u ? " (the RTC memory is not modelled)"
           : address - 0x3FCDE000u < 0x00022000u ? " (beyond the RAM; its end belongs to the boot ROM)"
           : address - 0x40380000u < 0x00080000u ? " (beyond the RAM)"
                                                 : "";
}

/* 3.3.5. */
static const struct chip_gap esp32c3_gaps[] = {
    {0x60002000u, 0x1000u, 0, "SPI: not modelled; its registers only keep what is written"},
    {0x60010000u, 0x1000u, 0, "UART1: not modelled; nothing is sent or received"},
    {0x60013000u, 0x1000u, 0, "I2C: not modelled; its registers only keep what is written"},
    {0x60023000u, 0x1000u, 0, "the system timer: not modelled; it never counts"},
    {0x60026000u, 0x1000u, 0, "random numbers, Wi-Fi and Bluetooth: not modelled"},
    {0x60033000u, 0x1000u, 0, "Wi-Fi: not modelled; nothing is sent or received"},
    {0x6003A000u, 0x1000u, 0, "the AES block: not modelled; it never answers"},
    {0x6003B000u, 0x1000u, 0, "the SHA block: not modelled; it never answers"},
    {0x6003C000u, 0x3000u, 0, "RSA, signatures and HMAC: not modelled; they never answer"},
    {0x6003F000u, 0x1000u, 0, "DMA: not modelled; nothing is moved"},
    {0x60043000u, 0x1000u, 0, "the USB serial port: not modelled; nothing is sent or received"},
    {0x600C2000u, 0x1000u, 1, "interrupts: not modelled; they are never delivered"},
};

static const struct riscv_chip_model esp32c3_model = {
    "ESP32-C3",
    {{0x60000000u, 0x40000u, CHIP_PERIPHERAL},
     {0x60040000u, 0x10000u, CHIP_PERIPHERAL},
     {0x600C0000u, 0x10000u, CHIP_CORE}},
    3,
    esp32c3_gaps,
    COUNT_OF(esp32c3_gaps),
    esp32c3_reset,
    esp32c3_read,
    esp32c3_write,
    esp32c3_hz,
    esp32c3_baud,
    esp32c3_absent,
    {{0x3C000000u, 0x42000000u}, {0x40380000u, 0x3FC80000u}}}; /* data and code have addresses of their own */

#endif
