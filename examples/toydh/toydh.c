/* Diffie-Hellman modulo the prime 2^31 - 1, to base 7: an example for publickey.h, not for use. */
#include "publickey.h"

static const uint32_t PRIME = 0x7fffffff;

static uint32_t times(uint32_t a, uint32_t b) {
    return (uint32_t)((uint64_t)a * b % PRIME);
}

static uint32_t number(const uint8_t *bytes) {
    uint32_t value = 0;
    for (uint8_t i = 0; i < 4; i++) {
        value = value << 8 | bytes[i];
    }
    return value;
}

/* base^exponent; multiplies at each bit and selects without a branch, so that the time does not depend on the bits. */
static void power(uint8_t *result, uint32_t base, uint32_t exponent) {
    uint32_t product = 1;
    for (uint8_t bit = 0; bit < 32; bit++) {
        uint32_t more = times(product, base);
        uint32_t mask = (uint32_t)0 - (exponent >> bit & 1);
        product = (more & mask) | (product & ~mask);
        base = times(base, base);
    }
    for (uint8_t i = 0; i < 4; i++) {
        result[i] = (uint8_t)(product >> (24 - 8 * i));
    }
}

uint8_t public_key_keygen(uint8_t *secret_key, uint8_t *public_key, const uint8_t *seed) {
    for (uint8_t i = 0; i < 4; i++) {
        secret_key[i] = seed[i];
    }
    power(public_key, 7, number(secret_key));
    return PUBLIC_KEY_OK;
}

uint8_t public_key_agree(uint8_t *shared, const uint8_t *secret_key, const uint8_t *peer) {
    uint32_t point = number(peer);
    if (point == 0 || point >= PRIME) {
        return PUBLIC_KEY_REFUSED;
    }
    power(shared, point, number(secret_key));
    return PUBLIC_KEY_OK;
}
