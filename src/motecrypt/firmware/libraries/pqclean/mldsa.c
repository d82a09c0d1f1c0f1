/* Adapter: publickey.h over PQClean's ML-DSA-44, with an empty context. */
#include "api.h"
#include "publickey.h"

uint8_t public_key_verify(const uint8_t *public_key, const uint8_t *signature, const uint8_t *message,
                          size_t bytes) {
    return PQCLEAN_MLDSA44_CLEAN_crypto_sign_verify(signature, PUBLIC_KEY_SIGNATURE_BYTES, message, bytes,
                                                    public_key)
               ? PUBLIC_KEY_REFUSED
               : PUBLIC_KEY_OK;
}
