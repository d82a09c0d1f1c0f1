/* poly1305_on_pico.c: runs Poly1305 alone over requests in flash on a Pico or an STM32F4 (test_poly1305.py).
 *
 * CASES: a file of requests, each a byte that counts the blocks, the key of 32 bytes, the blocks of 16 and the tag;
 * a count of 255 ends it. Blocks are given one by one or, with every other request, all together. Each time they are
 * at another address. In hexadecimal: how many requests there are, and the numbers of those with another tag.
 */
#include "hal.h"
#include CIPHER_HEADER

#include <string.h>

__asm__(".section .rodata.cases, \"a\"\ncases: .incbin \"" CASES "\"\n.byte 255\n.text\n");

extern const uint8_t cases[];

static void write_number(unsigned number) {
    for (unsigned shift = 16; shift > 0; shift -= 4)
        hal_write((uint8_t)("0123456789abcdef"[number >> (shift - 4) & 15]));
}

int main(void) {
    static uint8_t blocks[16 * 16 + 3];
    uint32_t words[8];
    static unsigned wrong[4096];
    unsigned number = 0, faults = 0;

    hal_init();
    for (const uint8_t *at = cases; *at != 255; number++) {
        struct poly1305 state;
        size_t count = *at++;
        uint8_t *data = blocks + number / 2 % 4;

        memcpy(words, at, 32);
        memcpy(data, at + 32, 16 * count);
        at += 32 + 16 * count;
        poly1305_start(&state, (const uint8_t *)words);
        if (number % 2) {
            poly1305_padded(&state, data, 16 * count);
        } else {
            for (size_t i = 0; i < count; i++)
                poly1305_block(&state, data + 16 * i);
        }
        poly1305_finish(&state, (uint8_t *)words);
        if (memcmp(words, at, 16) != 0)
            wrong[faults++] = number;
        at += 16;
    }
    write_number(number);
    for (unsigned i = 0; i < faults; i++) {
        hal_write(' ');
        write_number(wrong[i]);
    }
    hal_write('.');
    for (;;) {
    }
}
