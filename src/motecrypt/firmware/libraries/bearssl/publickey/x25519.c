/* Adapter: publickey.h over BearSSL's X25519, which replaces the point by the product. */
#include "bearssl.h"
#include "publickey.h"

#include <string.h>

enum { BYTES = 32 };

static void multiply(uint8_t *point, const uint8_t *scalar) {
    PUBLIC_KEY_CURVE.mul(point, BYTES, scalar, BYTES, BR_EC_curve25519);
}

uint8_t public_key_keygen(uint8_t *secret_key, uint8_t *public_key, const uint8_t *seed) {
    memcpy(secret_key, seed, BYTES);
    memset(public_key, 0, BYTES);
    public_key[0] = 9; /* the base point */
    multiply(public_key, secret_key);
    return PUBLIC_KEY_OK;
}

uint8_t public_key_agree(uint8_t *shared, const uint8_t *secret_key, const uint8_t *peer) {
    memcpy(shared, peer, BYTES);
    multiply(shared, secret_key);
    return PUBLIC_KEY_OK;
}
