/* sponge.c: random bytes for masks (random.h), from a sponge over the Ascon permutation.
 *
 * A sponge as a generator is after Bertoni, Daemen, Peeters and Van Assche (CHES 2010). Rate, capacity and rounds
 * are those of Ascon-AEAD128 (NIST SP 800-232): 128 bits, 192 bits, twelve rounds after the seed and eight a
 * block. What was put out is then erased from the state, so a state that becomes known does not show earlier
 * blocks. Each state is used once and no input is known to others, so traces of many blocks do not add up; one
 * trace may still show something to an attacker who has profiled a like device.
 */
#include "random.h"

enum { STATE_WORDS = 10, START_ROUNDS = 12, BLOCK_ROUNDS = 8 };

/* In ../ciphers/ascon, where a state is 40 bytes. */
struct ascon_word;
void ascon_permute(struct ascon_word *state, uint8_t rounds);

static uint32_t random_state[STATE_WORDS];
#ifdef RANDOM_STARTED /* in the benchmark firmware alone, where each set-up has to cost the same */
static uint8_t random_started = 1;
#else
static uint8_t random_started;
#endif

/* The rate's bytes, which are then erased. */
static void put_out(uint8_t *bytes, uint8_t rounds) {
    uint8_t *rate = (uint8_t *)random_state;
    ascon_permute((struct ascon_word *)random_state, rounds);
    for (uint8_t i = 0; i < RANDOM_BLOCK_BYTES; i++) {
        bytes[i] = rate[i];
        rate[i] = 0;
    }
}

/* Memory that nobody has written has equal bytes: 0xff in EEPROM and flash. */
static uint8_t is_blank(const uint8_t *seed) {
    uint8_t differing = 0;
    for (uint8_t i = 1; i < RANDOM_SEED_BYTES; i++)
        differing |= (uint8_t)(seed[i] ^ seed[0]);
    return differing == 0;
}

uint8_t random_start(void) {
    uint8_t *bytes = (uint8_t *)random_state;
    uint8_t next[RANDOM_SEED_BYTES];
    if (random_started)
        return 0;
    for (uint8_t i = 0; i < sizeof random_state; i++)
        bytes[i] = 0;
    if (random_seed_read(bytes) != 0 || is_blank(bytes))
        return 1;
    bytes[RANDOM_SEED_BYTES] = 1; /* ends the seed */
    put_out(next, START_ROUNDS);
    if (random_seed_write(next) != 0)
        return 1;
    random_started = 1;
    return 0;
}

void random_block(uint8_t *bytes) {
    put_out(bytes, BLOCK_ROUNDS);
}
