/* plain_harness.c: the registers of a chip of arm_plain.h, without a core: written, read, and the clocks that follow. */
#include <math.h>

#include "arm_chip.h"

#include "harness.h"

static struct plain chip;
static uint64_t now;
static uint8_t sent;

static uint64_t cycles(void *context) {
    (void)context;
    return now;
}

static int has_input(void *context) {
    (void)context;
    return 0;
}

static uint8_t none(void *context) {
    (void)context;
    return 0;
}

static void send(void *context, uint8_t byte) {
    (void)context;
    sent = byte;
}

static uint64_t begin(const uint64_t *n) {
    const struct chip_model *model = chip_model_of(arguments[0]);
    (void)n;
    chip.outside = (struct chip_outside){
        .cycles = cycles, .uart_has_input = has_input, .uart_read = none, .uart_write = send};
    plain_reset(&chip, model->plain, model->windows, model->window_count);
    return model->plain->cpuid;
}

/* address, value, bytes; what the UART has sent last */
static uint64_t write(const uint64_t *n) {
    plain_peripheral_write(&chip, (uint32_t)n[0], (uint32_t)n[1], (unsigned)n[2]);
    return sent;
}

static uint64_t read(const uint64_t *n) {
    return plain_peripheral_read(&chip, (uint32_t)n[0]);
}

static uint64_t rounded(double number) {
    return isfinite(number) ? (uint64_t)(number + 0.5) : UINT64_MAX;
}

static uint64_t hz(const uint64_t *n) {
    (void)n;
    return rounded(chip.model->hz(&chip));
}

static uint64_t baud(const uint64_t *n) {
    (void)n;
    return rounded(chip.model->baud(&chip));
}

/* Nanoseconds since the reset, after a number of further cycles. */
static uint64_t later(const uint64_t *n) {
    now += n[0];
    return rounded(plain_seconds(&chip) * 1e9);
}

int main(int argc, char **argv) {
    static const struct operation operations[] = {{"begin", begin}, {"write", write}, {"read", read},
                                                  {"hz", hz},       {"baud", baud},   {"later", later}};
    (void)argc;
    return SERVE(operations, argv);
}
