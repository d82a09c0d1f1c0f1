/* seed.c: the seed of the benchmark firmware's masks (random.h). It is the same in every firmware: what a
 * measurement costs does not depend on it, and no secret is protected by it. Never part of a product. */
#include "random.h"

uint8_t random_seed_read(uint8_t *seed) {
    for (uint8_t i = 0; i < RANDOM_SEED_BYTES; i++)
        seed[i] = i;
    return 0;
}

uint8_t random_seed_write(const uint8_t *seed) {
    (void)seed;
    return 0;
}
