/* adapter_libtomcrypt.c: LibTomCrypt as it is installed (Debian's libtomcrypt-dev), for comparison on the host. */
#include "adapter.h"

#include <tomcrypt.h>

struct cipher_context {
    symmetric_ECB ecb;
    symmetric_CBC cbc;
    symmetric_CTR ctr;
};

const size_t cipher_context_bytes = sizeof(struct cipher_context);

static enum block_mode mode;
static int cipher_index = -1;

int adapter_select(const char *cipher, int rounds) {
    static const struct {
        const char *family;
        const struct ltc_cipher_descriptor *descriptor;
    } known[] = {{"aes", &aes_desc}, {"des", &des_desc},           {"3des", &des3_desc},
                 {"rc2", &rc2_desc}, {"blowfish", &blowfish_desc}, {"rc6", &rc6_desc}};
    char family[16];
    mode = adapter_parse(cipher, family);
    cipher_index = -1;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(known[i].family, family) == 0) {
            cipher_index = register_cipher(known[i].descriptor);
        }
    }
    return mode != MODE_UNKNOWN && cipher_index >= 0 && rounds == 0;
}

const char *adapter_version(void) {
    return "LibTomCrypt " SCRYPT;
}

static uint8_t status_of(int error) {
    return error == CRYPT_OK ? CIPHER_OK : CIPHER_BAD_LENGTH;
}

uint8_t cipher_setup(struct cipher_context *context, const uint8_t *key, uint8_t key_bytes) {
    uint8_t iv[MAXBLOCKSIZE] = {0};
    switch (mode) {
    case MODE_ECB:
        return status_of(ecb_start(cipher_index, key, key_bytes, 0, &context->ecb));
    case MODE_CBC:
        return status_of(cbc_start(cipher_index, iv, key, key_bytes, 0, &context->cbc));
    default:
        return status_of(ctr_start(cipher_index, iv, key, key_bytes, 0, CTR_COUNTER_BIG_ENDIAN, &context->ctr));
    }
}

uint8_t cipher_encrypt(struct cipher_context *context, const struct cipher_io *io) {
    switch (mode) {
    case MODE_ECB:
        return status_of(ecb_encrypt(io->input, io->output, io->bytes, &context->ecb));
    case MODE_CBC:
        cbc_setiv(io->nonce, io->nonce_bytes, &context->cbc);
        return status_of(cbc_encrypt(io->input, io->output, io->bytes, &context->cbc));
    default:
        ctr_setiv(io->nonce, io->nonce_bytes, &context->ctr);
        return status_of(ctr_encrypt(io->input, io->output, io->bytes, &context->ctr));
    }
}

uint8_t cipher_decrypt(struct cipher_context *context, const struct cipher_io *io) {
    switch (mode) {
    case MODE_ECB:
        return status_of(ecb_decrypt(io->input, io->output, io->bytes, &context->ecb));
    case MODE_CBC:
        cbc_setiv(io->nonce, io->nonce_bytes, &context->cbc);
        return status_of(cbc_decrypt(io->input, io->output, io->bytes, &context->cbc));
    default:
        return cipher_encrypt(context, io);
    }
}
