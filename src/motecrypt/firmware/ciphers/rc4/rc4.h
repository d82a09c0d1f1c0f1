/* rc4.h: what RC4 keeps of a key, for each of the letters that the RC4D source gives its variants.
 *
 * The descriptor chooses by defines: RC4_K a key of exactly 16 bytes; RC4_I the message is worked on in
 * place, through one pointer; RC4_P setup precomputes the S-box; RC4_E and keeps it in EEPROM. Without
 * RC4_P setup only keeps the key, and every message pays for a key schedule.
 *
 * Source of the letters: M. Kwasnicki, "Strong encryption for small payloads on Arduino". RC4
 * itself was never published by its designer; RFC 6229 has its test vectors, RFC 7465 forbids it.
 */
#ifndef MOTECRYPT_RC4_H
#define MOTECRYPT_RC4_H

#include "cipher.h"

#if defined(RC4_E)
struct cipher_context {
    uint8_t unused; /* the state is in EEPROM, and C wants a member */
};
#elif defined(RC4_P)
struct cipher_context {
    uint8_t sbox[256];
};
#elif defined(RC4_K)
struct cipher_context {
    uint8_t key[16];
};
#else
struct cipher_context {
    uint8_t key[CIPHER_KEY_BYTES_MAX];
    uint8_t key_bytes;
};
#endif

/* Whether this variant takes a key of so many bytes: 40 bits are the shortest RC4 was specified for, 2048
 * the longest that it uses. A build for keys of 256 bytes takes 0 for 256, which does not fit a byte. */
static inline uint8_t rc4_takes_key(uint8_t key_bytes) {
#if defined(RC4_K)
    return key_bytes == 16;
#elif CIPHER_KEY_BYTES_MAX < 255
    return key_bytes >= 5 && key_bytes <= CIPHER_KEY_BYTES_MAX;
#elif CIPHER_KEY_BYTES_MAX == 255
    return key_bytes >= 5;
#else
    return key_bytes == 0 || key_bytes >= 5;
#endif
}

/* The bytes of a key that was taken. */
static inline uint16_t rc4_key_length(uint8_t key_bytes) {
#if CIPHER_KEY_BYTES_MAX > 255
    return key_bytes == 0 ? 256 : key_bytes;
#else
    return key_bytes;
#endif
}

#endif
