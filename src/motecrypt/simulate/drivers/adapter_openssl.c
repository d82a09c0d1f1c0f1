/* adapter_openssl.c: OpenSSL 3 as it is installed (Debian's libssl-dev), for comparison on the host.
 *
 * Old ciphers come from its legacy provider. The environment variable OPENSSL_ia32cap switches its use of AES
 * instructions off (see its manual page). It has no RC6, and counter mode for AES only.
 */
#include "adapter.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/provider.h>

struct cipher_context {
    EVP_CIPHER_CTX *encrypt, *decrypt;
};

const size_t cipher_context_bytes = sizeof(struct cipher_context);

static char family[16];
static const char *mode_name;

int adapter_select(const char *cipher, int rounds) {
    static const char *const names[] = {"ECB", "CBC", "CTR"};
    enum block_mode mode = adapter_parse(cipher, family);
    if (mode == MODE_UNKNOWN || rounds != 0 || strcmp(family, "rc6") == 0) {
        return 0;
    }
    if (mode == MODE_CTR && strcmp(family, "aes") != 0) {
        return 0;
    }
    mode_name = names[mode];
    OSSL_PROVIDER_load(0, "default");
    return strcmp(family, "aes") == 0 || strcmp(family, "3des") == 0 || OSSL_PROVIDER_load(0, "legacy") != 0;
}

const char *adapter_version(void) {
    return OpenSSL_version(OPENSSL_VERSION);
}

static EVP_CIPHER *fetch(uint8_t key_bytes) {
    char name[32];
    if (strcmp(family, "aes") == 0) {
        snprintf(name, sizeof name, "AES-%u-%s", 8u * key_bytes, mode_name);
    } else if (strcmp(family, "3des") == 0) {
        snprintf(name, sizeof name, strcmp(mode_name, "ECB") ? "DES-EDE3-CBC" : "DES-EDE3-ECB");
    } else {
        snprintf(name, sizeof name, "%s-%s", strcmp(family, "blowfish") ? family : "BF", mode_name);
    }
    return EVP_CIPHER_fetch(0, name, 0);
}

static EVP_CIPHER_CTX *open_context(const EVP_CIPHER *cipher, const uint8_t *key, uint8_t key_bytes, int encrypt) {
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    if (!context || !EVP_CipherInit_ex(context, cipher, 0, 0, 0, encrypt) ||
        !EVP_CIPHER_CTX_set_key_length(context, key_bytes)) {
        return 0;
    }
    if (strcmp(family, "rc2") == 0 &&
        EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_SET_RC2_KEY_BITS, 8 * key_bytes, 0) <= 0) {
        return 0;
    }
    if (!EVP_CipherInit_ex(context, 0, 0, key, 0, encrypt)) {
        return 0;
    }
    EVP_CIPHER_CTX_set_padding(context, 0);
    return context;
}

uint8_t cipher_setup(struct cipher_context *context, const uint8_t *key, uint8_t key_bytes) {
    EVP_CIPHER *cipher = fetch(key_bytes);
    if (!cipher) {
        return CIPHER_BAD_KEY;
    }
    EVP_CIPHER_CTX_free(context->encrypt);
    EVP_CIPHER_CTX_free(context->decrypt);
    context->encrypt = open_context(cipher, key, key_bytes, 1);
    context->decrypt = open_context(cipher, key, key_bytes, 0);
    EVP_CIPHER_free(cipher);
    return context->encrypt && context->decrypt ? CIPHER_OK : CIPHER_BAD_KEY;
}

static uint8_t run(EVP_CIPHER_CTX *context, const struct cipher_io *io) {
    int written = 0;
    if (!EVP_CipherInit_ex(context, 0, 0, 0, io->nonce_bytes ? io->nonce : 0, -1) ||
        !EVP_CipherUpdate(context, io->output, &written, io->input, (int)io->bytes)) {
        return CIPHER_BAD_LENGTH;
    }
    return (size_t)written == io->bytes ? CIPHER_OK : CIPHER_BAD_LENGTH;
}

uint8_t cipher_encrypt(struct cipher_context *context, const struct cipher_io *io) {
    return run(context->encrypt, io);
}

uint8_t cipher_decrypt(struct cipher_context *context, const struct cipher_io *io) {
    return run(context->decrypt, io);
}
