/* pico2.h: what programs of our own for the Pico 2 have in common: vectors and the block of an image, a start that copies
 * data and sets clocks up, and words and numbers on UART0. Sections are the RP2350 datasheet's. A program is one file.
 */
#include <stdint.h>

#define AT(address) (*(volatile uint32_t *)(address))
#define SET(address) AT((address) + 0x2000u)
#define CLEAR(address) AT((address) + 0x3000u)
#define TIMER0 0x400B0000u
#define UART0 0x40070000u
#define SIO 0xD0000000u
#define WATCHDOG 0x400D8000u

/* Entries of the table of vectors after the reset's: `[15 + number] = handler` for an interrupt. */
#define VECTORS(...)                                                                                         \
    extern void start(void);                                                                                 \
    __attribute__((section(".vectors"), used)) static const struct {                                         \
        uint32_t stack;                                                                                      \
        void (*entry[67])(void);                                                                             \
        uint32_t block[7];                                                                                   \
    } vectors = {                                                                                            \
        0x20081000u,                                                                                         \
        {[0] = start, __VA_ARGS__}, /* 5.9: an image for Arm, secure, RP2350; its vectors; the only block */ \
        {0xFFFFDED3u, 0x10210142u, 0x00000203u, 0x10000000u, 0x000003FFu, 0u, 0xAB123579u}}

static void say(char letter) {
    while (AT(UART0 + 0x18u) & 0x20u) {
    }
    AT(UART0) = (uint32_t)letter;
}

static void number(uint32_t value) {
    say(' ');
    for (int i = 28; i >= 0; i -= 4) {
        say("0123456789abcdef"[value >> i & 15u]);
    }
}

static void word(const char *text) {
    say('\n');
    while (*text) {
        say(*text++);
    }
}

static void wait_for(uint32_t address, uint32_t bits) {
    while ((AT(address) & bits) != bits) {
    }
}

static void begin(void) {
    /* 7.5: all in reset, as in the SDK, but the PLLs and the flash's pins */
    SET(0x40020000u) = 0x1FFFFFFFu & ~0x1400CC480u;
    CLEAR(0x40020000u) = 0x1FFFFFFFu;
    wait_for(0x40020008u, 1u << 26 | 1u << 23);
    AT(0x40048000u) = 0xAA0u;
    SET(0x40048000u) = 0xFAB000u;
    wait_for(0x40048004u, 1u << 31);
    AT(0x40010030u) = 2u;
    wait_for(0x40010038u, 1u << 2);
    AT(0x40050000u) = 1u;
    AT(0x40050008u) = 125u;
    CLEAR(0x40050004u) = 0x21u;
    wait_for(0x40050000u, 1u << 31);
    AT(0x4005000Cu) = 5u << 16 | 2u << 12;
    CLEAR(0x40050004u) = 8u;
    AT(0x4001003Cu) = 0u;
    SET(0x4001003Cu) = 1u;
    wait_for(0x40010044u, 2u);
    AT(0x40010048u) = 1u << 11;
    AT(0x4010801Cu) = 12u; /* 8.5: a tick each microsecond */
    AT(0x40108018u) = 1u;
    wait_for(0x40108018u, 2u);
    AT(0x40108034u) = 12u; /* the watchdog's too */
    AT(0x40108030u) = 1u;
    AT(UART0 + 0x24u) = 81u;
    AT(UART0 + 0x28u) = 24u;
    AT(UART0 + 0x2Cu) = 0x70u;
    AT(UART0 + 0x30u) = 0x301u;
    AT(0xE000ED88u) = 0x00F0030Fu; /* coprocessors 0, 4, and floating point */
    __asm volatile("dsb; isb");
}

/* 5.4.1: a function or data of the boot ROM, by its code, for a state. */
static void *found(char first, char second, uint32_t state) {
    void *(*lookup)(uint32_t, uint32_t) =
        (void *(*)(uint32_t, uint32_t))(uintptr_t)*(volatile uint16_t *)0x16;
    return lookup((uint32_t)first | (uint32_t)second << 8, state);
}

extern void main(void);

__attribute__((noreturn, used)) static void prepare(void) {
    uint32_t *ram = (uint32_t *)0x20000000u;
    extern uint32_t data_from[], data_end[];
    for (uint32_t *from = data_from; ram < data_end;) {
        *ram++ = *from++;
    }
    begin();
    main();
    wait_for(UART0 + 0x18u, 0x80u); /* all is sent */
    __asm volatile("cpsid i\n1: b 1b");
    __builtin_unreachable();
}

__attribute__((naked)) void start(void) {
    __asm volatile("b prepare");
}
