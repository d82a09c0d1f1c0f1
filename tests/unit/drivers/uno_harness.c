/* uno_harness.c: the UNO's hal.c and uno.c of the paper's node on a computer (avr_native/): writes to
 * registers are printed, and the test sets what they read. A register cannot know whether it is to be read or
 * written: it gives a value that nothing writes, where there is one, and the next looks whether that has
 * changed. */
#include <avr/io.h>

#include "hal.h"
#include "harness.h"
#include "node.h"

enum { ABOVE = 0x5A0000 };

void TIMER1_OVF_vect(void);
void sei(void);
void cli(void);
void delay_us(double us);

uint8_t memory[300];
static size_t stack_at;
static volatile uint32_t slot;
static uint32_t given, looks, wanted_look, simulated, count, flags, adc, kept_blocks;
static const char *last;
static double waited_us;

uintptr_t stack_pointer(void) {
    return (uintptr_t)memory + stack_at;
}

static void settle(void) {
    if (last != NULL && slot != given) {
        fprintf(stderr, "%s = %x\n", last, slot & 0xFFFF);
        kept_blocks = strcmp(last, "GPIOR2") == 0 ? slot : kept_blocks;
    }
    last = NULL;
}

/* At the looks before the wanted one all but the bit that is awaited, then that alone. */
static uint32_t awaited(uint32_t bit) {
    return ++looks < wanted_look ? 0xFF & ~bit : bit;
}

volatile uint32_t *register_of(const char *name) {
    settle();
    last = name;
    given = ABOVE | 0x81; /* what ADCSRA has kept, and what comes from the line */
    if (strcmp(name, "UCSR0A") == 0) {
        given = ABOVE | awaited(flags);
    } else if (strcmp(name, "ADCSRA") == 0) {
        given = looks == 0 ? given : ABOVE | (awaited(1u << ADSC) ^ 0xFF);
        looks += looks == 0;
    } else if (strcmp(name, "GPIOR1") == 0) {
        given = simulated;
    } else if (strcmp(name, "GPIOR2") == 0) {
        given = kept_blocks;
    } else if (strcmp(name, "TCNT1") == 0) {
        given = count;
    } else if (strcmp(name, "TIFR1") == 0) {
        given = flags;
    } else if (strcmp(name, "ADC") == 0) {
        fprintf(stderr, "converted after %u\n", looks);
        given = adc;
    }
    slot = given;
    return &slot;
}

void sei(void) {
    settle();
    fputs("sei\n", stderr);
}

void cli(void) {
    settle();
    fputs("cli\n", stderr);
}

void delay_us(double us) {
    waited_us += us;
}

static uint64_t init(const uint64_t *n) {
    simulated = (uint32_t)n[0];
    hal_init();
    settle();
    return hal_clock_hz();
}

static uint64_t wake(const uint64_t *n) {
    simulated = (uint32_t)n[0];
    node_init();
    settle();
    return 0;
}

/* The flag that says go, and at which look it does; then the byte. */
static uint64_t receive(const uint64_t *n) {
    flags = (uint32_t)n[0];
    wanted_look = (uint32_t)n[1];
    looks = 0;
    uint64_t byte = hal_read();
    settle();
    return looks * 1000 + byte;
}

static uint64_t give(const uint64_t *n) {
    flags = (uint32_t)n[0];
    wanted_look = (uint32_t)n[1];
    looks = 0;
    if (n[3]) {
        node_write((uint8_t)n[2]);
    } else {
        hal_write((uint8_t)n[2]);
    }
    settle();
    return looks;
}

static uint64_t mark(const uint64_t *n) {
    hal_mark((uint8_t)n[0]);
    settle();
    return 0;
}

static uint64_t begin(const uint64_t *n) {
    simulated = (uint32_t)n[0];
    count = 0x1111;
    flags = 0xFE;
    hal_timer_start();
    settle();
    return 0;
}

/* The number of overflows with an interrupt, the flag register, and the count. */
static uint64_t cycles(const uint64_t *n) {
    for (uint64_t i = 0; i < n[0]; i++) {
        TIMER1_OVF_vect();
    }
    flags = (uint32_t)n[1];
    count = (uint32_t)n[2];
    uint64_t told = hal_timer_cycles();
    settle();
    return told;
}

/* Where the paint begins and ends in what was clean before, or, where that is asked, in what was painted. */
static uint64_t paint(const uint64_t *n) {
    size_t first = 0, end;
    stack_at = (size_t)n[0];
    memset(memory, 0, n[1] ? 0 : sizeof memory);
    hal_stack_paint();
    while (first < sizeof memory && memory[first] != 0xA5) {
        first++;
    }
    end = first;
    while (end < sizeof memory && memory[end] == 0xA5) {
        end++;
    }
    return first * 1000 + end;
}

static uint64_t depth(const uint64_t *n) {
    memory[n[0]] = 1;
    stack_at = (size_t)n[1];
    uint64_t deep = hal_stack_depth();
    settle();
    return deep;
}

static uint64_t rest(const uint64_t *n) {
    waited_us = 0;
    node_wait((uint16_t)n[0]);
    return (uint64_t)waited_us;
}

static uint64_t temperature(const uint64_t *n) {
    adc = (uint32_t)n[0];
    wanted_look = (uint32_t)n[1];
    looks = 0;
    return (uint16_t)node_temperature();
}

int main(int argc, char **argv) {
    static const struct operation operations[] = {
        {"init", init},   {"wake", wake},   {"receive", receive},         {"give", give},
        {"mark", mark},   {"begin", begin}, {"cycles", cycles},           {"paint", paint},
        {"depth", depth}, {"rest", rest},   {"temperature", temperature},
    };
    (void)argc;
    return SERVE(operations, argv);
}
