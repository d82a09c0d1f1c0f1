/* sealed_messages.c: messages of an authenticated cipher with tags of 16 bytes in a chain on a chip, with what
 * some of them take (test_ascon_on_pico.py and others).
 *
 * MESSAGES: of the chain. NONCE_LENGTH: at most 16. CIPHER_KEY_BYTES_MAX: of the keys, 16 or 32, which are tags.
 * Lengths, addresses and whether a message is encrypted in place change from one to the next. One line: the last
 * tag, a sum over all ciphertexts and how many faults were found. With TIMES_CHACHA
 * the bytes of stack that encrypting takes follow. Then come the fewest and the most cycles: of one permutation
 * with TIMES_ASCON, of a block of ChaCha20 and of one of Poly1305 with TIMES_CHACHA, and of messages of 64 bytes
 * at each of four addresses.
 */
#include "cipher.h"
#include "hal.h"
#include CIPHER_HEADER

#include <string.h>

enum { LONGEST = 80, AROUND = 8, TIMED = 40, KEY_LENGTH = CIPHER_KEY_BYTES_MAX };

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
static uint8_t key[KEY_LENGTH], nonce[16], tag[16], ad[LONGEST], plain[LONGEST];

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
        size_t bytes = (size_t)(number % 67), ad_bytes = (size_t)(number * 5 % 37);
        size_t from = AROUND + (size_t)(number % 4), to = AROUND + (size_t)(number / 4 % 4);
        uint8_t *space = number % 3 == 0 ? inputs : outputs;

        if (space == inputs)
            to = from;
        draw(plain, bytes);
        draw(ad, ad_bytes);
        memset(inputs, 0x5a, LONGEST + 2 * AROUND);
        memset(outputs, 0x5a, LONGEST + 2 * AROUND);
        memcpy(inputs + from, plain, bytes);
        struct cipher_io io = {nonce, ad, inputs + from, space + to, tag, bytes, ad_bytes, NONCE_LENGTH};
        faults += cipher_setup(&context, key, KEY_LENGTH) != CIPHER_OK;
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
        nonce[number % NONCE_LENGTH] ^= tag[0];
        for (size_t i = 0; i < sizeof key; i++)
            key[i] = tag[i % sizeof tag];
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

#ifdef TIMES_CHACHA
static __attribute__((noinline)) void nothing(void) {
    __asm__ volatile("");
}

static void write_stack(void) {
    struct cipher_io io = {nonce, ad, inputs + 1, inputs + 1, tag, 61, 15, NONCE_LENGTH};

    hal_stack_paint();
    cipher_encrypt(&context, &io);
    hal_write(' ');
    write_hex(hal_stack_depth(), 8);
}

static void time_blocks(void) {
    struct spread spread = {UINT32_MAX, 0};
    struct poly1305 state;
    uint32_t words[16];

    hal_timer_start();
    nothing();
    uint32_t call = hal_timer_cycles();
    for (int i = 0; i < TIMED; i++) {
        draw((uint8_t *)context.key, sizeof context.key);
        hal_timer_start();
        chacha20_block(words, (uint8_t *)context.key, outputs, drawn);
        note(&spread, hal_timer_cycles() - call);
    }
    write_spread(&spread);
    spread = (struct spread){UINT32_MAX, 0};
    for (int i = 0; i < TIMED; i++) {
        draw((uint8_t *)words, sizeof words);
        poly1305_start(&state, (uint8_t *)words);
        poly1305_block(&state, (uint8_t *)words);
        hal_timer_start();
        poly1305_block(&state, (uint8_t *)(words + 8));
        note(&spread, hal_timer_cycles() - call);
    }
    write_spread(&spread);
}
#endif

static void time_messages(size_t at) {
    struct spread spread = {UINT32_MAX, 0};

    for (int i = 0; i < TIMED; i++) {
        struct cipher_io io = {nonce, ad, inputs + at, inputs + at, tag, 64, 16, NONCE_LENGTH};

        draw(inputs + at, 64);
        draw(key, sizeof key);
        cipher_setup(&context, key, KEY_LENGTH);
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
    for (size_t i = 0; i < sizeof tag; i++)
        write_hex(key[i], 2);
    hal_write(' ');
    write_hex(sum, 8);
    hal_write(' ');
    write_hex(faults, 8);
#ifdef TIMES_ASCON
    time_permutation();
#endif
#ifdef TIMES_CHACHA
    write_stack();
    time_blocks();
#endif
    for (size_t at = 0; at < 4; at++)
        time_messages(at);
    hal_write('.');
    for (;;) {
    }
}
