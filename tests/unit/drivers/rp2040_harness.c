/* rp2040_harness.c: the registers of RP2040 without a core: the test gives the time, reads and writes. */
#include "arm_rp2040.h"

#include "harness.h"

static struct rp2040 chip;
static uint64_t now, flushes, sent;
static int waiting; /* bytes of input: 1 to `waiting` */

static uint64_t cycles(void *context) {
    return context == &chip ? now : 0;
}

static int has_input(void *context) {
    return context == &chip && waiting > 0;
}

static uint8_t take(void *context) {
    return (uint8_t)(context == &chip && waiting > 0 ? 0x40 + waiting-- : 0);
}

static void give(void *context, uint8_t byte) {
    sent = context == &chip ? sent << 8 | byte : 0;
}

static void flush(void *context) {
    flushes += context == &chip;
}

static uint32_t sender(void *context) {
    return context == &chip ? 0x28 : 0;
}

static uint64_t reset(const uint64_t *n) {
    memset(&chip, 0x55, sizeof chip);
    chip.is_rp2350 = false; /* a reset keeps which chip it is */
    chip.outside = (struct chip_outside){cycles, has_input, take, give, flush, &chip, n[0] ? sender : NULL};
    now = flushes = sent = 0;
    waiting = 0;
    rp2040_reset(&chip);
    return 0;
}

static const struct chip_window *window_of(uint32_t address) {
    for (size_t i = 0; i < sizeof rp2040_windows / sizeof rp2040_windows[0]; i++) {
        if (address - rp2040_windows[i].base < rp2040_windows[i].bytes) {
            return &rp2040_windows[i];
        }
    }
    return NULL;
}

static uint64_t kind(const uint64_t *n) {
    const struct chip_window *window = window_of((uint32_t)n[0]);
    return window == NULL ? 99 : window->kind;
}

static uint64_t get(const uint64_t *n) {
    return rp2040_read(&chip, window_of((uint32_t)n[0]), (uint32_t)n[0]);
}

static uint64_t put(const uint64_t *n) {
    rp2040_write(&chip, window_of((uint32_t)n[0]), (uint32_t)n[0], (uint32_t)n[1]);
    return 0;
}

static uint64_t at(const uint64_t *n) {
    now = n[0];
    return 0;
}

static uint64_t comes(const uint64_t *n) {
    waiting = (int)n[0];
    return 0;
}

static uint64_t hertz(const uint64_t *n) {
    (void)n;
    return (uint64_t)(rp2040_system_hz(&chip) + 0.5);
}

static uint64_t baud(const uint64_t *n) {
    (void)n;
    return (uint64_t)(rp2040_uart_baud(&chip) * 1000 + 0.5);
}

static uint64_t nanoseconds(const uint64_t *n) {
    (void)n;
    return (uint64_t)(rp2040_seconds(&chip) * 1e9 + 0.5);
}

static uint64_t said(const uint64_t *n) {
    return n[0] ? flushes : sent;
}

static uint64_t core(const uint64_t *n) {
    chip.core = (unsigned)n[0];
    return 0;
}

static uint64_t interrupts(const uint64_t *n) {
    return sio_interrupts(&chip.sio, (unsigned)n[0]);
}

static uint64_t simulated(const uint64_t *n) {
    rp2040_set_simulated(&chip, (uint32_t)n[0]);
    return 0;
}

int main(int argc, char **argv) {
    static const struct operation operations[] = {
        {"reset", reset},
        {"kind", kind},
        {"get", get},
        {"put", put},
        {"at", at},
        {"comes", comes},
        {"hz", hertz},
        {"baud", baud},
        {"ns", nanoseconds},
        {"said", said},
        {"simulated", simulated},
        {"core", core},
        {"interrupts", interrupts},
    };
    (void)argc;
    return SERVE(operations, argv);
}
