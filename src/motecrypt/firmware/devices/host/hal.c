/* hal.c for the host: the UART is standard input and output, the timer the CPU's own. */
#define _POSIX_C_SOURCE 200809L
#include "hal.h"
#include "cipher.h"
#include CIPHER_HEADER

#include <time.h>
#include <unistd.h>

/* What Python must allocate for a context. */
extern const size_t cipher_context_bytes;
const size_t cipher_context_bytes = sizeof(struct cipher_context);

/* The driver that loads this library sets the hooks; without one a mark does nothing. */
extern void (*hal_host_mark)(uint8_t begins);
void (*hal_host_mark)(uint8_t begins);

static uint64_t started;

static uint64_t nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void hal_init(void) {
}

uint8_t hal_read(void) {
    uint8_t byte;
    if (read(0, &byte, 1) != 1) {
        _exit(0);
    }
    return byte;
}

void hal_write(uint8_t byte) {
    if (write(1, &byte, 1) != 1) {
        _exit(0);
    }
}

void hal_mark(uint8_t begins) {
    if (hal_host_mark) {
        hal_host_mark(begins);
    }
}

void hal_timer_start(void) {
    started = nanoseconds();
}

uint32_t hal_timer_cycles(void) {
    uint64_t spent = nanoseconds() - started;
    return spent > UINT32_MAX ? UINT32_MAX : (uint32_t)spent;
}

void hal_stack_paint(void) {
}

uint32_t hal_stack_depth(void) {
    return 0;
}

uint32_t hal_clock_hz(void) {
    return 1000000000u;
}
