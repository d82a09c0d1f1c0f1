/* simavr_harness.c: functions of simavr.c, each by itself, on a chip that has ELPM. */
#define main driver_main
#include "simavr.c"
#undef main

#include "harness.h"

static void put_opcode(uint64_t pc, uint64_t op) {
    sim.avr->flash[pc] = (uint8_t)op;
    sim.avr->flash[pc + 1] = (uint8_t)(op >> 8);
}

static uint64_t chip(const uint64_t *n) {
    (void)n;
    sim.avr = avr_make_mcu_by_name("atmega1280");
    avr_init(sim.avr);
    return avr_guard(sim.avr);
}

/* X, Y, Z, RAMPZ */
static uint64_t pointers(const uint64_t *n) {
    for (int i = 0; i < 3; i++) {
        sim.avr->data[26 + 2 * i] = (uint8_t)n[i];
        sim.avr->data[27 + 2 * i] = (uint8_t)(n[i] >> 8);
    }
    sim.avr->data[sim.avr->rampz] = (uint8_t)n[3];
    return 0;
}

/* One more than what an instruction and its next word touch: 0 is nothing. */
static uint64_t touched(const uint64_t *n) {
    put_opcode(n[2], n[0]);
    put_opcode(n[2] + 2, n[1]);
    return (uint64_t)(touched_by((avr_flashaddr_t)n[2]) + 1);
}

static uint64_t uart_flags(const uint64_t *n) {
    uint32_t flags = 77;
    (void)n;
    connect_uart();
    avr_ioctl(sim.avr, AVR_IOCTL_UART_GET_FLAGS('0'), &flags);
    return flags;
}

static uint64_t complain_of(int level, const char *format, ...) {
    va_list list;
    va_start(list, format);
    quiet(NULL, level, format, list);
    va_end(list);
    return 0;
}

/* By its level the complaint in the first argument, with a number in its place. */
static uint64_t complain(const uint64_t *n) {
    return complain_of((int)n[0], arguments[0], (int)n[1]);
}

/* The chip that the first argument names, and which codes it lacks. */
static uint64_t codes(const uint64_t *n) {
    (void)n;
    sim.avr = chip_make(arguments[0]);
    codes_open(sim.avr);
    return 1;
}

static uint64_t lacks(const uint64_t *n) {
    return code_is_lacking((uint16_t)n[0]);
}

/* 1: it skips; 2: it has two words; and the cycles of its access times 4. */
static uint64_t kind(const uint64_t *n) {
    uint16_t code = (uint16_t)n[0];
    return (uint64_t)(code_skips(code) + 2 * code_has_two_words(code) + 4 * (int)code_access_cycles(code));
}

int main(int argc, char **argv) {
    static const struct operation operations[] = {
        {"chip", chip},         {"pointers", pointers}, {"touched", touched}, {"flags", uart_flags},
        {"complain", complain}, {"codes", codes},       {"lacks", lacks},     {"kind", kind},
    };
    (void)argc;
    return SERVE(operations, argv);
}
