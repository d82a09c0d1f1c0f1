/* sbox.h: for the optimised variants, the key schedule, cipher_setup, and where the S-box of a pass is
 * taken from: computed from the key, copied from the context, or read from EEPROM, by the letters in rc4d.h.
 *
 * Written for avr-gcc 5.4 -Os: pointers are incremented, and code that would need four pointers at the same
 * time is kept out of line, because the machine has three.
 */
#ifndef MOTECRYPT_RC4D_SBOX_H
#define MOTECRYPT_RC4D_SBOX_H

#include "rc4d.h"
#include "registers.h"

#include <string.h>

#ifdef RC4D_E
#include <avr/eeprom.h>

/* One state for the device: the key that was set up last is the key of every context. */
static uint8_t EEMEM stored_sbox[RC4D_KEYS][256];
#endif

enum pass { FIRST = 0, SECOND = RC4D_KEYS - 1 }; /* as the index of the key */

/* RC4's key-scheduling algorithm: `sbox` becomes a permutation of 0..255 that depends on the key. */
static __attribute__((noinline)) void schedule(uint8_t *sbox, const uint8_t *key, uint8_t key_bytes) {
    uint8_t *at = sbox;
    uint8_t i = 0;
    do {
        *at++ = i;
        i++;
    } while (i != 0);
    uint8_t j = 0;
    at = sbox;
#ifdef RC4D_K
    (void)key_bytes;
    uint8_t rounds = 16; /* 16 times through a key of 16 bytes: nothing to compare in between */
    do {
        const uint8_t *k = key;
        uint8_t left = 16;
        do {
            uint8_t a = *at;
            j = (uint8_t)(j + a + *k++);
            uint8_t *other = sbox + j;
            *at++ = *other;
            *other = a;
            left--;
        } while (left != 0);
        rounds--;
    } while (rounds != 0);
#else
    const uint8_t *k = key;
    const uint8_t *end = key + key_bytes; /* of 256 bytes, for which key_bytes is 0, none is left over */
    do {
        uint8_t a = *at;
        j = (uint8_t)(j + a + *k++);
        uint8_t *other = sbox + j;
        *at++ = *other;
        *other = a;
        if (k == end) {
            k = key;
        }
        i++;
    } while (i != 0);
#endif
}

uint8_t cipher_setup(struct cipher_context *context, const uint8_t *key, uint8_t key_bytes) {
    if (!rc4d_takes_key(key_bytes)) {
        return CIPHER_BAD_KEY;
    }
#if defined(RC4D_E)
    uint8_t sbox[256];
    schedule(sbox, key, key_bytes);
    eeprom_update_block(sbox, stored_sbox[FIRST], 256);
    eeprom_busy_wait(); /* the last byte belongs to the setup, not to the first message */
    context->unused = 0;
#elif defined(RC4D_P)
    schedule(context->sbox[FIRST], key, key_bytes);
#if RC4D_KEYS == 2
    schedule(context->sbox[SECOND], key + 16, key_bytes);
#endif
#else
#ifndef RC4D_K
    context->key_bytes = key_bytes;
#endif
    uint8_t *kept = (uint8_t *)context->key;
    do { /* 0 is 256 */
        *kept++ = *key++;
        key_bytes--;
    } while (key_bytes != 0);
#endif
    return CIPHER_OK;
}

/* A fresh copy of the S-box of a pass, as its key left it. */
static inline void take_sbox(uint8_t *sbox, const struct cipher_context *context, enum pass pass) {
#if defined(RC4D_E)
    (void)context;
    eeprom_read_block(sbox, stored_sbox[pass], 256);
#elif defined(RC4D_P)
    memcpy(sbox, context->sbox[pass], 256);
#elif defined(RC4D_K)
    schedule(sbox, context->key[pass], sizeof context->key[pass]);
#else
    uint8_t part = (uint8_t)(context->key_bytes / RC4D_KEYS);
    schedule(sbox, context->key + pass * part, part);
#endif
}

static inline void reverse(uint8_t *message, size_t bytes) {
    uint8_t *last = message + bytes;
    for (bytes /= 2; bytes != 0; bytes--) {
        uint8_t a = *message;
        uint8_t b = *--last;
        *last = a;
        *message++ = b;
    }
}

#endif
