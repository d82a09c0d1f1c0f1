/* plain.c: RC4D written for clarity, with the S-box on the stack. See rc4d.h for the letters. */
#include "rc4d.h"

#include <string.h>

#ifdef RC4D_E
#include <avr/eeprom.h>

/* One state for the device: the key that was set up last is the key of every context. */
static uint8_t EEMEM stored_sbox[RC4D_KEYS][256];
#endif

enum pass { FIRST = 0, SECOND = RC4D_KEYS - 1 }; /* as the index of the key */

static void swap(uint8_t *a, uint8_t *b) {
    uint8_t kept = *a;
    *a = *b;
    *b = kept;
}

/* RC4's key-scheduling algorithm: `sbox` becomes a permutation of 0..255 that depends on the key. */
static void schedule(uint8_t *sbox, const uint8_t *key, uint8_t key_bytes) {
    for (uint16_t i = 0; i < 256; i++) {
        sbox[i] = (uint8_t)i;
    }
    uint8_t j = 0;
#ifdef RC4D_MODULO
    for (uint16_t i = 0; i < 256; i++) {
        j = (uint8_t)(j + sbox[i] + key[i % rc4d_key_length(key_bytes)]);
        swap(&sbox[i], &sbox[j]);
    }
#else
    uint8_t k = 0; /* i modulo the key's length, without the division that an AVR does not have */
    for (uint16_t i = 0; i < 256; i++) {
        j = (uint8_t)(j + sbox[i] + key[k]);
        swap(&sbox[i], &sbox[j]);
        k++;
        if (k == key_bytes) {
            k = 0;
        }
    }
#endif
}

/* RC4's next byte of keystream, and one more swap in the S-box. */
static uint8_t next(uint8_t *sbox, uint8_t *i, uint8_t *j) {
    *i = (uint8_t)(*i + 1);
    *j = (uint8_t)(*j + sbox[*i]);
    swap(&sbox[*i], &sbox[*j]);
    return sbox[(uint8_t)(sbox[*i] + sbox[*j])];
}

/* A fresh copy of the S-box of a pass, as its key left it. */
static void take_sbox(uint8_t *sbox, const struct cipher_context *context, enum pass pass) {
#if defined(RC4D_E)
    (void)context;
    eeprom_read_block(sbox, stored_sbox[pass], 256);
#elif defined(RC4D_P)
    memcpy(sbox, context->sbox[pass], 256);
#elif defined(RC4D_K)
    schedule(sbox, context->key[pass], 16);
#else
    uint8_t half = (uint8_t)(context->key_bytes / RC4D_KEYS);
    schedule(sbox, context->key + pass * half, half);
#endif
}

/* One pass over `bytes` bytes. `output` may be `input`. Both directions feed the ciphertext byte forward. */
static void transform(const struct cipher_context *context, enum pass pass, int decrypt, uint8_t *output,
                      const uint8_t *input, size_t bytes) {
    uint8_t sbox[256];
    uint8_t i = 0;
    uint8_t j = 0;
    uint8_t fed = RC4D_IV;
    take_sbox(sbox, context, pass);
    for (size_t at = 0; at < bytes; at++) {
        uint8_t in = input[at];
        uint8_t out = (uint8_t)(next(sbox, &i, &j) ^ sbox[fed] ^ in);
        output[at] = out;
        fed = decrypt ? in : out;
    }
}

static void reverse(uint8_t *message, size_t bytes) {
    for (size_t at = 0; at < bytes / 2; at++) {
        swap(&message[at], &message[bytes - 1 - at]);
    }
}

static uint8_t both_passes(const struct cipher_context *context, const struct cipher_io *io, int decrypt) {
    if (io->bytes == 0) {
        return CIPHER_OK;
    }
#ifdef RC4D_I
    uint8_t *between = io->output;
#else
    uint8_t between[io->bytes]; /* the source's second buffer: as much stack as there is message */
#endif
    transform(context, decrypt ? SECOND : FIRST, decrypt, between, io->input, io->bytes);
    reverse(between, io->bytes);
    transform(context, decrypt ? FIRST : SECOND, decrypt, io->output, between, io->bytes);
    return CIPHER_OK;
}

uint8_t cipher_setup(struct cipher_context *context, const uint8_t *key, uint8_t key_bytes) {
    if (!rc4d_takes_key(key_bytes)) {
        return CIPHER_BAD_KEY;
    }
#if defined(RC4D_E)
    for (uint8_t pass = 0; pass < RC4D_KEYS; pass++) {
        uint8_t sbox[256];
        schedule(sbox, key + 16 * pass, 16);
        eeprom_update_block(sbox, stored_sbox[pass], 256);
    }
    eeprom_busy_wait(); /* the last byte belongs to the setup, not to the first message */
    context->unused = 0;
#elif defined(RC4D_P)
    for (uint8_t pass = 0; pass < RC4D_KEYS; pass++) {
        schedule(context->sbox[pass], key + 16 * pass, 16);
    }
#else
    memcpy(context->key, key, rc4d_key_length(key_bytes));
#ifndef RC4D_K
    context->key_bytes = key_bytes;
#endif
#endif
    return CIPHER_OK;
}

uint8_t cipher_encrypt(struct cipher_context *context, const struct cipher_io *io) {
    return both_passes(context, io, ENCRYPTING);
}

uint8_t cipher_decrypt(struct cipher_context *context, const struct cipher_io *io) {
    return both_passes(context, io, DECRYPTING);
}
