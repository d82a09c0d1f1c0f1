/* sensor_harness.c: the paper's node with a board and a cipher that print the calls to them.
 * The first argument says what fails, the others are the temperatures; then all ends. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define main node_main
#include "paper.c"
#undef main

static char **temperatures;
static int failing;

void node_init(void) {
    puts("init");
}

void node_write(uint8_t byte) {
    putchar(byte);
}

void node_wait(uint16_t milliseconds) {
    static int waits;
    printf("wait %u\n", milliseconds);
    if (++waits == 3 && failing) {
        exit(0);
    }
}

int16_t node_temperature(void) {
    if (*temperatures == NULL) {
        exit(0);
    }
    return (int16_t)atoi(*temperatures++);
}

static void show(const char *what, const uint8_t *bytes, size_t count) {
    printf("%s ", what);
    for (size_t i = 0; i < count; i++) {
        printf("%02x", bytes[i]);
    }
    printf("\n");
}

uint8_t cipher_setup(struct cipher_context *context, const uint8_t *bytes, uint8_t count) {
    context->key = bytes[0];
    show("setup", bytes, count);
    return failing == 1 ? CIPHER_BAD_KEY : CIPHER_OK;
}

uint8_t cipher_encrypt(struct cipher_context *context, const struct cipher_io *io) {
    show("nonce", io->nonce, io->nonce_bytes);
    show("encrypt", io->input, io->bytes);
    for (size_t i = 0; i < io->bytes; i++) {
        io->output[i] = (uint8_t)(io->input[i] ^ context->key);
    }
    return failing == 2 || io->ad_bytes != 0 ? CIPHER_BAD_NONCE : CIPHER_OK;
}

int main(int argc, char **argv) {
    failing = atoi(argv[1]);
    temperatures = argv + 2;
    (void)argc;
    return node_main();
}
