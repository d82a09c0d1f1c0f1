/* pico2_firmware.c: a program for the Pico 2 that uses the chip as programs of its SDK do, and says on UART0 what it found.
 * Each line is a word and numbers. Sections are the RP2350 datasheet's.
 */
#include "pico2.h"

enum { SECURE = 1 << 8 /* a flag of flash_op */ };

static volatile uint32_t fired, belled, from_core1;
static void on_timer(void), on_user(void), on_bell(void);

VECTORS([15] = on_timer, [15 + 46] = on_user, [15 + 26] = on_bell);

/* ---- the boot ROM (5.4) ---- */

static void use_rom(void) {
    static uint32_t words[8], page[64];
    int (*info)(uint32_t *, uint32_t, uint32_t) = found('G', 'S', 4);
    void (*erase)(uint32_t, uint32_t, uint32_t, uint32_t) = found('R', 'E', 4);
    void (*program)(uint32_t, const void *, uint32_t) = found('R', 'P', 4);
    int (*operate)(uint32_t, uint32_t, uint32_t, void *) = found('F', 'O', 4);
    uint16_t **sizes = found('F', 'D', 0x40);
    word("rom");
    number(AT(0x10) & 0xFFFFFFu);
    number((uint32_t)info(words, 8, 1));
    number((uint32_t)info(words, 2, 1));
    number(**sizes);
    number((uint32_t)(uintptr_t)found('Z', 'Z', 4));
    number((uint32_t)(uintptr_t)found('G', 'S', 1)); /* for RISC-V: not here */
    for (int i = 0; i < 64; i++) {
        page[i] = 0x01010101u * (uint32_t)i;
    }
    word("flash");
    program(0x100000, page, 256);
    number(AT(0x10100004u));
    erase(0x100000, 4096, 65536, 0xD8);
    number(AT(0x10100004u));
    program(0x100000, page, 256);
    number(AT(0x10100008u));
    number(AT(0x1C100008u)); /* without the cache, and without translation */
    number((uint32_t)operate(SECURE | 1u | 2u << 16, 0x10100000u, 16, words));
    number(words[3]);
    number((uint32_t)operate(SECURE | 1u | 0u << 16, 0x10100000u, 4096, 0));
    number(AT(0x14100008u));
    number((uint32_t)operate(SECURE | 1u, 0x01000000u, 4096, 0));
    word("lock");
    number(AT(0x400E080Cu) != 0);
    number(AT(0x400E080Cu) != 0);
    AT(0x400E080Cu) = 0;
    number(AT(0x400E080Cu) != 0);
}

/* ---- interrupts ---- */

static void on_timer(void) {
    CLEAR(TIMER0 + 0x3Cu) = 1u;
    __asm volatile("vmov.f32 s0, #2.0\n vmov.f32 s15, #3.0" ::: "s0", "s15");
    fired++;
}

static void on_user(void) {
    fired += 0x100u;
}

static void on_bell(void) {
    AT(SIO + 0x18Cu) = 1u << 3;
    belled++;
}

static void use_interrupts(void) {
    uint32_t before, after;
    float kept = 1.5f;
    AT(TIMER0 + 0x40u) = 1u;
    AT(0xE000E100u) = 1u;
    AT(0xE000E104u) = 1u << 14;
    before = AT(TIMER0 + 0x28u);
    AT(TIMER0 + 0x10u) = before + 1000u;
    __asm volatile("vmov s0, %1\n vmov s15, %1\n1: wfi\n ldr r1, [%2]\n cmp r1, #0\n beq 1b\n vadd.f32 s0, "
                   "s0, s15\n vmov %0, s0"
                   : "=r"(kept)
                   : "r"(kept), "r"(&fired)
                   : "r1", "s0", "s15", "cc", "memory");
    after = AT(TIMER0 + 0x28u);
    AT(0xE000E204u) = 1u << 14; /* pending, by software */
    __asm volatile("dsb; isb");
    word("irq");
    number(fired);
    number(after - before - 1000u);
    number(kept == 3.0f);
    __asm volatile("msr basepri, %0\n dsb\n isb" ::"r"(0x40));
    *(volatile uint8_t *)0xE000E42Eu = 0x80; /* less urgent than that */
    AT(0xE000E204u) = 1u << 14;
    __asm volatile("dsb; isb");
    number(fired);
    __asm volatile("msr basepri, %0\n dsb\n isb" ::"r"(0));
    number(fired);
}

/* ---- coprocessors (3.6) ---- */

static void use_coprocessors(void) {
    union {
        double value;
        uint32_t words[2];
    } x = {.value = 2.25}, y = {.value = 0.75}, z;
    uint32_t flags, whole;
    __asm volatile("mcrr p0, #4, %0, %1, c4\n mcrr p0, #4, %0, %1, c0" ::"r"(25), "r"(1));
    word("pins");
    number(AT(SIO + 0x10u));
    __asm volatile("mcr p0, #5, %0, c0, c0\n mcr p0, #2, %1, c0, c0" ::"r"(25), "r"(6));
    number(AT(SIO + 0x10u));
    AT(SIO + 0x18u) = 1u << 25;
    __asm volatile("mrc p0, #0, %0, c0, c8" : "=r"(flags));
    number(flags);
    word("double");
#define OPERANDS "mcrr p4, #1, %2, %3, c0\n mcrr p4, #1, %4, %5, c1\n cdp p4, #0, c0, c0, c1, #0\n"
#define RESULT(read)                                                                                         \
    __asm volatile(OPERANDS "cdp p4, #8, c0, c0, c0, #1\n mrrc p4, #" read ", %0, %1, c0"                    \
                   : "=&r"(z.words[0]), "=&r"(z.words[1])                                                    \
                   : "r"(x.words[0]), "r"(x.words[1]), "r"(y.words[0]), "r"(y.words[1]));                    \
    number(z.words[1])
    RESULT("1");
    RESULT("3");
    RESULT("5");
    RESULT("7");
    RESULT("9");
    __asm volatile(OPERANDS "mrc2 p4, #0, %0, c0, c0, #1\n mrc p4, #0, %1, c0, c0, #1"
                   : "=&r"(flags), "=&r"(whole)
                   : "r"(x.words[0]), "r"(x.words[1]), "r"(y.words[0]), "r"(y.words[1]));
    number(flags); /* engaged */
    number(whole); /* greater */
    __asm volatile("mrc2 p4, #0, %0, c0, c0, #1" : "=r"(flags));
    number(flags);
    x.value = -7.75;
    __asm volatile("mcrr p4, #8, %1, %2, c0\n cdp p4, #8, c0, c0, c0, #2\n mrc p4, #0, %0, c0, c3, #0"
                   : "=r"(whole)
                   : "r"(x.words[0]), "r"(x.words[1]));
    number(whole);
}

/* ---- DMA (12.6) ---- */

static void use_dma(void) {
    static uint32_t from[4] = {1, 2, 3, 4}, to[4];
    static const char text[] = "\nby dma";
    AT(0x50000080u) = (uint32_t)(uintptr_t)from;
    AT(0x50000084u) = (uint32_t)(uintptr_t)to;
    AT(0x50000088u) = 4;
    /* EN, words, both count up, chain to itself */
    AT(0x5000008Cu) = 1u | 2u << 2 | 1u << 4 | 1u << 6 | 2u << 13 | 63u << 17;
    while (AT(0x5000008Cu) & 1u << 26) {
    }
    word("dma");
    number(to[3]);
    number(AT(0x5000008Cu));
    number(AT(0x50000400u));
    AT(UART0 + 0x48u) = 2u;
    AT(0x500000C0u) = (uint32_t)(uintptr_t)text;
    AT(0x500000C4u) = UART0;
    AT(0x500000C8u) = sizeof text - 1;
    AT(0x500000CCu) = 1u | 1u << 4 | 3u << 13 | 28u << 17;
    while (AT(0x500000CCu) & 1u << 26) {
    }
}

/* ---- the second core ---- */

static uint32_t asked(uint32_t value) {
    while (AT(SIO + 0x50u) & 1u) {
        (void)AT(SIO + 0x58u);
    }
    AT(SIO + 0x54u) = value;
    __asm volatile("sev");
    while (!(AT(SIO + 0x50u) & 1u)) {
    }
    return AT(SIO + 0x58u);
}

static void core1(void) {
    from_core1 = AT(SIO) + 41u;
    AT(SIO + 0x180u) = 1u << 3; /* rings core 0 */
    for (;;) {
        __asm volatile("wfe");
    }
}

static void use_core1(void) {
    uint32_t words[] = {0, 0, 1, 0x10000000u, 0x20080800u, (uint32_t)(uintptr_t)core1};
    AT(0xE000E100u) = 1u << 26;
    for (int i = 0; i < 6; i++) {
        if (asked(words[i]) != words[i]) {
            i = -1;
        }
    }
    while (!belled) {
    }
    word("core1");
    number(from_core1);
    number(belled);
}

void main(void) {
    if (AT(WATCHDOG + 0x0Cu) == 0x1234u) {
        word("again");
        number(AT(WATCHDOG + 8u));
        AT(0x400F0104u) = 1u; /* random numbers: not modelled */
        say('\n');
        return;
    }
    use_rom();
    use_interrupts();
    use_coprocessors();
    use_dma();
    use_core1();
    AT(WATCHDOG + 0x0Cu) = 0x1234u;
    AT(WATCHDOG + 4u) = 5000u; /* 5 ms: one down each microsecond */
    SET(WATCHDOG) = 1u << 30;
    AT(TIMER0 + 0x40u) = 0;
    for (uint32_t from = AT(TIMER0 + 0x28u); AT(TIMER0 + 0x28u) - from < 4500u;) {
    }
    word("still");
    for (;;) {
    }
}
