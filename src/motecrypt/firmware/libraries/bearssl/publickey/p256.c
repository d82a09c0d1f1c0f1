/* Adapter: publickey.h over BearSSL's P-256: ECDH, and ECDSA with SHA-256 and the nonce of RFC 6979.
 *
 * BearSSL writes points with a first byte 4, publickey.h's are the two coordinates alone. */
#include "bearssl.h"
#include "publickey.h"

#include <string.h>

enum { NUMBER_BYTES = 32, POINT_BYTES = 1 + 2 * NUMBER_BYTES, UNCOMPRESSED = 4 };

/* The order n of the curve: SP 800-186, section 3.2.1.3. */
static const uint8_t order[NUMBER_BYTES] = {
    0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
    0xbc, 0xe6, 0xfa, 0xad, 0xa7, 0x17, 0x9e, 0x84, 0xf3, 0xb9, 0xca, 0xc2, 0xfc, 0x63, 0x25, 0x51,
};

/* Whether a number is from 1 to n - 1, in constant time: FIPS 186-5, A.2.2, draws another otherwise. */
static uint8_t is_secret(const uint8_t *number) {
    uint8_t any = 0;
    uint16_t borrow = 0;
    for (size_t i = NUMBER_BYTES; i-- > 0;) {
        any |= number[i];
        borrow = (uint16_t)((uint16_t)(number[i] - order[i] - borrow) >> 15);
    }
    return (uint8_t)(borrow & ((uint16_t)(any + 0xffu) >> 8));
}

uint8_t public_key_keygen(uint8_t *secret_key, uint8_t *public_key, const uint8_t *seed) {
    uint8_t point[POINT_BYTES];
    if (!is_secret(seed)) { /* BearSSL makes a key of any bytes */
        return PUBLIC_KEY_REFUSED;
    }
    memcpy(secret_key, seed, NUMBER_BYTES);
    if (PUBLIC_KEY_CURVE.mulgen(point, secret_key, NUMBER_BYTES, BR_EC_secp256r1) != POINT_BYTES) {
        return PUBLIC_KEY_REFUSED;
    }
    memcpy(public_key, point + 1, 2 * NUMBER_BYTES);
    return PUBLIC_KEY_OK;
}

#if PUBLIC_KEY_SHARED_BYTES
uint8_t public_key_agree(uint8_t *shared, const uint8_t *secret_key, const uint8_t *peer) {
    uint8_t point[POINT_BYTES] = {UNCOMPRESSED};
    memcpy(point + 1, peer, 2 * NUMBER_BYTES);
    if (!PUBLIC_KEY_CURVE.mul(point, POINT_BYTES, secret_key, NUMBER_BYTES, BR_EC_secp256r1)) {
        return PUBLIC_KEY_REFUSED;
    }
    memcpy(shared, point + 1, NUMBER_BYTES);
    return PUBLIC_KEY_OK;
}
#else
static void hash(uint8_t *digest, const uint8_t *message, size_t bytes) {
    br_sha256_context context;
    br_sha256_init(&context);
    br_sha256_update(&context, message, bytes);
    br_sha256_out(&context, digest);
}

uint8_t public_key_sign(uint8_t *signature, const uint8_t *secret_key, const uint8_t *message, size_t bytes) {
    uint8_t digest[NUMBER_BYTES];
    uint8_t number[NUMBER_BYTES];
    memcpy(number, secret_key, NUMBER_BYTES);
    hash(digest, message, bytes);
    br_ec_private_key key = {BR_EC_secp256r1, number, NUMBER_BYTES};
    return PUBLIC_KEY_SIGN(&PUBLIC_KEY_CURVE, &br_sha256_vtable, digest, &key, signature)
               ? PUBLIC_KEY_OK
               : PUBLIC_KEY_REFUSED;
}

uint8_t public_key_verify(const uint8_t *public_key, const uint8_t *signature, const uint8_t *message,
                          size_t bytes) {
    uint8_t digest[NUMBER_BYTES];
    uint8_t point[POINT_BYTES] = {UNCOMPRESSED};
    memcpy(point + 1, public_key, 2 * NUMBER_BYTES);
    hash(digest, message, bytes);
    br_ec_public_key key = {BR_EC_secp256r1, point, POINT_BYTES};
    uint32_t right = PUBLIC_KEY_VERIFY(&PUBLIC_KEY_CURVE, digest, sizeof digest, &key, signature,
                                       PUBLIC_KEY_SIGNATURE_BYTES);
    return right ? PUBLIC_KEY_OK : PUBLIC_KEY_REFUSED;
}
#endif
