/* Adapter: cipher.h over wolfCrypt's AES-CCM. */
#include "cipher.h"
#include "ccm.h"

#include <string.h>
#include <wolfssl/wolfcrypt/error-crypt.h>

uint8_t cipher_setup(struct cipher_context *context, const uint8_t *key, uint8_t key_bytes) {
    if (wc_AesInit(&context->aes, NULL, INVALID_DEVID) != 0 ||
        wc_AesCcmSetKey(&context->aes, key, key_bytes) != 0) {
        return CIPHER_BAD_KEY;
    }
    return CIPHER_OK;
}

uint8_t cipher_encrypt(struct cipher_context *context, const struct cipher_io *io) {
    int status = wc_AesCcmEncrypt(&context->aes, io->output, io->input, (word32)io->bytes, io->nonce,
                                  io->nonce_bytes, io->tag, CIPHER_TAG_BYTES, io->ad, (word32)io->ad_bytes);
    return status == 0 ? CIPHER_OK : CIPHER_BAD_LENGTH;
}

uint8_t cipher_decrypt(struct cipher_context *context, const struct cipher_io *io) {
    int status = wc_AesCcmDecrypt(&context->aes, io->output, io->input, (word32)io->bytes, io->nonce,
                                  io->nonce_bytes, io->tag, CIPHER_TAG_BYTES, io->ad, (word32)io->ad_bytes);
    if (status == AES_CCM_AUTH_E) {
        memset(io->output, 0, io->bytes);
        return CIPHER_BAD_TAG;
    }
    return status == 0 ? CIPHER_OK : CIPHER_BAD_LENGTH;
}
