/* ascon_chain.c: messages in a chain on an UNO, with what a permutation takes (test_ascon_on_uno.py).
 *
 * MESSAGES: how many. Message `number` has `number` mod 41 bytes and `number` mod 19 bytes of associated data.
 * The key of the next one is changed by the tag, the nonce is the number. One line: the last tag, whether each
 * message came back, whether each changed tag was refused, and the fewest and the most cycles of eight rounds.
 */
#include "ascon_avr.h"
#include "cipher.h"
#include "hal.h"

#include <avr/io.h>
#include <string.h>

enum { MESSAGE_BYTES_MAX = 40, AD_BYTES_MAX = 18 };

static void write_hex(uint16_t number, uint8_t digits) {
    while (digits-- > 0)
        hal_write((uint8_t)("0123456789abcdef"[number >> 4 * digits & 15]));
}

int main(void) {
    static uint8_t key[16], nonce[16], message[MESSAGE_BYTES_MAX + 1], ad[AD_BYTES_MAX],
        before[MESSAGE_BYTES_MAX];
    static struct cipher_context context;
    static struct ascon_word state[5];
    uint8_t tag[16], same = 1, refused = 1;
    uint16_t least = 0xffff, most = 0;

    hal_init();
    for (uint32_t number = 0; number < MESSAGES; number++) {
        struct cipher_io io = {nonce, ad, message, message, tag, number % 41, number % 19, sizeof nonce};

        memcpy(nonce, &number, sizeof number);
        memcpy(before, message, sizeof before);
        message[io.bytes] ^= 0x5a; /* behind the message: must stay */
        cipher_setup(&context, key, sizeof key);
        cipher_encrypt(&context, &io);
        for (uint8_t i = 0; i < sizeof key; i++)
            key[i] ^= tag[i];
        uint8_t after[sizeof message];
        memcpy(after, message, sizeof message);
        same &= cipher_decrypt(&context, &io) == CIPHER_OK && memcmp(message, before, io.bytes) == 0;
        memcpy(message, after, sizeof message);
        tag[number % 16] ^= 1 << number % 8;
        refused &= cipher_decrypt(&context, &io) == CIPHER_BAD_TAG;
        memcpy(message, after, sizeof message);
        memcpy(ad, tag, sizeof tag);

        memcpy(state, key, sizeof key);
        memcpy(&state[2], message, sizeof key);
        TCCR1A = 0;
        TCCR1B = 0;
        TCNT1 = 0;
        TCCR1B = 1 << CS10;
        ascon_permute(state, 8);
        TCCR1B = 0;
        uint16_t cycles = TCNT1;
        if (cycles < least)
            least = cycles;
        if (cycles > most)
            most = cycles;
    }
    for (uint8_t i = 0; i < sizeof key; i++)
        write_hex(key[i], 2);
    hal_write(' ');
    hal_write((uint8_t)('0' + same));
    hal_write((uint8_t)('0' + refused));
    hal_write(' ');
    write_hex(least, 4);
    hal_write(' ');
    write_hex(most, 4);
    hal_write('.');
    for (;;) {
    }
}
