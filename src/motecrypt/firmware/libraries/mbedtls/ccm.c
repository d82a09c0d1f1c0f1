/* Adapter: cipher.h over Mbed TLS's CCM. Its cipher layer allocates an AES context at every set-up:
 * the room for it is ours, next to the CCM context, so that there is no heap and the sizes are complete. */
#include "cipher.h"
#include "ccm.h"

#include <string.h>

static mbedtls_aes_context *room; /* only between here and the end of a set-up */

void *adapter_calloc(size_t count, size_t bytes) {
    if (room == NULL || count * bytes > sizeof *room) {
        return NULL;
    }
    memset(room, 0, sizeof *room);
    return room;
}

void adapter_free(void *freed) {
    (void)freed;
}

uint8_t cipher_setup(struct cipher_context *context, const uint8_t *key, uint8_t key_bytes) {
    mbedtls_ccm_init(&context->ccm);
    room = &context->aes;
    int status = mbedtls_ccm_setkey(&context->ccm, MBEDTLS_CIPHER_ID_AES, key, key_bytes * 8u);
    room = NULL;
    return status == 0 ? CIPHER_OK : CIPHER_BAD_KEY;
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
