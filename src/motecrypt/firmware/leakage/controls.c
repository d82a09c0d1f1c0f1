/* controls.c: firmware to check a leakage assessment with. Each control is a build with its own leak_window, in
 * controls_avr.S, controls_arm.S or controls_riscv.S; what each has to show is in leakage/controls.py.
 *
 * leak_start gets the inputs of a run and splits them into shares; leak_clean leaves no value of it in a register that
 * leak_window may write. The S-box is that of AES (FIPS 197), computed.
 */
#include <stdint.h>

#include "controls.h"

enum { BYTES = 4, POLYNOMIAL = 0x1B, CONSTANT = 0x63 };

volatile uint8_t leak_input[BYTES], leak_key[BYTES], leak_random[2];

uint8_t leak_sbox[256] __attribute__((aligned(256)));
/* the S-box behind masks: leak_sbox[i] ^ out at i ^ in */
uint8_t leak_table[256] __attribute__((aligned(256)));

/* In words of their own: what loads a byte of one loads the whole word from memory. */
struct leak_toy leak_toy;
struct leak_masks leak_masks;

void leak_clean(void);
void leak_window(void);

static uint8_t twice(uint8_t x) {
    return (uint8_t)((uint8_t)(x << 1) ^ ((x & 0x80) ? POLYNOMIAL : 0));
}

static uint8_t rotated(uint8_t x, uint8_t bits) {
    return (uint8_t)((uint8_t)(x << bits) | (uint8_t)(x >> (8 - bits)));
}

/* By powers of the generator 3 and of its inverse. */
static void make_sbox(void) {
    uint8_t power = 1, inverse = 1;
    do {
        power = (uint8_t)(power ^ twice(power));
        inverse ^= (uint8_t)(inverse << 1);
        inverse ^= (uint8_t)(inverse << 2);
        inverse ^= (uint8_t)(inverse << 4);
        inverse ^= (inverse & 0x80) ? 0x09 : 0;
        leak_sbox[power] = (uint8_t)(inverse ^ rotated(inverse, 1) ^ rotated(inverse, 2) ^
                                     rotated(inverse, 3) ^ rotated(inverse, 4) ^ CONSTANT);
    } while (power != 1);
    leak_sbox[0] = CONSTANT;
}

__attribute__((noinline, used)) void leak_start(void) {
    leak_masks.in[0] = leak_random[0];
    leak_masks.out[0] = leak_random[1];
    for (uint16_t i = 0; i < sizeof leak_sbox; i++) {
        leak_table[(uint8_t)(i ^ leak_masks.in[0])] = leak_sbox[i] ^ leak_masks.out[0];
    }
    for (uint8_t i = 0; i < BYTES; i++) {
        leak_toy.plain[i] = leak_input[i];
        leak_toy.share[i] = leak_input[i] ^ leak_masks.in[0];
        leak_toy.key[i] = leak_key[i];
    }
}

int main(void) {
    make_sbox();
    for (;;) {
        leak_start();
        leak_clean();
        leak_window();
    }
}
