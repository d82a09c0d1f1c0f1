/* Adapter: cipher.h over Mbed TLS's CCM, whose cipher layer allocates its AES context: a static one
 * serves, since there is one context at a time. */
#include "cipher.h"
#include "ccm.h"

uint8_t cipher_setup(struct cipher_context *context, const uint8_t *key, uint8_t key_bytes) {
    mbedtls_ccm_free(&context->ccm);
    mbedtls_ccm_init(&context->ccm);
    if (mbedtls_ccm_setkey(&context->ccm, MBEDTLS_CIPHER_ID_AES, key, key_bytes * 8u) != 0) {
        return CIPHER_BAD_KEY;
    }
    return CIPHER_OK;
}

uint8_t cipher_encrypt(struct cipher_context *context, const struct cipher_io *io) {
    int status = mbedtls_ccm_encrypt_and_tag(&context->ccm, io->bytes, io->nonce, io->nonce_bytes, io->ad,
                                             io->ad_bytes, io->input, io->output, io->tag, CIPHER_TAG_BYTES);
    return status == 0 ? CIPHER_OK : CIPHER_BAD_LENGTH;
}

uint8_t cipher_decrypt(struct cipher_context *context, const struct cipher_io *io) {
    int status = mbedtls_ccm_auth_decrypt(&context->ccm, io->bytes, io->nonce, io->nonce_bytes, io->ad,
                                          io->ad_bytes, io->input, io->output, io->tag, CIPHER_TAG_BYTES);
    if (status == MBEDTLS_ERR_CCM_AUTH_FAILED) {
        return CIPHER_BAD_TAG;
    }
    return status == 0 ? CIPHER_OK : CIPHER_BAD_LENGTH;
}
