/* prf_cmac.c: AES-CMAC (NIST SP 800-38B) of one or two whole blocks, over the block cipher of the suite.
 *
 * Whole blocks need the first subkey only.
 */
#include "parts.h"

#include <string.h>

static void add(uint8_t *to, const uint8_t *from) {
    for (uint8_t i = 0; i < BLOCK_BYTES; i++) {
        to[i] ^= from[i];
    }
}

void link_prf(struct cipher_context *context, const uint8_t *key, const uint8_t *data, uint8_t bytes,
              uint8_t *out) {
    uint8_t subkey[BLOCK_BYTES];
    uint8_t carry = 0;

    (void)block_setup(&context->key, key, BLOCK_BYTES);
    memset(subkey, 0, sizeof subkey);
    memset(out, 0, BLOCK_BYTES);
    block_encrypt(&context->key, subkey);
    for (uint8_t i = BLOCK_BYTES; i-- > 0;) { /* doubled in GF(2^128) */
        uint8_t byte = subkey[i];

        subkey[i] = (uint8_t)(byte << 1 | carry);
        carry = byte >> 7;
    }
    subkey[BLOCK_BYTES - 1] = (uint8_t)(subkey[BLOCK_BYTES - 1] ^ (0x87 & -carry));
    add(out, data);
    if (bytes > BLOCK_BYTES) {
        block_encrypt(&context->key, out);
        add(out, data + BLOCK_BYTES);
    }
    add(out, subkey);
    block_encrypt(&context->key, out);
}
