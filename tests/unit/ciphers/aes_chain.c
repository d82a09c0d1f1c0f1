/* aes_chain.c: blocks and keys in a chain on an UNO, with what a block takes (test_aes_on_uno.py).
 *
 * KEY_BYTES, BLOCKS: of the chain. One line: the last block, whether each came back when decrypted, the status
 * of keys of several lengths, and the fewest and the most cycles of a block encrypted and decrypted. With
 * ENCRYPTS_ALONE nothing is decrypted.
 */
#include "block.h"
#include "hal.h"

#include <avr/io.h>
#include <string.h>

static const uint8_t lengths[] = {0, 15, 17, 23, 24, 25, 31, 32, 33, 255};

static void write_hex(uint16_t number, uint8_t digits) {
    while (digits-- > 0)
        hal_write((uint8_t)("0123456789abcdef"[number >> 4 * digits & 15]));
}

struct spread {
    uint16_t least, most;
};

static void timed(struct spread *spread, void (*crypt)(const struct block_key *, uint8_t *),
                  const struct block_key *key, uint8_t *block) {
    TCCR1A = 0;
    TCCR1B = 0;
    TCNT1 = 0;
    TCCR1B = 1 << CS10;
    crypt(key, block);
    TCCR1B = 0;
    uint16_t cycles = TCNT1;
    if (cycles < spread->least)
        spread->least = cycles;
    if (cycles > spread->most)
        spread->most = cycles;
}

int main(void) {
    struct block_key key;
    struct spread there = {0xffff, 0}, back = {0xffff, 0};
    uint8_t bytes[256], block[16] = {0}, before[16], same = 1;
    hal_init();
    for (uint8_t i = 0; i < KEY_BYTES; i++)
        bytes[i] = i;
    for (uint32_t number = 0; number < BLOCKS; number++) {
        block_setup(&key, bytes, KEY_BYTES);
        memcpy(before, block, sizeof block);
        timed(&there, block_encrypt, &key, block);
        uint8_t result[16];
        memcpy(result, block, sizeof block);
#ifdef ENCRYPTS_ALONE
        memcpy(block, before, sizeof block);
#else
        timed(&back, block_decrypt, &key, block);
#endif
        if (memcmp(before, block, sizeof block) != 0)
            same = 0;
        memcpy(block, result, sizeof block);
        bytes[number % KEY_BYTES] ^= block[0];
    }
    for (uint8_t i = 0; i < sizeof block; i++)
        write_hex(block[i], 2);
    hal_write(' ');
    hal_write((uint8_t)('0' + same));
    hal_write(' ');
    for (uint8_t i = 0; i < sizeof lengths; i++)
        hal_write((uint8_t)('0' + block_setup(&key, bytes, lengths[i])));
    hal_write(' ');
    write_hex(there.least, 4);
    hal_write(' ');
    write_hex(there.most, 4);
    hal_write(' ');
    write_hex(back.least, 4);
    hal_write(' ');
    write_hex(back.most, 4);
    hal_write('.');
    for (;;) {
    }
}
