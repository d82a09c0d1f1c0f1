/* Adapter: publickey.h over PQClean's ML-KEM. */
#include "api.h"
#include "kem.h"
#include "publickey.h"

uint8_t public_key_keygen(uint8_t *secret_key, uint8_t *public_key, const uint8_t *seed) {
    return PUBLIC_KEY_NAMED(crypto_kem_keypair_derand)(public_key, secret_key, seed) ? PUBLIC_KEY_REFUSED
                                                                                     : PUBLIC_KEY_OK;
}

uint8_t public_key_encapsulate(uint8_t *ciphertext, uint8_t *shared, const uint8_t *public_key,
                               const uint8_t *random) {
    return PUBLIC_KEY_NAMED(crypto_kem_enc_derand)(ciphertext, shared, public_key, random)
               ? PUBLIC_KEY_REFUSED
               : PUBLIC_KEY_OK;
}

uint8_t public_key_decapsulate(uint8_t *shared, const uint8_t *secret_key, const uint8_t *ciphertext) {
    return PUBLIC_KEY_NAMED(crypto_kem_dec)(shared, ciphertext, secret_key) ? PUBLIC_KEY_REFUSED
                                                                            : PUBLIC_KEY_OK;
}
