/* sealed_messages.c: messages of an authenticated cipher with keys and tags of 16 bytes in a chain on a Pico,
 * with what some of them take (test_ascon_on_pico.py, test_ccm_on_pico.py).
 *
 * MESSAGES: of the chain. NONCE_BYTES: at most 16. Lengths, addresses and whether a message is encrypted in
 * place change from one to the next. One line: the last tag, a sum over all ciphertexts and how many faults
 * were found. Then the fewest and the most cycles, with TIMES_ASCON of one permutation, and of messages of 64
 * bytes at each of four addresses.
 */
#include "cipher.h"
#include "hal.h"
#include CIPHER_HEADER

#include <string.h>

enum { LONGEST = 80, AROUND = 8, TIMED = 40 };

static uint32_t drawn = 1;

static void draw(uint8_t *bytes, size_t count) {
    while (count-- > 0) {
        drawn = drawn * 1664525u + 1013904223u;
        *bytes++ = (uint8_t)(drawn >> 24);
    }
}

static void write_hex(uint32_t number, uint8_t digits) {
    while (digits-- > 0)
        hal_write((uint8_t)("0123456789abcdef"[number >> 4 * digits & 15]));
}

struct spread {
    uint32_t least, most;
};

static void note(struct spread *spread, uint32_t cycles) {
    if (cycles < spread->least)
        spread->least = cycles;
    if (cycles > spread->most)
        spread->most = cycles;
}

static void write_spread(const struct spread *spread) {
    hal_write(' ');
    write_hex(spread->least, 8);
    hal_write(' ');
    write_hex(spread->most, 8);
}

static struct cipher_context context;
static uint32_t input_words[(LONGEST + 2 * AROUND) / 4], output_words[(LONGEST + 2 * AROUND) / 4];
static uint8_t *const inputs = (uint8_t *)input_words, *const outputs = (uint8_t *)output_words;
static uint8_t key[16], nonce[16], tag[16], ad[LONGEST], plain[LONGEST];

/* Whether all bytes of `outputs` outside `count` bytes at `at` are as they were set. */
static uint8_t untouched(const uint8_t *space, size_t at, size_t count) {
    for (size_t i = 0; i < LONGEST + 2 * AROUND; i++)
        if ((i < at || i >= at + count) && space[i] != 0x5a)
            return 0;
    return 1;
}

static uint32_t chain(uint32_t *sum) {
    uint32_t faults = 0;

    for (uint32_t number = 0; number < MESSAGES; number++) {
        size_t bytes = number % 67, ad_bytes = number * 5 % 37;
        size_t from = AROUND + number % 4, to = AROUND + number / 4 % 4;
        uint8_t *space = number % 3 == 0 ? inputs : outputs;

        if (space == inputs)
            to = from;
        draw(plain, bytes);
        draw(ad, ad_bytes);
        memset(inputs, 0x5a, LONGEST + 2 * AROUND);
        memset(outputs, 0x5a, LONGEST + 2 * AROUND);
        memcpy(inputs + from, plain, bytes);
        struct cipher_io io = {nonce, ad, inputs + from, space + to, tag, bytes, ad_bytes, NONCE_BYTES};
        faults += cipher_setup(&context, key, 16) != CIPHER_OK;
        faults += cipher_encrypt(&context, &io) != CIPHER_OK;
        faults += !untouched(space, to, bytes);
        for (size_t i = 0; i < bytes; i++)
            *sum = *sum * 31 + space[to + i];
        io.input = space + to; /* back, in place */
        io.output = space + to;
        uint8_t *flipped = bytes > 0 && number % 2 ? &space[to + number % bytes] : &tag[number % 16];
        if (number % 7 == 0) {
            *flipped ^= 0x10;
            faults += cipher_decrypt(&context, &io) != CIPHER_BAD_TAG;
            for (size_t i = 0; i < bytes; i++)
                faults += space[to + i] != 0;
            if (flipped >= tag && flipped < tag + 16)
                *flipped ^= 0x10;
        } else {
            faults += cipher_decrypt(&context, &io) != CIPHER_OK;
            faults += memcmp(space + to, plain, bytes) != 0;
        }
        faults += !untouched(space, to, bytes);
        nonce[number % NONCE_BYTES] ^= tag[0];
        memcpy(key, tag, sizeof key);
    }
    return faults;
}

#ifdef TIMES_ASCON
static void time_permutation(void) {
    struct spread spread = {UINT32_MAX, 0};
    struct ascon_word state[5];

    for (int i = 0; i < TIMED; i++) {
        draw((uint8_t *)state, sizeof state);
        hal_timer_start();
        ascon_permute(state, 12);
        note(&spread, hal_timer_cycles());
    }
    write_spread(&spread);
}
#endif

static void time_messages(size_t at) {
    struct spread spread = {UINT32_MAX, 0};

    for (int i = 0; i < TIMED; i++) {
        struct cipher_io io = {nonce, ad, inputs + at, inputs + at, tag, 64, 16, NONCE_BYTES};

        draw(inputs + at, 64);
        draw(key, 16);
        cipher_setup(&context, key, 16);
        hal_timer_start();
        cipher_encrypt(&context, &io);
        note(&spread, hal_timer_cycles());
    }
    write_spread(&spread);
}

int main(void) {
    uint32_t sum = 0, faults;

    hal_init();
    faults = chain(&sum);
    for (size_t i = 0; i < sizeof key; i++)
        write_hex(key[i], 2);
    hal_write(' ');
    write_hex(sum, 8);
    hal_write(' ');
    write_hex(faults, 8);
#ifdef TIMES_ASCON
    time_permutation();
#endif
    for (size_t at = 0; at < 4; at++)
        time_messages(at);
    hal_write('.');
    for (;;) {
    }
}
