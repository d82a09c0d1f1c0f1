/* vectors_on_chip.c: published vectors, checked by the chip itself (test_vectors_on_chips.py).
 *
 * VECTORS_HEADER has `vectors`, their COUNT, and LONGEST, which no message or associated data exceeds.
 * Addresses of messages change from one to the next. One line: how many vectors there were, and how many were
 * not right.
 */
#include "cipher.h"
#include "hal.h"
#include CIPHER_HEADER

#include <string.h>

/* Behind `bytes`: key, nonce, associated data, message, ciphertext, tag. */
struct vector {
    const uint8_t *bytes;
    uint16_t message_bytes, ad_bytes;
    uint8_t key_bytes, nonce_bytes, valid;
};

#include VECTORS_HEADER

static struct cipher_context context;
static uint32_t input_words[LONGEST / 4 + 2], output_words[LONGEST / 4 + 2];

static void write_hex(uint32_t number) {
    for (int shift = 28; shift >= 0; shift -= 4)
        hal_write((uint8_t)("0123456789abcdef"[number >> shift & 15]));
}

static uint8_t right(const struct vector *given, uint32_t number) {
    const uint8_t *nonce = given->bytes + given->key_bytes, *ad = nonce + given->nonce_bytes;
    const uint8_t *message = ad + given->ad_bytes, *sealed = message + given->message_bytes;
    uint8_t *input = (uint8_t *)input_words + number % 4, *output = (uint8_t *)output_words + number / 4 % 4;
    uint8_t tag[CIPHER_TAG_BYTES + 1];
    struct cipher_io io = {
        nonce, ad, input, output, tag, given->message_bytes, given->ad_bytes, given->nonce_bytes};

    if (cipher_setup(&context, given->bytes, given->key_bytes) != CIPHER_OK)
        return 0;
    if (given->valid) {
        memcpy(input, message, given->message_bytes);
        if (cipher_encrypt(&context, &io) != CIPHER_OK || memcmp(output, sealed, given->message_bytes) != 0 ||
            memcmp(tag, sealed + given->message_bytes, CIPHER_TAG_BYTES) != 0)
            return 0;
    }
    memcpy(output, sealed, given->message_bytes);
    memcpy(tag, sealed + given->message_bytes, CIPHER_TAG_BYTES);
    io.input = output; /* back, in place */
    if (cipher_decrypt(&context, &io) != CIPHER_OK)
        return !given->valid;
    return given->valid && memcmp(output, message, given->message_bytes) == 0;
}

int main(void) {
    uint32_t wrong = 0;

    hal_init();
    for (uint32_t number = 0; number < COUNT; number++)
        wrong += !right(&vectors[number], number);
    write_hex(COUNT);
    hal_write(' ');
    write_hex(wrong);
    hal_write('.');
    for (;;) {
    }
}
