/* hal.c: SAMD21G18A on an Arduino MKR Zero. 48 MHz from the 32.768 kHz crystal; SERCOM5 on PB22 (out) and PB23 (in), the
 * pins TX and RX. It does not depend on the cipher. Section numbers: Microchip DS40001882.
 */
#include "hal.h"
#include "hal_counter_arm.h"

#define CLOCK_HZ 48000000u
#define BAUD 115200u

#define AT(address) (*(volatile uint32_t *)(address))
#define AT16(address) (*(volatile uint16_t *)(address))
#define AT8(address) (*(volatile uint8_t *)(address))

#define PM_APBCMASK 0x40000420u
#define PCLKSR 0x4000080Cu
#define XOSC32K 0x40000814u
#define DFLLCTRL 0x40000824u
#define DFLLVAL 0x40000828u
#define DFLLMUL 0x4000082Cu
#define GCLK_STATUS 0x40000C01u
#define GCLK_CLKCTRL 0x40000C02u
#define GCLK_GENCTRL 0x40000C04u
#define GCLK_GENDIV 0x40000C08u
#define DSU_UNLOCK 0x41000000u
#define DSU_DCC0 0x41002010u
#define DSU_DCC1 0x41002014u
#define NVMCTRL_CTRLB 0x41004004u
#define PORTB 0x41004480u
#define SERCOM5 0x42001C00u
#define CALIBRATION 0x00806024u

/* Each wait is for hardware that answers within a second (the crystal) or never: no deadline could do better than
 * waiting, as there is no way to report it. */
static void wait_for(uint32_t bits) {
    while ((AT(PCLKSR) & bits) != bits) {
    }
}

static void generator(uint32_t settings) {
    AT(GCLK_GENCTRL) = settings;
    while (AT8(GCLK_STATUS) & 0x80u) {
    }
}

/* 17.6.7, 15.6: the crystal goes through generator 1 to the DFLL, which multiplies it by 1465 for generator 0. 22.6.4: one
 * wait state. */
static void start_clock(void) {
    AT(NVMCTRL_CTRLB) = 1u << 1;
    AT16(XOSC32K) = 6u << 8 | 1u << 3 | 1u << 2;
    AT16(XOSC32K) |= 1u << 1;
    wait_for(1u << 1);
    generator(1u << 16 | 5u << 8 | 1u);
    AT16(GCLK_CLKCTRL) = 1u << 14 | 1u << 8 | 0u; /* generator 1 to the DFLL's reference */
    AT16(DFLLCTRL) = 1u << 1;                     /* on demand is off before it is set up (errata 1.2.1) */
    wait_for(1u << 4);
    AT(DFLLMUL) = 31u << 26 | 511u << 16 | 1465u;
    wait_for(1u << 4);
    AT16(DFLLCTRL) |= 1u << 2 | 1u << 5; /* closed loop, without quick lock */
    wait_for(3u << 6);
    generator(1u << 16 | 7u << 8 | 0u);
}

/* 23.7, 26.6: PB22 and PB23 are SERCOM5's pads 2 and 3 (function D). */
static void start_uart(void) {
    AT(PM_APBCMASK) |= 1u << 7;
    AT16(GCLK_CLKCTRL) = 1u << 14 | 0x19u; /* generator 0 to SERCOM5 */
    AT8(PORTB + 0x40u + 22u) = 1u;
    AT8(PORTB + 0x40u + 23u) = 1u;
    AT8(PORTB + 0x30u + 11u) = 0x33u;
    /* LSB first, in on pad 3, out on pad 2, own clock */
    AT(SERCOM5) = 1u << 30 | 3u << 20 | 1u << 16 | 1u << 2;
    AT16(SERCOM5 + 0x0Cu) = (uint16_t)(65536u - 65536u * 2u / (CLOCK_HZ / (8u * BAUD)));
    AT(SERCOM5 + 0x04u) = 1u << 17 | 1u << 16; /* receiver, sender; 8 bits */
    while (AT(SERCOM5 + 0x1Cu)) {
    }
    AT(SERCOM5) |= 1u << 1;
    while (AT(SERCOM5 + 0x1Cu)) {
    }
}

void hal_init(void) {
    start_clock();
    start_uart();
    start_counter();
    AT(DSU_UNLOCK) = 1u << 1; /* its registers are protected after reset (12.6.2) */
}

uint8_t hal_read(void) {
    while (!(AT8(SERCOM5 + 0x18u) & 4u)) {
    }
    return (uint8_t)AT16(SERCOM5 + 0x28u);
}

void hal_write(uint8_t byte) {
    while (!(AT8(SERCOM5 + 0x18u) & 1u)) {
    }
    AT16(SERCOM5 + 0x28u) = byte;
}

void hal_mark(uint8_t begins) {
    AT(DSU_DCC0) = begins;
}

/* A simulator writes SIMULATED there before the firmware starts; a reset clears it. */
#define SIMULATED_AT AT(DSU_DCC1)
#include "hal_stack_arm.h"

uint32_t hal_clock_hz(void) {
    return CLOCK_HZ;
}
