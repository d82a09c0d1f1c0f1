/* plain.c: RC4 written for clarity, with the S-box on the stack. See rc4.h for the letters. */
#include "rc4.h"

#include <string.h>

#ifdef RC4_E
#include <avr/eeprom.h>

/* One S-box for the device: the key that was set up last is the key of every context. */
static uint8_t EEMEM stored_sbox[256];
#endif

static void swap(uint8_t *a, uint8_t *b) {
    uint8_t kept = *a;
    *a = *b;
    *b = kept;
}

/* Key-scheduling algorithm: `sbox` becomes a permutation of 0..255 that depends on the key. */
static void schedule(uint8_t *sbox, const uint8_t *key, uint8_t key_bytes) {
    for (uint16_t i = 0; i < 256; i++) {
        sbox[i] = (uint8_t)i;
    }
    uint8_t j = 0;
#ifdef RC4_MODULO
    for (uint16_t i = 0; i < 256; i++) {
        j = (uint8_t)(j + sbox[i] + key[i % rc4_key_length(key_bytes)]);
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

/* A fresh copy of the S-box as the key left it. */
static void take_sbox(uint8_t *sbox, const struct cipher_context *context) {
#if defined(RC4_E)
    (void)context;
    eeprom_read_block(sbox, stored_sbox, 256);
#elif defined(RC4_P)
    memcpy(sbox, context->sbox, 256);
#elif defined(RC4_K)
    schedule(sbox, context->key, 16);
#else
    schedule(sbox, context->key, context->key_bytes);
#endif
}

uint8_t cipher_setup(struct cipher_context *context, const uint8_t *key, uint8_t key_bytes) {
    if (!rc4_takes_key(key_bytes)) {
        return CIPHER_BAD_KEY;
    }
#if defined(RC4_E)
    uint8_t sbox[256];
    schedule(sbox, key, key_bytes);
    eeprom_update_block(sbox, stored_sbox, 256);
    eeprom_busy_wait(); /* the last byte belongs to the setup, not to the first message */
    context->unused = 0;
#elif defined(RC4_P)
    schedule(context->sbox, key, key_bytes);
#elif defined(RC4_K)
    memcpy(context->key, key, 16);
#else
    memcpy(context->key, key, rc4_key_length(key_bytes));
    context->key_bytes = key_bytes;
#endif
    return CIPHER_OK;
}

/* Pseudo-random generation: the next byte of keystream, and one more swap in the S-box. */
static uint8_t next(uint8_t *sbox, uint8_t *i, uint8_t *j) {
    *i = (uint8_t)(*i + 1);
    *j = (uint8_t)(*j + sbox[*i]);
    swap(&sbox[*i], &sbox[*j]);
    return sbox[(uint8_t)(sbox[*i] + sbox[*j])];
}

uint8_t cipher_encrypt(struct cipher_context *context, const struct cipher_io *io) {
    uint8_t sbox[256];
    uint8_t i = 0;
    uint8_t j = 0;
    take_sbox(sbox, context);
#ifdef RC4_I
    uint8_t *message = io->output;
    if (message != io->input) {
        memcpy(message, io->input, io->bytes);
    }
    for (size_t at = 0; at < io->bytes; at++) {
        message[at] ^= next(sbox, &i, &j);
    }
#else
    for (size_t at = 0; at < io->bytes; at++) {
        io->output[at] = io->input[at] ^ next(sbox, &i, &j);
    }
#endif
    return CIPHER_OK;
}

uint8_t cipher_decrypt(struct cipher_context *context, const struct cipher_io *io) {
    return cipher_encrypt(context, io); /* the same keystream undoes itself */
}
