/* hal_firmware.c: asks a device's hal.c for all that it can do and sends what it says, four bytes a number. */
#include "hal.h"

#ifdef __AVR__
#include <avr/io.h>
#define DELAY(cycles) __builtin_avr_delay_cycles(cycles)
#define REGISTERS {UBRR0, UCSR0A & 2, UCSR0B, UCSR0C, TIMSK1, TCCR1A, SREG >> 7, GPIOR0}
#else
#define AT(address) (*(volatile uint32_t *)(address))
#ifdef __riscv
#define DELAY(cycles)                                                                                        \
    do {                                                                                                     \
        uint32_t left = (cycles) / 2;                                                                        \
        __asm__ volatile("1: addi %0, %0, -1\n bnez %0, 1b" : "+r"(left));                                   \
    } while (0)
#define REGISTERS                                                                                            \
    {AT(0x10013018), AT(0x10013008), AT(0x1001300C), AT(0x10012038), AT(0x1001203C),                         \
     AT(0x10008000), AT(0x10008004), AT(0x10008008), AT(0x1000800C), AT(0x100000B8)}
#else
#define DELAY(cycles)                                                                                        \
    do {                                                                                                     \
        uint32_t left = (cycles) / 3;                                                                        \
        __asm__ volatile(".syntax unified\n1: subs %0, #1\n bne 1b" : "+l"(left) : : "cc");                  \
    } while (0)
#endif
#ifdef __riscv
#elif defined __ARM_ARCH_7EM__
#define REGISTERS                                                                                            \
    {AT(0x40004408), AT(0x4000440C), AT(0x40020000), AT(0x40020020), AT(0x40023804), AT(0x40023808),         \
     AT(0x40023800), AT(0x40023C00), AT(0x40023004), AT(0xE000EDFC), AT(0xE0001000), AT(0xE000ED00)}
#else
#define REGISTERS                                                                                            \
    {AT(0x40034024), AT(0x40034028), AT(0x4003402C), AT(0x40034030), AT(0x40014004),                         \
     AT(0x4001400C), AT(0x4002800C), AT(0x40028008), AT(0x40028000), AT(0x40028004),                         \
     AT(0x40024000), AT(0x4002400C), AT(0x4000C000), AT(0x40008048), AT(0x40008030),                         \
     AT(0x4000803C), AT(0x4005802C), AT(0xE000E014), AT(0xE000E010), AT(0x4005800C)}
#endif
#endif

static void number(uint32_t value) {
    for (uint8_t i = 0; i < 4; i++) {
        hal_write((uint8_t)value);
        value >>= 8;
    }
}

static void __attribute__((noinline)) deep(uint8_t fill) {
    volatile uint8_t room[120];
    for (uint8_t i = 0; i < sizeof room; i++) {
        room[i] = fill;
    }
}

static uint32_t timed(uint8_t which) {
    hal_timer_start();
    if (which == 0) {
        DELAY(900);
    } else if (which == 1) {
        DELAY(90000);
    } else {
        DELAY(19200000);
    }
    return hal_timer_cycles();
}

int main(void) {
    hal_init();
    for (uint8_t again = 0; again < 2; again++) {
        number(hal_clock_hz());
        hal_stack_paint();
        number(hal_stack_depth());
        deep(7);
        number(hal_stack_depth());
        hal_stack_paint();
        number(hal_stack_depth());
        number(timed(1));
        number(timed(0));
        number(timed(2));
        number(timed(0));
        hal_mark((uint8_t)(1 + again));
        number(hal_read());
        const uint32_t registers[] = REGISTERS;
        for (uint8_t i = 0; i < sizeof registers / sizeof registers[0]; i++) {
            number(registers[i]);
        }
    }
    hal_mark(0);
    hal_write('!');
    hal_write(0x7e);
    for (;;) {
        hal_read();
    }
}
