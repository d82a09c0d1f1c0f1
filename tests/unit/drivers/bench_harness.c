/* bench_harness.c: the benchmark firmware with standard input and output as its UART, a timer and a stack that
 * are known, and a cipher that adds. Its calls to them are printed on standard error. */
#include <stdio.h>
#include <stdlib.h>

#define CIPHER_HEADER "bench_cipher.h"
#define CIPHER_TAG_BYTES 3
#define BENCH_KEY_BYTES 8
#define BENCH_NONCE_BYTES 0x104
#define BENCH_AD_BYTES 6
#define BENCH_MESSAGE_BYTES 0x210
#define main firmware_main
#include "../../firmware/bench/bench.c"
#undef main

void hal_init(void) {
    fputs("init\n", stderr);
}

uint8_t hal_read(void) {
    int byte = getchar();
    if (byte == EOF) {
        exit(0);
    }
    return (uint8_t)byte;
}

void hal_write(uint8_t value) {
    putchar(value);
}

void hal_mark(uint8_t begins) {
    fprintf(stderr, "mark %d\n", begins);
}

void hal_timer_start(void) {
    fputs("timer\n", stderr);
}

uint32_t hal_timer_cycles(void) {
    fputs("cycles\n", stderr);
    return 0x7E7D0304;
}

void hal_stack_paint(void) {
    fputs("paint\n", stderr);
}

uint32_t hal_stack_depth(void) {
    fputs("depth\n", stderr);
    return 0x05060708;
}

uint32_t hal_clock_hz(void) {
    return 0x0A0B0C0D;
}

uint8_t cipher_setup(struct cipher_context *to, const uint8_t *bytes, uint8_t count) {
    fprintf(stderr, "setup %d\n", count);
    to->key = count ? bytes[count - 1] : 0;
    return count == 1 ? CIPHER_BAD_KEY : CIPHER_OK;
}

static uint8_t add(const struct cipher_context *from, const struct cipher_io *io, int sign) {
    fprintf(stderr, "%s %d %d %d\n", sign > 0 ? "encrypt" : "decrypt", (int)io->bytes, (int)io->ad_bytes,
            io->nonce_bytes);
    for (size_t i = 0; i < io->bytes; i++) {
        io->output[i] = (uint8_t)(io->input[i] + sign * from->key);
    }
    if (sign < 0) {
        return io->tag[0] == 9 ? CIPHER_BAD_TAG : CIPHER_OK;
    }
    io->tag[0] = (uint8_t)(io->ad_bytes ? io->ad[io->ad_bytes - 1] : 1);
    io->tag[1] = (uint8_t)(io->nonce_bytes ? io->nonce[io->nonce_bytes - 1] : 2);
    io->tag[2] = 0x7E;
    return io->nonce_bytes == 3 ? CIPHER_BAD_NONCE : CIPHER_OK;
}

uint8_t cipher_encrypt(struct cipher_context *to, const struct cipher_io *io) {
    return add(to, io, 1);
}

uint8_t cipher_decrypt(struct cipher_context *to, const struct cipher_io *io) {
    return add(to, io, -1);
}

int main(void) {
    return firmware_main();
}
