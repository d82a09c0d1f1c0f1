/* bridge.c: one public-key operation (publickey.h) as the benchmark firmware runs it (cipher.h).
 *
 * The build chooses the operation, PUBLIC_KEY_OPERATION. The message in bench.c's buffer is the inputs,
 * then the room for the outputs; a message to sign or to verify is the associated data. So one binary
 * holds one operation alone, and its flash is that operation's. Runs as "encrypt", in place only.
 */
#include "bridge.h"
#include "cipher.h"
#include "publickey.h"

#define KEYGEN 0
#define AGREE 1
#define SIGN 2
#define VERIFY 3
#define ENCAPSULATE 4
#define DECAPSULATE 5

uint8_t cipher_setup(struct cipher_context *context, const uint8_t *key, uint8_t key_bytes) {
    (void)context;
    (void)key;
    (void)key_bytes;
    return CIPHER_OK;
}

uint8_t cipher_decrypt(struct cipher_context *context, const struct cipher_io *io) {
    (void)context;
    (void)io;
    return CIPHER_BAD_LENGTH;
}

#if PUBLIC_KEY_OPERATION == KEYGEN
enum { BYTES = PUBLIC_KEY_SEED_BYTES + PUBLIC_KEY_SECRET_BYTES + PUBLIC_KEY_PUBLIC_BYTES };

static uint8_t run(uint8_t *room, const struct cipher_io *io) {
    uint8_t *secret_key = room + PUBLIC_KEY_SEED_BYTES;
    (void)io;
    return public_key_keygen(secret_key, secret_key + PUBLIC_KEY_SECRET_BYTES, room);
}

#elif PUBLIC_KEY_OPERATION == AGREE
enum { BYTES = PUBLIC_KEY_SECRET_BYTES + PUBLIC_KEY_PUBLIC_BYTES + PUBLIC_KEY_SHARED_BYTES };

static uint8_t run(uint8_t *room, const struct cipher_io *io) {
    uint8_t *peer = room + PUBLIC_KEY_SECRET_BYTES;
    (void)io;
    return public_key_agree(peer + PUBLIC_KEY_PUBLIC_BYTES, room, peer);
}

#elif PUBLIC_KEY_OPERATION == SIGN
enum { BYTES = PUBLIC_KEY_SECRET_BYTES + PUBLIC_KEY_SIGNATURE_BYTES };

static uint8_t run(uint8_t *room, const struct cipher_io *io) {
    return public_key_sign(room + PUBLIC_KEY_SECRET_BYTES, room, io->ad, io->ad_bytes);
}

#elif PUBLIC_KEY_OPERATION == VERIFY
enum { BYTES = PUBLIC_KEY_PUBLIC_BYTES + PUBLIC_KEY_SIGNATURE_BYTES };

static uint8_t run(uint8_t *room, const struct cipher_io *io) {
    return public_key_verify(room, room + PUBLIC_KEY_PUBLIC_BYTES, io->ad, io->ad_bytes);
}

#elif PUBLIC_KEY_OPERATION == ENCAPSULATE
enum {
    IN_BYTES = PUBLIC_KEY_PUBLIC_BYTES + PUBLIC_KEY_RANDOM_BYTES,
    BYTES = IN_BYTES + PUBLIC_KEY_CIPHERTEXT_BYTES + PUBLIC_KEY_SHARED_BYTES
};

static uint8_t run(uint8_t *room, const struct cipher_io *io) {
    uint8_t *ciphertext = room + IN_BYTES;
    (void)io;
    return public_key_encapsulate(ciphertext, ciphertext + PUBLIC_KEY_CIPHERTEXT_BYTES, room,
                                  room + PUBLIC_KEY_PUBLIC_BYTES);
}

#elif PUBLIC_KEY_OPERATION == DECAPSULATE
enum { BYTES = PUBLIC_KEY_SECRET_BYTES + PUBLIC_KEY_CIPHERTEXT_BYTES + PUBLIC_KEY_SHARED_BYTES };

static uint8_t run(uint8_t *room, const struct cipher_io *io) {
    uint8_t *ciphertext = room + PUBLIC_KEY_SECRET_BYTES;
    (void)io;
    return public_key_decapsulate(ciphertext + PUBLIC_KEY_CIPHERTEXT_BYTES, room, ciphertext);
}
#endif

uint8_t cipher_encrypt(struct cipher_context *context, const struct cipher_io *io) {
    (void)context;
    if (io->bytes != BYTES || io->input != io->output) {
        return CIPHER_BAD_LENGTH;
    }
    return run(io->output, io);
}
