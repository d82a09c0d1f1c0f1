/* requests_on_uno.c: runs ChaCha20-Poly1305, or Poly1305 alone, on an UNO over requests from its UART
 * (test_chacha_on_uno.py). Each call is a timed region.
 *
 * A request begins with its kind:
 * 's', 'o'  seal or open: a byte for the place, two bytes each for the lengths of associated data and message,
 *           key, nonce, associated data, message, tag. The answer: status, message, tag, and 1 if what is
 *           around the output stayed as it was.
 * 'p'       Poly1305: a byte that counts the blocks, key, blocks. The answer: the tag.
 *
 * A message to or from the chip is in hexadecimal digits and ends with FRAME_END, for which the simulator's
 * driver waits; the chip begins with a zero.
 *
 * The place: bit 7 has the output where the input is; else the message has at most 300 bytes. Bits 0 to 2 move
 * both.
 */
#include CIPHER_HEADER
#include "cipher.h"
#include "hal.h"

#include <string.h>

enum { KEY = 32, NONCE = 12, TAG = 16, LONGEST = 520, LONGEST_APART = 300, AD_LONGEST = 520, AROUND = 8 };
enum { UNTOUCHED = 0x5a, FRAME_END = 0x7e };

static struct cipher_context context;
static uint8_t key[KEY], nonce[NONCE], tag[TAG], ad[AD_LONGEST];
static uint8_t input_space[LONGEST_APART + AROUND], output_space[LONGEST + 2 * AROUND];

static uint8_t read_digit(void) {
    uint8_t digit = hal_read();

    return (uint8_t)(digit <= '9' ? digit - '0' : digit - 'a' + 10);
}

static uint8_t read_byte(void) {
    uint8_t high = read_digit();

    return (uint8_t)(high << 4 | read_digit());
}

static void write_byte(uint8_t byte) {
    hal_write((uint8_t)("0123456789abcdef"[byte >> 4]));
    hal_write((uint8_t)("0123456789abcdef"[byte & 15]));
}

static void read_bytes(uint8_t *to, uint16_t count) {
    while (count-- > 0)
        *to++ = read_byte();
}

static void write_bytes(const uint8_t *from, uint16_t count) {
    while (count-- > 0)
        write_byte(*from++);
}

static uint16_t read_length(void) {
    uint8_t low = read_byte();

    return (uint16_t)(read_byte() << 8 | low);
}

static void run_aead(uint8_t opens) {
    uint8_t place = read_byte(), untouched = 1, status;
    uint16_t ad_bytes = read_length(), bytes = read_length();
    uint16_t at = AROUND + (place & 7);
    uint8_t *output = output_space + at, *input = place & 0x80 ? output : input_space + (place & 7);

    read_bytes(key, KEY);
    read_bytes(nonce, NONCE);
    read_bytes(ad, ad_bytes);
    memset(output_space, UNTOUCHED, sizeof output_space);
    read_bytes(input, bytes);
    read_bytes(tag, TAG);
    cipher_setup(&context, key, KEY);
    struct cipher_io io = {nonce, ad, input, output, tag, bytes, ad_bytes, NONCE};
    hal_mark(1);
    status = opens ? cipher_decrypt(&context, &io) : cipher_encrypt(&context, &io);
    hal_mark(0);
    for (uint16_t i = 0; i < sizeof output_space; i++)
        if ((i < at || i >= at + bytes) && output_space[i] != UNTOUCHED)
            untouched = 0;
    write_byte(status);
    write_bytes(output, bytes);
    write_bytes(tag, TAG);
    write_byte(untouched);
}

static void run_poly1305(void) {
    struct poly1305 state;
    uint8_t blocks = read_byte();

    read_bytes(key, KEY);
    poly1305_start(&state, key);
    while (blocks-- > 0) {
        read_bytes(tag, TAG);
        hal_mark(1);
        poly1305_block(&state, tag);
        hal_mark(0);
    }
    poly1305_finish(&state, tag);
    write_bytes(tag, TAG);
}

int main(void) {
    hal_init();
    write_byte(0);
    for (;;) {
        hal_write(FRAME_END);
        uint8_t kind = read_byte();

        if (kind == 'p')
            run_poly1305();
        else
            run_aead(kind == 'o');
        hal_read(); /* the end of the request */
    }
}
