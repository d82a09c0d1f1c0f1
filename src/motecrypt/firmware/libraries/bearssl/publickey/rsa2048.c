/* Adapter: publickey.h over BearSSL's RSA: signatures of PKCS #1 v1.5 with SHA-256, public exponent 65,537.
 *
 * The secret key is p, q, d mod p - 1, d mod q - 1 and 1/q mod p; the public key is the modulus. */
#include "bearssl.h"
#include "publickey.h"

#include <string.h>

enum { MODULUS_BYTES = 256, FACTOR_BYTES = 128, DIGEST_BYTES = 32 };

static void hash(uint8_t *digest, const uint8_t *message, size_t bytes) {
    br_sha256_context context;
    br_sha256_init(&context);
    br_sha256_update(&context, message, bytes);
    br_sha256_out(&context, digest);
}

uint8_t public_key_sign(uint8_t *signature, const uint8_t *secret_key, const uint8_t *message, size_t bytes) {
    uint8_t digest[DIGEST_BYTES];
    uint8_t *part = (uint8_t *)secret_key; /* BearSSL's structure is without const; it only reads */
    br_rsa_private_key key = {
        8 * MODULUS_BYTES, part,
        FACTOR_BYTES,      part + FACTOR_BYTES,
        FACTOR_BYTES,      part + 2 * FACTOR_BYTES,
        FACTOR_BYTES,      part + 3 * FACTOR_BYTES,
        FACTOR_BYTES,      part + 4 * FACTOR_BYTES,
        FACTOR_BYTES,
    };
    hash(digest, message, bytes);
    uint32_t made = PUBLIC_KEY_SIGN(BR_HASH_OID_SHA256, digest, sizeof digest, &key, signature);
    return made ? PUBLIC_KEY_OK : PUBLIC_KEY_REFUSED;
}

uint8_t public_key_verify(const uint8_t *public_key, const uint8_t *signature, const uint8_t *message,
                          size_t bytes) {
    uint8_t digest[DIGEST_BYTES];
    uint8_t signed_digest[DIGEST_BYTES];
    uint8_t exponent[] = {1, 0, 1};
    br_rsa_public_key key = {(uint8_t *)public_key, MODULUS_BYTES, exponent, sizeof exponent};
    hash(digest, message, bytes);
    if (!PUBLIC_KEY_VERIFY(signature, MODULUS_BYTES, BR_HASH_OID_SHA256, sizeof digest, &key,
                           signed_digest)) {
        return PUBLIC_KEY_REFUSED;
    }
    return memcmp(digest, signed_digest, sizeof digest) ? PUBLIC_KEY_REFUSED : PUBLIC_KEY_OK;
}
