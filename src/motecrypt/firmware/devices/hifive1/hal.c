/* hal.c: FE310-G002 on SiFive's HiFive1 Rev B. 16 MHz from the crystal; UART0, which the board's USB chip
 * connects; cycles from the core's mcycle. It does not depend on the cipher. Section numbers: SiFive
 * FE310-G002 Manual v19p05.
 */
#include "hal.h"

#define CLOCK_HZ 16000000u
#define BAUD 115200u

#define AT(address) (*(volatile uint32_t *)(address))

#define BACKUP(number) (0x10000080u + 4u * (number)) /* 13.2: keep what is written until the power goes */
#define PRCI 0x10008000u
#define GPIO_IOF_EN 0x10012038u
#define GPIO_IOF_SEL 0x1001203Cu
#define UART0 0x10013000u

#define FULL_OR_EMPTY (1u << 31)

/* 6.4, 6.5: the crystal, past the PLL and not divided. The crystal answers within milliseconds or never:
 * there would be no way to report that, so no deadline helps. */
static void start_clock(void) {
    AT(PRCI + 4u) = 1u << 30;
    while (!(AT(PRCI + 4u) & 1u << 31)) {
    }
    AT(PRCI + 8u) = 1u << 18 | 1u << 17;
    AT(PRCI + 12u) = 1u << 8;
    AT(PRCI + 8u) |= 1u << 16;
    AT(PRCI) &= ~(1u << 30); /* the ring oscillator is not needed any more */
}

void hal_init(void) {
    start_clock();
    AT(GPIO_IOF_SEL) &= ~(3u << 16); /* 17.10: pins 16 and 17 are UART0's */
    AT(GPIO_IOF_EN) |= 3u << 16;
    AT(UART0 + 24u) = CLOCK_HZ / BAUD - 1u; /* 18.9 */
    AT(UART0 + 8u) = 1u;
    AT(UART0 + 12u) = 1u;
}

uint8_t hal_read(void) {
    uint32_t received;
    do {
        received = AT(UART0 + 4u);
    } while (received & FULL_OR_EMPTY);
    return (uint8_t)received;
}

void hal_write(uint8_t byte) {
    while (AT(UART0) & FULL_OR_EMPTY) {
    }
    AT(UART0) = byte;
}

void hal_mark(uint8_t begins) {
    AT(BACKUP(14u)) = begins;
}

static uint32_t cycle_counter(void) {
    uint32_t cycles;
    __asm__ volatile("csrr %0, mcycle" : "=r"(cycles));
    return cycles;
}

static uint32_t timer_start;

void hal_timer_start(void) {
    timer_start = cycle_counter();
}

/* 32 bits of cycles: after 268 s it begins again. */
uint32_t hal_timer_cycles(void) {
    return cycle_counter() - timer_start;
}

/* A simulator writes SIMULATED to the backup register before the firmware starts; power-on clears it. */
#define SIMULATED_AT AT(BACKUP(15u))
#include "hal_stack_riscv.h"

uint32_t hal_clock_hz(void) {
    return CLOCK_HZ;
}
