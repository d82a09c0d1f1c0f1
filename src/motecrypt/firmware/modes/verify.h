/* verify.h: how every authenticated cipher of ours compares a tag and refuses a message. */
#ifndef MOTECRYPT_VERIFY_H
#define MOTECRYPT_VERIFY_H

#include "cipher.h"

/* Compare tags in a time that depends on their length alone; wipe the plaintext when they differ. */
static inline uint8_t verify_or_wipe(const struct cipher_io *io, const uint8_t *tag, uint8_t tag_bytes) {
    uint8_t difference = 0;

    for (uint8_t i = 0; i < tag_bytes; i++) {
        difference = (uint8_t)(difference | (tag[i] ^ io->tag[i]));
    }
    if (difference == 0) {
        return CIPHER_OK;
    }
    for (size_t i = 0; i < io->bytes; i++) {
        io->output[i] = 0;
    }
    return CIPHER_BAD_TAG;
}

#endif
