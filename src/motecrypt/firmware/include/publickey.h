/* publickey.h: the contract of a public-key algorithm, next to cipher.h.
 *
 * An implementation is a C99 source that defines those of these functions that its descriptor names. The
 * lengths of keys, signatures and so on are the algorithm's; the build passes them from its descriptor.
 * All buffers are the caller's and do not overlap. A function must not know the device or the heap.
 * Randomness is an argument: a device must have a source of its own, and an AVR has none.
 */
#ifndef MOTECRYPT_PUBLICKEY_H
#define MOTECRYPT_PUBLICKEY_H

#include <stddef.h>
#include <stdint.h>

enum public_key_status {
    PUBLIC_KEY_OK = 0,
    PUBLIC_KEY_REFUSED = 4 /* a wrong signature, or a public key or ciphertext that is not valid */
};

/* Make a key pair of `seed` (PUBLIC_KEY_SEED_BYTES of randomness). */
uint8_t public_key_keygen(uint8_t *secret_key, uint8_t *public_key, const uint8_t *seed);

/* Agree with the owner of `peer`, a public key, on PUBLIC_KEY_SHARED_BYTES. */
uint8_t public_key_agree(uint8_t *shared, const uint8_t *secret_key, const uint8_t *peer);

/* Sign a message with PUBLIC_KEY_SIGNATURE_BYTES; the same message always gets the same signature. */
uint8_t public_key_sign(uint8_t *signature, const uint8_t *secret_key, const uint8_t *message, size_t bytes);

/* Check a signature. */
uint8_t public_key_verify(const uint8_t *public_key, const uint8_t *signature, const uint8_t *message,
                          size_t bytes);

/* Make a shared secret and the ciphertext that brings it to the owner of `public_key`, of `random`
 * (PUBLIC_KEY_RANDOM_BYTES of randomness). */
uint8_t public_key_encapsulate(uint8_t *ciphertext, uint8_t *shared, const uint8_t *public_key,
                               const uint8_t *random);

/* Get the shared secret out of a ciphertext. */
uint8_t public_key_decapsulate(uint8_t *shared, const uint8_t *secret_key, const uint8_t *ciphertext);

#endif
