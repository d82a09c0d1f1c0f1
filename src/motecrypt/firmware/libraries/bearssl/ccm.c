/* Adapter: cipher.h over BearSSL's CCM. The library works in place. */
#include "cipher.h"
#include "ccm.h"

#include <string.h>

uint8_t cipher_setup(struct cipher_context *context, const uint8_t *key, uint8_t key_bytes) {
    if (key_bytes != 16 && key_bytes != 24 && key_bytes != 32) {
        return CIPHER_BAD_KEY;
    }
    BEARSSL(_ctrcbc_init)(&context->keys, key, key_bytes);
    br_ccm_init(&context->ccm, &context->keys.vtable);
    return CIPHER_OK;
}

static uint8_t run(struct cipher_context *context, const struct cipher_io *io, int encrypt) {
    if (!br_ccm_reset(&context->ccm, io->nonce, io->nonce_bytes, io->ad_bytes, io->bytes, CIPHER_TAG_BYTES)) {
        return CIPHER_BAD_NONCE;
    }
    if (io->output != io->input && io->bytes != 0) {
        memcpy(io->output, io->input, io->bytes);
    }
    br_ccm_aad_inject(&context->ccm, io->ad, io->ad_bytes);
    br_ccm_flip(&context->ccm);
    br_ccm_run(&context->ccm, encrypt, io->output, io->bytes);
    return CIPHER_OK;
}

uint8_t cipher_encrypt(struct cipher_context *context, const struct cipher_io *io) {
    uint8_t status = run(context, io, 1);
    if (status == CIPHER_OK) {
        br_ccm_get_tag(&context->ccm, io->tag);
    }
    return status;
}

uint8_t cipher_decrypt(struct cipher_context *context, const struct cipher_io *io) {
    uint8_t status = run(context, io, 0);
    if (status == CIPHER_OK && br_ccm_check_tag(&context->ccm, io->tag) == 0) {
        memset(io->output, 0, io->bytes);
        return CIPHER_BAD_TAG;
    }
    return status;
}
