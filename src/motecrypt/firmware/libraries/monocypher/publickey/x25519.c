/* Adapter: publickey.h over Monocypher's X25519. */
#include "monocypher.h"
#include "publickey.h"

#include <string.h>

uint8_t public_key_keygen(uint8_t *secret_key, uint8_t *public_key, const uint8_t *seed) {
    memcpy(secret_key, seed, PUBLIC_KEY_SECRET_BYTES);
    crypto_x25519_public_key(public_key, secret_key);
    return PUBLIC_KEY_OK;
}

uint8_t public_key_agree(uint8_t *shared, const uint8_t *secret_key, const uint8_t *peer) {
    crypto_x25519(shared, secret_key, peer);
    return PUBLIC_KEY_OK;
}
