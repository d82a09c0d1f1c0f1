/* prf_ascon.c: Ascon-CXOF128 (NIST SP 800-232, 5.3) of the key and the data behind it, customised with
 * "mcl2"; the first 16 bytes of its output.
 */
#include "parts.h"

#include <string.h>

enum { RATE_BYTES = 8, ROUNDS = 12 };

static void absorb(struct ascon_word *state, const uint8_t *bytes) {
    struct ascon_word word;

    ascon_load(&word, bytes);
    ascon_add(&state[0], &word);
    ascon_permute(state, ROUNDS);
}

void link_prf(struct cipher_context *context, const uint8_t *key, const uint8_t *data, uint8_t bytes,
              uint8_t *out) {
    static const uint8_t iv[RATE_BYTES] = {0x04, 0x00, 0xcc, 0x00, 0x00, 0x08, 0x00, 0x00};
    static const uint8_t length[RATE_BYTES] = {32}; /* of the customisation, in bits */
    static const uint8_t customisation[RATE_BYTES] = {'m', 'c', 'l', '2', 1};
    static const uint8_t end[RATE_BYTES] = {1}; /* whole blocks: the padding is a block of its own */
    struct ascon_word state[5];

    (void)context;
    memset(state, 0, sizeof state);
    ascon_load(&state[0], iv);
    ascon_permute(state, ROUNDS);
    absorb(state, length);
    absorb(state, customisation);
    absorb(state, key);
    absorb(state, key + RATE_BYTES);
    for (; bytes > 0; bytes = (uint8_t)(bytes - RATE_BYTES), data += RATE_BYTES) {
        absorb(state, data);
    }
    absorb(state, end);
    ascon_store(out, &state[0]);
    ascon_permute(state, ROUNDS);
    ascon_store(out + RATE_BYTES, &state[0]);
}
