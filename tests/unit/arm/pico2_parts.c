/* pico2_parts.c: a program for the Pico 2 that uses parts of RP2350 in the ways in which they differ from RP2040's, and says
 * on UART0 what it found. Each line is a word and numbers. Sections are the RP2350 datasheet's.
 */
#include "pico2.h"

static volatile uint32_t lines;
static void on_line2(void), on_line3(void);

VECTORS([15 + 12] = on_line2, [15 + 13] = on_line3);

static void wait_us(uint32_t us) {
    for (uint32_t from = AT(TIMER0 + 0x28u); AT(TIMER0 + 0x28u) - from < us;) {
    }
}

/* ---- 8.5, 12.9: the watchdog counts ticks of its own generator ---- */

static uint32_t left(void) {
    return AT(WATCHDOG) & 0xFFFFFFu;
}

static void use_watchdog(void) {
    uint32_t before;
    word("watchdog");
    AT(0x40108030u) = 0;
    AT(0x40108034u) = 48u; /* a tick each 4 microseconds */
    AT(0x40108030u) = 1u;
    AT(WATCHDOG + 4u) = 10000u;
    SET(WATCHDOG) = 1u << 30;
    wait_us(4000u);
    before = left();
    number(before <= 9001u && before >= 8990u); /* the wait may be up to a microsecond short */
    AT(0x40108030u) = 0;                        /* it stops */
    before = left();
    wait_us(100u);
    number(before - left());
    AT(0x40108030u) = 1u;
    AT(0x40108018u) = 0; /* the timer stops, and the watchdog counts */
    before = left();
    for (volatile int i = 0; i < 1000; i++) {
    }
    number(before - left() > 5u);
    AT(0x40108018u) = 1u;
    CLEAR(WATCHDOG) = 1u << 30;
    AT(0x40108034u) = 12u;
}

/* ---- 5.4.8: the boot ROM's functions for the flash ---- */

enum { RUNTIME = 1, SECURE = 1 << 8, ERASE = 0, PROGRAM = 1 << 16, READ = 2 << 16 };

__attribute__((section(".data.code,\"awx\"@"))) static uint32_t page[64] = {0}; /* code may run there */

/* MOVS R0, #value; BX LR */
static void compile(uint32_t value) {
    page[0] = 0x47702000u | value;
}

static void use_flash(void) {
    int (*operate)(uint32_t, uint32_t, uint32_t, void *) = found('F', 'O', 4);
    uint32_t (*storage)(uint32_t) = found('F', 'A', 4);
    uint32_t (*cached)(void) = (uint32_t (*)(void))0x10100001u,
             (*uncached)(void) = (uint32_t (*)(void))0x14100001u;
    uint32_t (*in_ram)(void) = (uint32_t (*)(void))((uintptr_t)page + 1u);
    word("code"); /* it changes after it has run */
    compile(1);
    operate(SECURE | RUNTIME | ERASE, 0x10100000u, 4096, 0);
    operate(SECURE | RUNTIME | PROGRAM, 0x10100000u, 256, page);
    number(cached() << 8 | uncached());
    compile(2);
    operate(SECURE | ERASE, storage(0x10100000u), 4096, 0);
    operate(SECURE | PROGRAM, 0x10100000u, 256, page);
    number(cached() << 8 | uncached());
    compile(3);
    number(in_ram());
    operate(SECURE | RUNTIME | READ, 0x10100000u, 8, page);
    number(in_ram());
    word("refused");
    number(operate(SECURE | RUNTIME | ERASE, 0x10100100u, 4096, 0));
    number(operate(SECURE | RUNTIME | ERASE, 0x10100000u, 256, 0));
    number(operate(SECURE | RUNTIME | PROGRAM, 0x10100080u, 256, page));
    number(operate(SECURE | RUNTIME | PROGRAM, 0x10100000u, 8, page));
    number(operate(SECURE | RUNTIME | READ, 0x10100001u, 3, page));
    number(operate(RUNTIME | READ, 0x10100000u, 4, page));
    number(operate(SECURE | 3 << 16, 0x10100000u, 4096, page));
    number(operate(SECURE | READ | 2u, 0x10100000u, 4, page));
    number(operate(SECURE | READ, 0x00100000u, 4, page));
    number(operate(SECURE | RUNTIME | READ, 0x14100000u, 4, page));
    number(cached());
}

/* ---- 12.6: DMA ---- */

enum {
    EN = 1,
    WORDS = 2 << 2,
    READS_ON = 1 << 4,
    READS_BACK = 1 << 5,
    WRITES_ON = 1 << 6,
    WRITES_BACK = 1 << 7
};
#define DMA(channel, reg) AT(0x50000000u + 0x40u * (channel) + (reg))
#define LINE(line, reg) AT(0x50000400u + 0x10u * (line) + (reg))
#define ALWAYS (63u << 17)
#define BUSY (1u << 26)

static uint32_t from[8] = {1, 2, 3, 4, 5, 6, 7, 8}, to[16];

static void transfer(uint32_t channel, const uint32_t *read, uint32_t *write, uint32_t count,
                     uint32_t control) {
    DMA(channel, 0) = (uint32_t)(uintptr_t)read;
    DMA(channel, 4) = (uint32_t)(uintptr_t)write;
    DMA(channel, 8) = count;
    DMA(channel, 12) = EN | WORDS | channel << 13 | control;
}

static void ended(uint32_t channel) {
    while (DMA(channel, 12) & BUSY) {
    }
}

static void on_line2(void) {
    lines += 1u;
    LINE(2, 12) = 1u << 15;
}

static void on_line3(void) {
    lines += 0x100u;
    LINE(3, 12) = 1u << 14;
    if (lines >> 8 == 5u) {
        AT(0x50000464u) = 1u << 14; /* ABORT */
    }
}

static void use_dma(void) {
    uint32_t begins, control = READS_ON | WRITES_ON | ALWAYS;
    word("channels");
    number(AT(0x50000468u)); /* N_CHANNELS */
    AT(0xE000E100u) = 1u << 12;
    LINE(2, 4) = 0xFFFF8000u;
    transfer(15, from, to, 4, control);
    ended(15);
    number(to[3]);
    number(lines);
    number(LINE(2, 4));
    for (uint32_t alias = 0; alias < 4; alias++) { /* 2.1.3: only writes differ */
        number(DMA(15, 12 + 0x1000u * alias));
    }
    word("lines");
    LINE(2, 4) = 0;
    LINE(3, 8) = 1u << 3; /* INTF3 */
    number(LINE(3, 12) << 16 | LINE(2, 12));
    LINE(3, 8) = 0;
    wait_us(2u);
    AT(0xE000E280u) = 1u << 13;
    AT(0xE000E100u) = 1u << 13;
    lines = 0;
    LINE(3, 4) = 1u << 14;
    transfer(14, from, to, 1u << 28 | 200u, READS_ON | ALWAYS); /* it triggers itself */
    ended(14);
    number(lines);
    number(LINE(1, 0)); /* INTR */
    number(DMA(14, 0) - (uint32_t)(uintptr_t)from);
    word("count");
    transfer(13, from, to + 8, 15u << 28, control | 4u << 8 | 1u << 12); /* endless, in a ring of 16 bytes */
    wait_us(10u);
    number(DMA(13, 8));
    number(DMA(13, 12) & BUSY);
    AT(0x50000464u) = 1u << 13;
    number(DMA(13, 12) & BUSY);
    number(LINE(0, 0));
    AT(0x50000440u) = 1u << 16 | 150u; /* TIMER0: each microsecond */
    begins = AT(TIMER0 + 0x28u);
    transfer(12, from, to + 8, 15u << 28, READS_ON | 59u << 17);
    wait_us(10u);
    AT(0x50000464u) = 1u << 12;
    begins = (DMA(12, 0) - (uint32_t)(uintptr_t)from) / 4 - (AT(TIMER0 + 0x28u) - begins);
    number(begins + 1u <= 2u);
    word("down");
    transfer(0, from + 3, to, 4, READS_ON | READS_BACK | WRITES_ON | ALWAYS);
    ended(0);
    number(to[0] << 24 | to[1] << 16 | to[2] << 8 | to[3]);
    transfer(0, from, to, 4, READS_BACK | WRITES_ON | ALWAYS); /* each second one */
    ended(0);
    number(to[0] << 24 | to[1] << 16 | to[2] << 8 | to[3]);
    transfer(0, from, to + 3, 4, READS_ON | WRITES_ON | WRITES_BACK | ALWAYS);
    ended(0);
    number(to[0] << 24 | to[1] << 16 | to[2] << 8 | to[3]);
    SET(0x40020000u) = 1u << 2;
    CLEAR(0x40020000u) = 1u << 2;
    number(DMA(0, 12) | DMA(13, 8));
}

/* ---- what is not modelled is listed ---- */

static void use_others(void) {
    (void)AT(0x400E8020u);
    (void)AT(0x400100A4u);
    AT(0x500004C0u) = 1u;
    (void)AT(0x50000804u);
    (void)AT(0x400C800Cu);
    AT(0x400D0034u) = 0;
}

void main(void) {
    use_watchdog();
    use_flash();
    use_dma();
    use_others();
    say('\n');
}
