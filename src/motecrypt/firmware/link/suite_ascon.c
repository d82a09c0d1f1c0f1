/* suite_ascon.c: suite 2 of the link: Ascon-AEAD128 and Ascon-CXOF128 (NIST SP 800-232). The function for keys
 * and answers is the latter (5.3) of the key and the data behind it, customised with "mcl2"; the first 16 bytes
 * of its output.
 */
#include "parts.h"

#include "cipher.h"
#include CIPHER_HEADER

#include <string.h>

enum { RATE_BYTES = 8, ROUNDS = 12, WHOLE_NONCE_BYTES = 16 };

NOINLINE uint8_t link_crypt(struct link *link, uint8_t *buffer, link_size bytes, uint8_t id,
                            uint8_t decrypting) {
    struct cipher_context context;
    struct cipher_io io;
    uint8_t nonce[WHOLE_NONCE_BYTES], *tag = buffer + LINK_HEAD + bytes;

    link_key(link, id);
    id &= TAG_BYTES;
    memset(nonce, 0, sizeof nonce);
    memcpy(nonce, buffer + AT_NONCE, NONCE_BYTES);
#ifdef MC_FAULT_SHARED_KEY
    nonce[0] &= 0xc0;
#endif
    memset(&io, 0, sizeof io);
    io.nonce = nonce;
    io.nonce_bytes = sizeof nonce;
    io.input = io.output = buffer + LINK_HEAD;
    io.bytes = bytes;
    io.tag = buffer;
    (void)cipher_setup(&context, link->key, sizeof link->key);
    context.tag_bytes = id;
    if (decrypting) {
        memcpy(buffer, tag, id);
        return cipher_decrypt(&context, &io) == CIPHER_OK;
    }
    (void)cipher_encrypt(&context, &io);
    memcpy(tag, buffer, id);
    return 1;
}

static void absorb(struct ascon_word *state, const uint8_t *bytes) {
    struct ascon_word word;

    ascon_load(&word, bytes);
    ascon_add(&state[0], &word);
    ascon_permute(state, ROUNDS);
}

void link_prf(const uint8_t *key, uint8_t *data, uint8_t bytes) {
    static const uint8_t iv[RATE_BYTES] = {0x04, 0x00, 0xcc, 0x00, 0x00, 0x08, 0x00, 0x00};
    static const uint8_t length[RATE_BYTES] = {32}; /* of the customisation, in bits */
    static const uint8_t customisation[RATE_BYTES] = {'m', 'c', 'l', '2', 1};
    static const uint8_t end[RATE_BYTES] = {1}; /* whole blocks: the padding is a block of its own */
    struct ascon_word state[5];

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
    ascon_store(data - 2 * RATE_BYTES, &state[0]);
    ascon_permute(state, ROUNDS);
    ascon_store(data - RATE_BYTES, &state[0]);
}
