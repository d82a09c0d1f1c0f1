/* files_harness.c: the file firmware on this computer: standard input and output are its UART, its storage lies in
 * memory, its heap is 64 bytes, and the RP2040's timer stands. Marks are told on standard error. */
#define _GNU_SOURCE
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "hal.h"
#include "storage.h"

enum { BLOCK = 4096, BLOCKS = 48, TIMER_PAGE = 0x40054000 };

uint8_t heap_room[64];
static uint8_t flash[BLOCKS * BLOCK];
static uint32_t operations, fails_at; /* a program or erase that fails; 0: none */

int firmware_main(void);
void *_sbrk(ptrdiff_t more);

void hal_init(void) {
}

uint8_t hal_read(void) {
    int byte;
    fflush(stdout);
    byte = getchar();
    if (byte == EOF) {
        exit(0);
    }
    return (uint8_t)byte;
}

void hal_write(uint8_t byte) {
    putchar(byte);
}

void hal_mark(uint8_t begins) {
    fprintf(stderr, "%d\n", begins);
}

void hal_stack_paint(void) {
}

uint32_t hal_stack_depth(void) {
    return 0x01020304;
}

uint32_t hal_clock_hz(void) {
    return 0x7E7D0102;
}

static int operate(void) {
    return ++operations == fails_at ? -5 : 0;
}

static int start(void) {
    return 0;
}

static int read_at(uint32_t at, uint8_t *data, uint32_t count) {
    memcpy(data, flash + at, count);
    return at % 64 || count % 64 || at + count > sizeof flash ? -5 : 0;
}

static int program_at(uint32_t at, const uint8_t *data, uint32_t count) {
    if (at % 256 || count % 256 || at + count > sizeof flash) {
        return -5;
    }
    for (uint32_t i = 0; i < count; i++) {
        flash[at + i] &= data[i];
    }
    return operate();
}

static int erase_at(uint32_t at) {
    if (at % BLOCK || at >= sizeof flash) {
        return -5;
    }
    memset(flash + at, 0xFF, BLOCK);
    return operate();
}

const struct storage storage_nor = {64, 256, BLOCK, BLOCKS, start, read_at, program_at, erase_at};

int main(int argc, char **argv) {
    fails_at = argc > 1 ? (uint32_t)atoi(argv[1]) : 0;
    memset(flash, 0xFF, sizeof flash);
    if (mmap((void *)TIMER_PAGE, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
        MAP_FAILED) {
        return 8;
    }
    if (_sbrk(40) != (void *)heap_room || _sbrk(24) != (void *)(heap_room + 40) || _sbrk(1) != (void *)-1 ||
        _sbrk(0) != (void *)(heap_room + 64)) {
        fputs("the heap is wrong\n", stderr);
        return 9;
    }
    return firmware_main();
}
