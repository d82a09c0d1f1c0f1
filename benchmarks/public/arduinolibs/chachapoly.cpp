/* chachapoly.cpp: cipher.h over the class ChaChaPoly. */
extern "C" {
#include "room.h"
#include "cipher.h"
}
#include <ChaChaPoly.h>
#include <string.h>

static ChaChaPoly object;

/* Its virtual destructors name these, which Arduino's core has. Nothing is ever deleted. */
void operator delete(void *) {
}

void operator delete(void *, unsigned int) {
}

extern "C" void __cxa_pure_virtual() {
}

extern "C" uint8_t cipher_setup(struct cipher_context *, const uint8_t *key, uint8_t key_bytes) {
    return key_bytes == 32 && object.setKey(key, key_bytes) ? CIPHER_OK : CIPHER_BAD_KEY;
}

static bool begin(const struct cipher_io *io) {
    if (io->nonce_bytes != 12 || !object.setIV(io->nonce, io->nonce_bytes))
        return false;
    object.addAuthData(io->ad, io->ad_bytes);
    return true;
}

extern "C" uint8_t cipher_encrypt(struct cipher_context *, const struct cipher_io *io) {
    if (!begin(io))
        return CIPHER_BAD_NONCE;
    object.encrypt(io->output, io->input, io->bytes);
    object.computeTag(io->tag, CIPHER_TAG_BYTES);
    return CIPHER_OK;
}

extern "C" uint8_t cipher_decrypt(struct cipher_context *, const struct cipher_io *io) {
    if (!begin(io))
        return CIPHER_BAD_NONCE;
    object.decrypt(io->output, io->input, io->bytes);
    if (object.checkTag(io->tag, CIPHER_TAG_BYTES))
        return CIPHER_OK;
    memset(io->output, 0, io->bytes);
    return CIPHER_BAD_TAG;
}
