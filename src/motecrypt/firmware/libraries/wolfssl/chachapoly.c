/* Adapter: cipher.h over wolfCrypt's ChaCha20-Poly1305. */
#include "cipher.h"
#include "chachapoly.h"

#include <string.h>
#include <wolfssl/wolfcrypt/settings.h>

#include <wolfssl/wolfcrypt/chacha20_poly1305.h>
#include <wolfssl/wolfcrypt/error-crypt.h>

uint8_t cipher_setup(struct cipher_context *context, const uint8_t *key, uint8_t key_bytes) {
    if (key_bytes != sizeof context->key) {
        return CIPHER_BAD_KEY;
    }
    memcpy(context->key, key, sizeof context->key);
    return CIPHER_OK;
}

uint8_t cipher_encrypt(struct cipher_context *context, const struct cipher_io *io) {
    if (io->nonce_bytes != CHACHA20_POLY1305_AEAD_IV_SIZE) {
        return CIPHER_BAD_NONCE;
    }
    int status =
        wc_ChaCha20Poly1305_Encrypt(context->key, io->nonce, io->ad_bytes != 0 ? io->ad : NULL,
                                    (word32)io->ad_bytes, io->input, (word32)io->bytes, io->output, io->tag);
    return status == 0 ? CIPHER_OK : CIPHER_BAD_LENGTH;
}

uint8_t cipher_decrypt(struct cipher_context *context, const struct cipher_io *io) {
    if (io->nonce_bytes != CHACHA20_POLY1305_AEAD_IV_SIZE) {
        return CIPHER_BAD_NONCE;
    }
    int status =
        wc_ChaCha20Poly1305_Decrypt(context->key, io->nonce, io->ad_bytes != 0 ? io->ad : NULL,
                                    (word32)io->ad_bytes, io->input, (word32)io->bytes, io->tag, io->output);
    if (status == MAC_CMP_FAILED_E) {
        memset(io->output, 0, io->bytes);
        return CIPHER_BAD_TAG;
    }
    return status == 0 ? CIPHER_OK : CIPHER_BAD_LENGTH;
}
