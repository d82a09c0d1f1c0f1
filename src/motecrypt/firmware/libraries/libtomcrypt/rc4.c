/* Adapter: cipher.h over LibTomCrypt's RC4. */
#include "cipher.h"
#include "rc4.h"

uint8_t cipher_setup(struct cipher_context *context, const uint8_t *key, uint8_t key_bytes) {
    unsigned long length = key_bytes == 0 && CIPHER_KEY_BYTES_MAX > 255 ? 256 : key_bytes;
    return rc4_stream_setup(&context->state, key, length) == CRYPT_OK ? CIPHER_OK : CIPHER_BAD_KEY;
}

uint8_t cipher_encrypt(struct cipher_context *context, const struct cipher_io *io) {
    rc4_state state = context->state;
    int status = rc4_stream_crypt(&state, io->input, io->bytes, io->output);
    return status == CRYPT_OK ? CIPHER_OK : CIPHER_BAD_LENGTH;
}

uint8_t cipher_decrypt(struct cipher_context *context, const struct cipher_io *io) {
    return cipher_encrypt(context, io);
}
