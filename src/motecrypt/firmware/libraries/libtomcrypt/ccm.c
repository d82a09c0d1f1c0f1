/* Adapter: cipher.h over LibTomCrypt's CCM. Given a schedule, the call needs no key, but checks that there
 * is one of a length that it takes. */
#include "cipher.h"
#include "ccm.h"

#include <string.h>

static const uint8_t any_key[32];

uint8_t cipher_setup(struct cipher_context *context, const uint8_t *key, uint8_t key_bytes) {
    cipher_descriptor[0] = aes_desc;
    context->key_bytes = key_bytes;
    return aes_setup(key, key_bytes, 0, &context->key) == CRYPT_OK ? CIPHER_OK : CIPHER_BAD_KEY;
}

/* The library's names for input and output follow its direction: pt and ct. */
uint8_t cipher_encrypt(struct cipher_context *context, const struct cipher_io *io) {
    unsigned long tag_bytes = CIPHER_TAG_BYTES;
    int status = ccm_memory(0, any_key, context->key_bytes, &context->key, io->nonce, io->nonce_bytes, io->ad,
                            io->ad_bytes, (uint8_t *)io->input, io->bytes, io->output, io->tag, &tag_bytes,
                            CCM_ENCRYPT);
    return status == CRYPT_OK ? CIPHER_OK : CIPHER_BAD_LENGTH;
}

uint8_t cipher_decrypt(struct cipher_context *context, const struct cipher_io *io) {
    unsigned long tag_bytes = CIPHER_TAG_BYTES;
    int status = ccm_memory(0, any_key, context->key_bytes, &context->key, io->nonce, io->nonce_bytes, io->ad,
                            io->ad_bytes, io->output, io->bytes, (uint8_t *)io->input, io->tag, &tag_bytes,
                            CCM_DECRYPT);
    if (status == CRYPT_ERROR) {
        memset(io->output, 0, io->bytes);
        return CIPHER_BAD_TAG;
    }
    return status == CRYPT_OK ? CIPHER_OK : CIPHER_BAD_LENGTH;
}
