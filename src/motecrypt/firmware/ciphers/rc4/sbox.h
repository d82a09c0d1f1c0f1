/* sbox.h: for the optimised variants, the key schedule, cipher_setup, and where a message takes
 * its S-box from: computed from the key, copied from the context, or read from EEPROM, by the letters in
 * rc4.h.
 *
 * Written for avr-gcc 5.4 -Os, where one function with everything in it is the smallest and, with the
 * right hints, hardly slower than the fastest.
 */
#ifndef MOTECRYPT_RC4_SBOX_H
#define MOTECRYPT_RC4_SBOX_H

#include "rc4.h"
#include "registers.h"

#include <string.h>

#ifdef RC4_E
#include <avr/eeprom.h>

/* One state for the device: the key that was set up last is the key of every context. */
static uint8_t EEMEM stored_sbox[256];
#endif

/* RC4's key-scheduling algorithm: `sbox` becomes a permutation of 0..255 that depends on the key. */
static inline __attribute__((always_inline)) void schedule(uint8_t *sbox, const uint8_t *key,
                                                           uint8_t key_bytes) {
    uint8_t *at = sbox;
    uint8_t i = 0;
    do {
        *at++ = i;
        i++;
    } while (i != 0);
    uint8_t j = 0;
    at = sbox;
#ifndef RC4_K
    const uint8_t *k = key;
    const uint8_t *end = key + key_bytes; /* of 256 bytes, for which key_bytes is 0, none is left over */
#else
    (void)key_bytes;
#endif
    do {
        uint8_t a = *at;
#ifdef RC4_K
        j = (uint8_t)(j + a + key[i % 16]);
#else
        j = (uint8_t)(j + a + *k++);
#endif
        uint8_t *other = sbox + j;
        *at++ = *other;
        *other = a;
#ifndef RC4_K
        if (k == end) {
            k = key;
        }
#endif
        i++;
    } while (i != 0);
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
#else
#ifndef RC4_K
    context->key_bytes = key_bytes;
#endif
    uint8_t *kept = context->key;
    do { /* 0 is 256 */
        *kept++ = *key++;
        key_bytes--;
    } while (key_bytes != 0);
#endif
    return CIPHER_OK;
}

/* A fresh copy of the S-box as the key left it. */
static inline void take_sbox(uint8_t *sbox, const struct cipher_context *context) {
#if defined(RC4_E)
    (void)context;
    eeprom_read_block(sbox, stored_sbox, 256);
#elif defined(RC4_P)
    memcpy(sbox, context->sbox, 256);
#elif defined(RC4_K)
    schedule(sbox, context->key, sizeof context->key);
#else
    schedule(sbox, context->key, context->key_bytes);
#endif
}

#endif
