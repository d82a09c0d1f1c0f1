/* A Pico firmware for both cores, for test_two_cores.py: core 0 starts core 1 as the boot ROM wants it, and each line of
 * output is what one way of speaking to each other came to. PART selects what runs. */
#include "hal.h"

#define AT(address) (*(volatile uint32_t *)(address))
#define SIO 0xD0000000u
#define CPUID AT(SIO)
#define FIFO_STATUS AT(SIO + 0x50u)
#define FIFO_WRITE AT(SIO + 0x54u)
#define FIFO_READ AT(SIO + 0x58u)
#define LOCK(n) AT(SIO + 0x100u + 4u * (n))
#define PSM_FORCE_OFF 0x40010004u
#define EVENT() __asm__ volatile("sev" ::: "memory")
#define WAIT() __asm__ volatile("wfe" ::: "memory")
#define SQUARES 20u
#define ROUNDS 500u
#define STACK_WORDS 128

extern uint32_t vectors[];
static uint32_t stack1[STACK_WORDS];
static volatile uint32_t shared, steps, turns[2], quotient1, flag;

static void send(uint32_t word) {
    while (!(FIFO_STATUS & 2u)) {
    }
    FIFO_WRITE = word;
    EVENT();
}

static uint32_t receive(void) {
    while (!(FIFO_STATUS & 1u)) {
        WAIT();
    }
    return FIFO_READ;
}

static void start_core1(void (*entry)(void)) {
    const uint32_t words[] = {0, 0, 1, (uint32_t)vectors, (uint32_t)&stack1[STACK_WORDS], (uint32_t)entry};
    for (unsigned i = 0; i < 6;) {
        if (words[i] == 0) {
            while (FIFO_STATUS & 1u) {
                (void)FIFO_READ;
            }
            EVENT();
        }
        send(words[i]);
        i = receive() == words[i] ? i + 1 : 0;
    }
}

static void put(const char *what, uint32_t number) {
    char digits[10];
    unsigned count = 0;
    while (*what) {
        hal_write((uint8_t)*what++);
    }
    do {
        digits[count++] = (char)('0' + number % 10u);
        number /= 10u;
    } while (number != 0);
    while (count != 0) {
        hal_write((uint8_t)digits[--count]);
    }
    hal_write('\n');
}

/* Adds to `shared` under a spinlock, and counts how often the lock passed to the other core. */
static void add_locked(void) {
    static volatile uint32_t last = 2;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        while (LOCK(3) == 0) {
        }
        shared = shared + 1u;
        turns[CPUID] += last != CPUID;
        last = CPUID;
        LOCK(3) = 0;
    }
}

static uint32_t divided(uint32_t a, uint32_t b) {
    AT(SIO + 0x60u) = a;
    AT(SIO + 0x64u) = b;
    while (!(AT(SIO + 0x78u) & 1u)) {
    }
    return AT(SIO + 0x70u);
}

/* Work that takes the same cycles wherever the other core is. */
static uint32_t work(void) {
    static const uint8_t table[16] = {7, 12, 1, 9, 14, 3, 0, 10, 5, 15, 2, 8, 13, 4, 11, 6};
    uint32_t value = 1;
    for (uint32_t i = 0; i < 2000u; i++) {
        value = value * 1664525u + 1013904223u;
        value ^= (uint32_t)table[value >> 28] << 8 | (uint32_t)table[value >> 4 & 15u];
        value = value >> 7 | value << 25;
        if (i % 8u == 7u) {
            steps = value;
        }
    }
    return value;
}

static void core1(void) {
    send(CPUID);
    for (uint32_t i = 0; i < SQUARES; i++) {
        uint32_t word = receive();
        send(word * word);
    }
    AT(SIO + 0x60u) = 1000u; /* core 0 divides meanwhile */
    AT(SIO + 0x64u) = 7u;
    send(0);
    (void)receive();
    quotient1 = AT(SIO + 0x70u);
    send(0);
    add_locked();
    send(0);
    while (flag == 0) { /* no register, only memory */
    }
    flag = 2;
    send((uint32_t)&flag >> 28);
    for (;;) {
        WAIT();
    }
}

#if PART == 10
/* MOVS R0, #value; BX LR: what it is changed to later */
__attribute__((section(".data.code,\"awx\"@"), aligned(4))) static volatile uint32_t code[1] = {0x47702001u};
static const uint32_t changed[1] = {0x47702002u};

static uint32_t run_code(void) {
    return ((uint32_t (*)(void))((uint32_t)code + 1u))();
}

static void asked(void) {
    for (;;) {
        (void)receive();
        send(run_code());
    }
}

static uint32_t answer(void) {
    send(0);
    return receive();
}

/* Both cores run code before and after the DMA has changed it. */
static void change_code(void) {
    start_core1(asked);
    put("before 1 ", answer());
    put("before 0 ", run_code());
    AT(0x4000F000u) = 1u << 2; /* RESETS: the DMA */
    while (!(AT(0x4000C008u) & 1u << 2)) {
    }
    AT(0x50000000u) = (uint32_t)changed;
    AT(0x50000004u) = (uint32_t)code;
    AT(0x50000008u) = 1;
    AT(0x5000000Cu) = 0x3Fu << 15 | 2u << 2 | 1u;
    while (AT(0x5000000Cu) & 1u << 24) {
    }
    put("after 1 ", answer());
    put("after 0 ", run_code());
}
#endif

#if PART == 7 || PART == 8
/* 1,000 rounds of 16 loads, with their code and the word that they load in one bank of 4 KB: of 35 cycles, 16 are for
 * the word and 9 for code. */
#define LOADS(name, bank)                                                                                    \
    __attribute__((naked, noinline, section(bank))) static void name(void) {                                 \
        __asm__ volatile(".syntax unified\n ldr r0, =2f\n ldr r2, =1000\n .balign 4\n"                       \
                         "1:\n .rept 16\n ldr r1, [r0]\n .endr\n subs r2, #1\n bne 1b\n bx lr\n"             \
                         ".balign 4\n 2: .word 0\n .ltorg");                                                 \
    }
LOADS(loads4, ".sram4")
LOADS(loads5, ".sram5")

static void loads_of_core1(void) {
    send(1);
    (void)receive();
    (PART == 7 ? loads4 : loads5)();
    for (;;) {
        WAIT();
    }
}

static void load_both(void) {
    start_core1(loads_of_core1);
    (void)receive();
    send(1);
    hal_timer_start();
    loads4();
    put("cycles ", hal_timer_cycles());
}
#endif

static void timed(const char *what) {
    uint32_t value;
    hal_timer_start();
    value = work();
    put(what, hal_timer_cycles());
    put("value ", value);
}

static void works(void) {
    for (;;) {
        (void)work();
    }
}

static void sleeps(void) {
    send(1);
    for (;;) {
        WAIT();
    }
}

static void faults(void) {
    AT(0x60000000u) = 1;
}

static void all(void) {
    uint32_t sum = 0;
    start_core1(core1);
    put("core ", receive());
    for (uint32_t i = 0; i < SQUARES; i++) {
        send(i);
        sum += receive();
    }
    put("squares ", sum);
    (void)receive();
    put("quotient 0 ", divided(100u, 3u));
    send(0);
    (void)receive();
    put("quotient 1 ", quotient1);
    add_locked();
    (void)receive();
    put("shared ", shared);
    put("turns of both ", turns[0] != 0 && turns[1] != 0);
    flag = 1;
    while (flag != 2) {
    }
    put("flag ", receive());
    FIFO_STATUS = 0; /* the boot ROM's core 1 reads before it looks: no flag is left */
    put("status ", FIFO_STATUS);
}

int main(void) {
    hal_init();
#if PART == 7 || PART == 8 /* both from one bank, or each from its own */
    load_both();
    return 0;
#endif
#if PART == 10
    change_code();
    return 0;
#endif
    if (PART == 0) {
        all();
    } else if (PART == 1) { /* the same work without and with a second core that sleeps */
        timed("alone ");
        start_core1(sleeps);
        (void)receive();
        timed("beside ");
    } else if (PART == 3) {
        start_core1(faults);
        for (;;) {
        }
    } else if (PART == 4) { /* a core whose reset ends begins again in the boot ROM */
        start_core1(sleeps);
        put("first ", receive());
        AT(PSM_FORCE_OFF + 0x2000u) = 1u << 16;
        AT(PSM_FORCE_OFF + 0x3000u) = 1u << 16;
        put("waits ", receive());
        start_core1(sleeps);
        put("second ", receive());
    } else if (PART == 6) {
        start_core1(works);
        works();
    } else if (PART == 9) {
        works();
    } else {
        WAIT(); /* nobody sends an event */
    }
    return 0;
}
