/* hal.c for the host: the UART is standard input and output, the timer the CPU's own.
 *
 * A simulator counts cycles exactly, a host does not: it has to repeat. So the firmware's calls of the cipher
 * come here (the linker's --wrap), and a driver that sets hal_host_run may repeat them on the same inputs.
 * Without a driver (Python loads this library directly) the cipher is simply called.
 */
#define _POSIX_C_SOURCE 200809L
#include "hal.h"
#include "cipher.h"
#include CIPHER_HEADER

#include <string.h>
#include <time.h>
#include <unistd.h>

/* What Python must allocate for a context. */
extern const size_t cipher_context_bytes;
const size_t cipher_context_bytes = sizeof(struct cipher_context);

/* The hooks of drivers/host.c. Run `operation` as often as the driver chooses, `restore` before each
 * repetition;
 * returns the last status. A mark does nothing without a driver. */
extern uint8_t (*hal_host_run)(uint8_t (*operation)(void), void (*restore)(void));
uint8_t (*hal_host_run)(uint8_t (*operation)(void), void (*restore)(void));
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

/* The driver measures the stack, on one that it has painted. */
void hal_stack_paint(void) {
}

uint32_t hal_stack_depth(void) {
    return 0;
}

uint32_t hal_clock_hz(void) {
    return 1000000000u;
}

/* --- the cipher's calls, repeatable ---------------------------------------------------------------- */

uint8_t __real_cipher_setup(struct cipher_context *context, const uint8_t *key, uint8_t key_bytes);
uint8_t __real_cipher_encrypt(struct cipher_context *context, const struct cipher_io *io);
uint8_t __real_cipher_decrypt(struct cipher_context *context, const struct cipher_io *io);
uint8_t __wrap_cipher_setup(struct cipher_context *context, const uint8_t *key, uint8_t key_bytes);
uint8_t __wrap_cipher_encrypt(struct cipher_context *context, const struct cipher_io *io);
uint8_t __wrap_cipher_decrypt(struct cipher_context *context, const struct cipher_io *io);

/* The call in progress, and what it started from: it works in place. */
static struct {
    struct cipher_context *context;
    const struct cipher_io *io;
    const uint8_t *key;
    uint8_t key_bytes;
    uint8_t tag[16];
    uint8_t message[BENCH_MESSAGE_BYTES];
} call;

static uint8_t do_setup(void) {
    return __real_cipher_setup(call.context, call.key, call.key_bytes);
}

static uint8_t do_encrypt(void) {
    return __real_cipher_encrypt(call.context, call.io);
}

static uint8_t do_decrypt(void) {
    return __real_cipher_decrypt(call.context, call.io);
}

static void restore_nothing(void) {
}

static void restore_message(void) {
    memcpy(call.io->output, call.message, call.io->bytes);
    memcpy(call.io->tag, call.tag, CIPHER_TAG_BYTES);
}

static uint8_t run_on_message(uint8_t (*operation)(void), struct cipher_context *context,
                              const struct cipher_io *io) {
    call.context = context;
    call.io = io;
    if (!hal_host_run) {
        return operation();
    }
    memcpy(call.message, io->input, io->bytes);
    memcpy(call.tag, io->tag, CIPHER_TAG_BYTES);
    return hal_host_run(operation, restore_message);
}

uint8_t __wrap_cipher_setup(struct cipher_context *context, const uint8_t *key, uint8_t key_bytes) {
    call.context = context;
    call.key = key;
    call.key_bytes = key_bytes;
    return hal_host_run ? hal_host_run(do_setup, restore_nothing) : do_setup();
}

uint8_t __wrap_cipher_encrypt(struct cipher_context *context, const struct cipher_io *io) {
    return run_on_message(do_encrypt, context, io);
}

uint8_t __wrap_cipher_decrypt(struct cipher_context *context, const struct cipher_io *io) {
    return run_on_message(do_decrypt, context, io);
}
