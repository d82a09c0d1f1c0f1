/* harness.c: the masked AES-128 (src/motecrypt/firmware/ciphers/aes) as `motecrypt leak` assesses it, with random
 * bytes of its own in place of the generator (docs/leakage.md). For an UNO:
 *
 *   avr-gcc -mmcu=atmega328p -Os -gdwarf-4 -I src/motecrypt/firmware/include -I src/motecrypt/firmware/ciphers/aes \
 *       examples/leakage/masked/harness.c src/motecrypt/firmware/ciphers/aes/aes_masked.c \
 *       src/motecrypt/firmware/ciphers/aes/aes_masked_avr.S -DBLOCK_HEADER='"aes_masked.h"' -o masked.elf
 *   ./motecrypt leak masked.elf --function aes_masked_rounds --from start
 *   ./motecrypt leak masked.elf --function aes_masked_rounds --from start --vary key
 *
 * For a Pico, and only its simulator, because the code that starts a board is missing:
 *
 *   arm-none-eabi-gcc -mcpu=cortex-m0plus -mthumb -Os -gdwarf-4 -nostdlib \
 *       -Wl,--section-start=.vectors=0x10000100,-Ttext=0x10000200,-Tbss=0x20000000,-e,main \
 *       -I src/motecrypt/firmware/include -I src/motecrypt/firmware/ciphers/aes \
 *       examples/leakage/masked/harness.c src/motecrypt/firmware/ciphers/aes/aes_masked.c \
 *       src/motecrypt/firmware/ciphers/aes/aes_masked_armv6m.S -DBLOCK_HEADER='"aes_masked.h"' -o masked.elf
 *   ./motecrypt leak masked.elf --device pico --function aes_masked_rounds --from start
 */
#include "block.h"

/* motecrypt writes the inputs of each run here when `start` is called. What loads a byte loads its whole word. */
#define IN_WORDS_OF_ITS_OWN __attribute__((aligned(4)))
uint8_t leak_input[16] IN_WORDS_OF_ITS_OWN, leak_key[16] IN_WORDS_OF_ITS_OWN;
uint8_t leak_random[2 * RANDOM_BLOCK_BYTES] IN_WORDS_OF_ITS_OWN; /* for the key, and for the block */

static struct block_key key;
static uint8_t drawn;

uint8_t random_start(void) {
    return 0;
}

void random_block(uint8_t *bytes) {
    for (uint8_t i = 0; i < RANDOM_BLOCK_BYTES; i++)
        bytes[i] = leak_random[drawn + i];
    drawn ^= RANDOM_BLOCK_BYTES;
}

__attribute__((noinline)) void start(void) {
    drawn = 0;
    block_setup(&key, leak_key, sizeof leak_key);
}

int main(void) {
    for (;;) {
        start();
        block_encrypt(&key, leak_input);
    }
}

#ifdef __arm__
/* The vectors with which a Pico's simulator starts; only enough for it. */
__attribute__((section(".vectors"), used)) static void *const vectors[2] = {(void *)0x20040000, (void *)main};
#endif
