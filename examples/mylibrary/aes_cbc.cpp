// The adapter: cipher.h's three functions over the library's class. The library has bare blocks alone;
// the chaining is here.
extern "C" {
#include "aes_cbc.h"
#include "cipher.h"
}
#include "BlockAes.h"

static_assert(sizeof(BlockAes) <= sizeof(struct cipher_context), "cipher_context is too small");

static BlockAes *object(struct cipher_context *context) {
    return reinterpret_cast<BlockAes *>(context->room);
}

static uint8_t check(const struct cipher_io *io) {
    if (io->nonce_bytes != 16) {
        return CIPHER_BAD_NONCE;
    }
    return io->bytes % 16 == 0 ? CIPHER_OK : CIPHER_BAD_LENGTH;
}

static void exclusive_or(uint8_t *block, const uint8_t *other) {
    for (uint8_t i = 0; i < 16; i++) {
        block[i] ^= other[i];
    }
}

extern "C" uint8_t cipher_setup(struct cipher_context *context, const uint8_t *key, uint8_t key_bytes) {
    return object(context)->begin(key, 8 * key_bytes) ? CIPHER_OK : CIPHER_BAD_KEY;
}

extern "C" uint8_t cipher_encrypt(struct cipher_context *context, const struct cipher_io *io) {
    const uint8_t *chain = io->nonce;
    uint8_t status = check(io);
    for (size_t at = 0; status == CIPHER_OK && at < io->bytes; at += 16) {
        memmove(io->output + at, io->input + at, 16);
        exclusive_or(io->output + at, chain);
        object(context)->encrypt(io->output + at);
        chain = io->output + at;
    }
    return status;
}

extern "C" uint8_t cipher_decrypt(struct cipher_context *context, const struct cipher_io *io) {
    uint8_t chain[16];
    uint8_t next[16];
    uint8_t status = check(io);
    if (status == CIPHER_OK) {
        memcpy(chain, io->nonce, 16);
    }
    for (size_t at = 0; status == CIPHER_OK && at < io->bytes; at += 16) {
        memcpy(next, io->input + at, 16);
        memmove(io->output + at, next, 16);
        object(context)->decrypt(io->output + at);
        exclusive_or(io->output + at, chain);
        memcpy(chain, next, 16);
    }
    return status;
}
