/* rp_harness.c: all registers of RP2040 and RP2350 without a core: the test gives the time, accesses and memory. */
#include "arm_rp2040_events.h"

#include "harness.h"

enum { RAM = 0x20000000, RAM_BYTES = 0x1000, FLASH = 0x10000000 };

static struct rp2040 chip;
static uint64_t now, changes_at, wrote, sent;
static uint32_t sender, given;
static int waiting;
static uint8_t ram[RAM_BYTES], flash[RAM_BYTES];

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
    (void)context;
}

static uint32_t sender_flags(void *context) {
    return context == &chip ? sender : 0;
}

static uint64_t uart_changes(void *context) {
    return context == &chip ? changes_at : 0;
}

static void usb_taken(void *context, uint8_t byte) {
    (void)context;
    (void)byte;
}

static bool usb_given(void *context, uint8_t *byte) {
    (void)byte;
    given += context == &chip;
    return false;
}

static uint8_t *memory(void *context, uint32_t address, uint32_t bytes) {
    if (context == &chip && address - RAM < RAM_BYTES && address - RAM + bytes <= RAM_BYTES) {
        return ram + (address - RAM);
    }
    return address - FLASH < RAM_BYTES ? flash + (address - FLASH) : NULL;
}

static void wrote_there(void *context, uint32_t address, uint32_t bytes) {
    wrote = context == &chip ? (uint64_t)bytes << 32 | address : 0;
}

static const struct chip_window *window_of(uint32_t address) {
    return chip.is_rp2350 ? rp2350_window_of(address) : rp2040_window_of(address);
}

static uint64_t reset(const uint64_t *n) {
    memset(&chip, 0x55, sizeof chip);
    chip.is_rp2350 = n[0];
    chip.outside =
        (struct chip_outside){cycles,       has_input,    take,      give,      flush,  &chip,
                              sender_flags, uart_changes, usb_taken, usb_given, memory, wrote_there};
    memset(ram, 0, sizeof ram);
    memset(flash, 0, sizeof flash);
    now = wrote = sent = 0;
    changes_at = UINT64_MAX;
    sender = 0x80;
    waiting = 0;
    (chip.is_rp2350 ? rp2350_reset : rp2040_reset)(&chip);
    return 0;
}

static uint64_t get(const uint64_t *n) {
    return (chip.is_rp2350 ? rp2350_read : rp2040_read)(&chip, window_of((uint32_t)n[0]), (uint32_t)n[0]);
}

/* address, value, bytes (0: a word) */
static uint64_t put(const uint64_t *n) {
    const struct chip_window *window = window_of((uint32_t)n[0]);
    unsigned bytes = n[2] ? (unsigned)n[2] : 4;
    uint32_t lanes = (uint32_t)n[1] * (bytes == 1 ? 0x01010101u : bytes == 2 ? 0x00010001u : 1u);
    if (chip.is_rp2350 && window->kind == CHIP_CORE) {
        lanes = nvic_written(&chip.nvic[chip.core], (uint32_t)n[0] - window->base, lanes, bytes);
    }
    (chip.is_rp2350 ? rp2350_write : rp2040_write)(&chip, window, (uint32_t)n[0], lanes);
    return 0;
}

static uint64_t at(const uint64_t *n) {
    now = n[0];
    rp2040_advance(&chip, now);
    return 0;
}

static uint64_t due(const uint64_t *n) {
    (void)n;
    return rp2040_next_event(&chip, now);
}

static uint64_t alone(const uint64_t *n) {
    (void)n;
    return rp2040_acts_alone(&chip, now);
}

static uint64_t core(const uint64_t *n) {
    chip.core = (unsigned)n[0];
    return 0;
}

static uint64_t lines(const uint64_t *n) {
    return rp2040_lines(&chip, (unsigned)n[0]);
}

/* core, what masks (0: nothing, else one more than the priority) */
static uint64_t next(const uint64_t *n) {
    return nvic_next(&chip.nvic[n[0]], n[1] ? (int)n[1] - 1 : NVIC_LOWEST);
}

static uint64_t ready(const uint64_t *n) {
    return nvic_has_ready(&chip.nvic[n[0]]);
}

static uint64_t enter(const uint64_t *n) {
    nvic_enter(&chip.nvic[n[0]], (uint32_t)n[1]);
    return 0;
}

static uint64_t leave(const uint64_t *n) {
    nvic_leave(&chip.nvic[n[0]]);
    return chip.nvic[n[0]].depth;
}

static uint64_t event(const uint64_t *n) {
    bool came = chip.nvic[n[0]].sends_event;
    chip.nvic[n[0]].sends_event = false;
    return came;
}

static uint64_t resets(const uint64_t *n) {
    return chip.nvic[n[0]].wants_reset | chip.watchdog.wants_reset << 1;
}

static uint64_t restart(const uint64_t *n) {
    (void)n;
    rp2040_restart(&chip);
    return 0;
}

static uint64_t word(const uint64_t *n) {
    uint32_t value;
    memcpy(&value, memory(&chip, (uint32_t)n[0], 4), 4);
    return value;
}

static uint64_t fill(const uint64_t *n) {
    uint32_t value = (uint32_t)n[1];
    memcpy(memory(&chip, (uint32_t)n[0], 4), &value, 4);
    return 0;
}

static uint64_t uart(const uint64_t *n) {
    waiting = (int)n[0];
    sender = (uint32_t)n[1];
    changes_at = n[2];
    return 0;
}

static uint64_t said(const uint64_t *n) {
    return n[0] ? wrote : sent;
}

static uint64_t nanoseconds(const uint64_t *n) {
    (void)n;
    return (uint64_t)(rp2040_seconds(&chip) * 1e9 + 0.5);
}

static uint64_t hertz(const uint64_t *n) {
    (void)n;
    return (uint64_t)(rp2040_system_hz(&chip) + 0.5);
}

int main(int argc, char **argv) {
    static const struct operation operations[] = {
        {"reset", reset}, {"get", get},     {"put", put},     {"at", at},         {"due", due},
        {"alone", alone}, {"core", core},   {"lines", lines}, {"next", next},     {"ready", ready},
        {"enter", enter}, {"leave", leave}, {"event", event}, {"resets", resets}, {"restart", restart},
        {"word", word},   {"fill", fill},   {"uart", uart},   {"said", said},     {"ns", nanoseconds},
        {"hz", hertz},
    };
    (void)argc;
    return SERVE(operations, argv);
}
