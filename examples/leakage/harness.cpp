// harness.cpp: a library as `motecrypt leak` assesses it (docs/leakage.md). For an AVR:
//
//   avr-g++ -mmcu=atmega328p -Os -gdwarf-4 -I examples/mylibrary/arduino -I examples/mylibrary/src \
//       examples/leakage/harness.cpp examples/mylibrary/src/BlockAes.cpp -o harness.elf
//   ./motecrypt leak harness.elf --function encrypt_block --from start --instructions 400
#include "BlockAes.h"

// motecrypt writes the inputs of each run here when `start` is called.
extern "C" {
byte leak_input[16], leak_key[16];
}

static BlockAes aes;

extern "C" __attribute__((noinline)) void start(void) {
    aes.begin(leak_key, 128);
}

extern "C" __attribute__((noinline)) void encrypt_block(void) {
    aes.encrypt(leak_input);
}

int main(void) {
    for (;;) {
        start();
        encrypt_block();
    }
}
