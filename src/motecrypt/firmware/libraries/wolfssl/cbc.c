/* Adapter: cipher.h over wolfCrypt's AES in cipher block chaining. */
#include "cipher.h"
#include "cbc.h"

uint8_t cipher_setup(struct cipher_context *context, const uint8_t *key, uint8_t key_bytes) {
    if (wc_AesInit(&context->encrypt, NULL, INVALID_DEVID) != 0 ||
        wc_AesInit(&context->decrypt, NULL, INVALID_DEVID) != 0 ||
        wc_AesSetKey(&context->encrypt, key, key_bytes, NULL, AES_ENCRYPTION) != 0 ||
        wc_AesSetKey(&context->decrypt, key, key_bytes, NULL, AES_DECRYPTION) != 0) {
        return CIPHER_BAD_KEY;
    }
    return CIPHER_OK;
}

uint8_t cipher_encrypt(struct cipher_context *context, const struct cipher_io *io) {
    if (io->nonce_bytes != AES_BLOCK_SIZE || wc_AesSetIV(&context->encrypt, io->nonce) != 0) {
        return CIPHER_BAD_NONCE;
    }
    if (io->bytes % AES_BLOCK_SIZE != 0) {
        return CIPHER_BAD_LENGTH;
    }
    return wc_AesCbcEncrypt(&context->encrypt, io->output, io->input, (word32)io->bytes) == 0
               ? CIPHER_OK
               : CIPHER_BAD_LENGTH;
}

uint8_t cipher_decrypt(struct cipher_context *context, const struct cipher_io *io) {
    if (io->nonce_bytes != AES_BLOCK_SIZE || wc_AesSetIV(&context->decrypt, io->nonce) != 0) {
        return CIPHER_BAD_NONCE;
    }
    if (io->bytes % AES_BLOCK_SIZE != 0) {
        return CIPHER_BAD_LENGTH;
    }
    return wc_AesCbcDecrypt(&context->decrypt, io->output, io->input, (word32)io->bytes) == 0
               ? CIPHER_OK
               : CIPHER_BAD_LENGTH;
}
