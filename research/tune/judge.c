/* judge.c: encrypts and opens the same messages with each candidate of research/tune, on one simulated chip.
 *
 * CANDIDATES(X): X(name) for each; its functions are name_cipher_setup and so on. Of each one prints the sum over
 * all ciphertexts and tags, the faults (a call that fails, a message that does not come back), the fewest and the
 * most cycles to encrypt, and the bytes of stack. KEY_LENGTH, NONCE_LENGTH, MESSAGE: bytes. INPUTS: how many.
 */
#include "cipher.h"
#include "hal.h"

#include CIPHER_HEADER
#include "candidates.h"

#include <string.h>

enum { TAG = CIPHER_TAG_BYTES > 0 ? CIPHER_TAG_BYTES : 1 };

#define DECLARE(name)                                                                                        \
    uint8_t name##_cipher_setup(struct cipher_context *, const uint8_t *, uint8_t);                          \
    uint8_t name##_cipher_encrypt(struct cipher_context *, const struct cipher_io *);                        \
    uint8_t name##_cipher_decrypt(struct cipher_context *, const struct cipher_io *);
CANDIDATES(DECLARE)

typedef uint8_t setup_function(struct cipher_context *, const uint8_t *, uint8_t);
typedef uint8_t crypt_function(struct cipher_context *, const struct cipher_io *);

static uint32_t drawn;

static void draw(uint8_t *bytes, size_t count) {
    while (count-- > 0) {
        drawn = drawn * 1664525u + 1013904223u;
        *bytes++ = (uint8_t)(drawn >> 24);
    }
}

static void write_number(uint32_t number) {
    for (uint8_t digits = 8; digits-- > 0;)
        hal_write((uint8_t)("0123456789abcdef"[number >> 4 * digits & 15]));
    hal_write(' ');
}

static struct cipher_context context;
static uint8_t key[KEY_LENGTH], nonce[NONCE_LENGTH + 1], tag[TAG], plain[MESSAGE], text[MESSAGE];

static void add(uint32_t *sum, const uint8_t *bytes, size_t count) {
    while (count-- > 0)
        *sum = *sum * 31 + *bytes++;
}

static void judge(setup_function *setup, crypt_function *encrypt, crypt_function *decrypt) {
    uint32_t sum = 0, faults = 0, least = UINT32_MAX, most = 0, stack = 0;

    drawn = 1;
    for (uint8_t i = 0; i < INPUTS; i++) {
        struct cipher_io io = {nonce, NULL, text, text, tag, MESSAGE, 0, NONCE_LENGTH};
        draw(key, KEY_LENGTH);
        draw(nonce, NONCE_LENGTH);
        draw(plain, MESSAGE);
        memcpy(text, plain, MESSAGE);
        faults += setup(&context, key, KEY_LENGTH) != CIPHER_OK;
        if (i == 0)
            hal_stack_paint();
        hal_timer_start();
        faults += encrypt(&context, &io) != CIPHER_OK;
        uint32_t cycles = hal_timer_cycles();
        if (i == 0) { /* the first also fills a cache */
            stack = hal_stack_depth();
        } else {
            least = cycles < least ? cycles : least;
            most = cycles > most ? cycles : most;
        }
        add(&sum, text, MESSAGE);
        add(&sum, tag, CIPHER_TAG_BYTES);
        faults += decrypt(&context, &io) != CIPHER_OK;
        faults += memcmp(text, plain, MESSAGE) != 0;
    }
    write_number(sum);
    write_number(faults);
    write_number(least);
    write_number(most);
    write_number(stack);
}

#define JUDGE(name) judge(name##_cipher_setup, name##_cipher_encrypt, name##_cipher_decrypt);

int main(void) {
    hal_init();
    CANDIDATES(JUDGE)
    hal_write('.');
    for (;;) {
    }
}
