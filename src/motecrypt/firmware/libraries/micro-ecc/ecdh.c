/* Adapter: publickey.h over micro-ecc's ECDH over P-256; it checks the peer's point, which the library leaves
 * to its caller. */
#include "publickey.h"
#include "uECC.h"

#include <string.h>

uint8_t public_key_keygen(uint8_t *secret_key, uint8_t *public_key, const uint8_t *seed) {
    memcpy(secret_key, seed, PUBLIC_KEY_SECRET_BYTES);
    return uECC_compute_public_key(secret_key, public_key, uECC_secp256r1()) ? PUBLIC_KEY_OK
                                                                             : PUBLIC_KEY_REFUSED;
}

uint8_t public_key_agree(uint8_t *shared, const uint8_t *secret_key, const uint8_t *peer) {
    if (!uECC_valid_public_key(peer, uECC_secp256r1())) {
        return PUBLIC_KEY_REFUSED;
    }
    return uECC_shared_secret(peer, secret_key, shared, uECC_secp256r1()) ? PUBLIC_KEY_OK
                                                                          : PUBLIC_KEY_REFUSED;
}
