/* rc4d.h: what RC4D keeps of a key, for each of the letters that its source gives the variants.
 *
 * The descriptor chooses by defines: RC4D_K the key of a pass has exactly 16 bytes; RC4D_I no second
 * buffer, the message is worked on in its own; RC4D_P setup precomputes the S-box; RC4D_E and keeps it
 * in EEPROM. Without RC4D_P setup only keeps the key, and messages pay for key schedules.
 * RC4D_KEYS=2 makes the cipher of the source's last suggestion: the first half of the key for the first
 * pass, the second half for the second.
 *
 * RC4D: two passes of RC4 with cipher feedback through the S-box, the message reversed in between. Step a
 * of a pass, after RC4's own step, is output[a] = K ^ S[output[a - 1]] ^ input[a], with RC4D_IV for
 * output[-1]. Neither K nor S depends on the message, so the first byte of a message of one byte goes
 * twice through the same XOR: it is sent as itself (with one key). The cipher is broken.
 *
 * Source: M. Kwasnicki, "Strong encryption for small payloads on Arduino".
 */
#ifndef MOTECRYPT_RC4D_H
#define MOTECRYPT_RC4D_H

#include "cipher.h"

#define RC4D_IV 42 /* the source's hand-picked constant */

enum { ENCRYPTING, DECRYPTING };

#ifndef RC4D_KEYS
#define RC4D_KEYS 1
#endif

#if defined(RC4D_E)
struct cipher_context {
    uint8_t unused; /* the state is in EEPROM, and C wants a member */
};
#elif defined(RC4D_P)
struct cipher_context {
    uint8_t sbox[RC4D_KEYS][256];
};
#elif defined(RC4D_K)
struct cipher_context {
    uint8_t key[RC4D_KEYS][16];
};
#else
struct cipher_context {
    uint8_t key[CIPHER_KEY_BYTES_MAX];
    uint8_t key_bytes;
};
#endif

/* Whether this variant takes a key of so many bytes: 40 bits are the shortest RC4 was specified for, 2048
 * the longest that it uses. A build for keys of 256 bytes takes 0 for 256, which does not fit a byte. */
static inline uint8_t rc4d_takes_key(uint8_t key_bytes) {
#if defined(RC4D_K)
    return key_bytes == RC4D_KEYS * 16;
#else
#if CIPHER_KEY_BYTES_MAX < 255
    if (key_bytes > CIPHER_KEY_BYTES_MAX) {
        return 0;
    }
#elif CIPHER_KEY_BYTES_MAX > 255
    if (key_bytes == 0) {
        return RC4D_KEYS == 1;
    }
#endif
    return key_bytes >= RC4D_KEYS * 5 && key_bytes % RC4D_KEYS == 0;
#endif
}

/* The bytes of a key that was taken. */
static inline uint16_t rc4d_key_length(uint8_t key_bytes) {
#if CIPHER_KEY_BYTES_MAX > 255
    return key_bytes == 0 ? 256 : key_bytes;
#else
    return key_bytes;
#endif
}

#endif
