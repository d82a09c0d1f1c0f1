/* random.h: where a masked cipher gets its random bytes, and where those get their seed.
 *
 * A masked cipher calls the first two functions. random/sponge.c defines them for devices without a generator
 * of their own; a device that has a true one may define them with it. The sponge needs a secret seed, which
 * no AVR can make: write one into each device at production, from a computer's generator, and supply the last
 * two functions. Without them a program does not link.
 */
#ifndef MOTECRYPT_RANDOM_H
#define MOTECRYPT_RANDOM_H

#include <stdint.h>

#define RANDOM_BLOCK_BYTES 16
#define RANDOM_SEED_BYTES 16

/* What cipher_setup returns besides the words of cipher.h. */
enum { CIPHER_NO_SEED = 5 /* there is no seed, or its successor could not be stored */ };

/* Make random_block ready. Returns 0, or another number when it cannot be. */
uint8_t random_start(void);

/* Write RANDOM_BLOCK_BYTES bytes that nobody can predict. Not before random_start returned 0. */
void random_block(uint8_t *bytes);

/* Yours: read the stored seed. Returns 0, or another number where there is none. */
uint8_t random_seed_read(uint8_t *seed);

/* Yours: replace the stored seed before anything is drawn from it, so that a reset repeats no mask. Returns 0
 * when the new one is stored. */
uint8_t random_seed_write(const uint8_t *seed);

#endif
