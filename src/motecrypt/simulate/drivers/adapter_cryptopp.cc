// adapter_cryptopp.cc: Crypto++ as it is installed (Debian's libcrypto++-dev), for comparison on the host and as
// a second opinion on RC6, which few libraries have. Crypto++ uses AES instructions where the processor has them.
#include "adapter.h"

#include <cryptopp/aes.h>
#include <cryptopp/algparam.h>
#include <cryptopp/argnames.h>
#include <cryptopp/blowfish.h>
#include <cryptopp/des.h>
#include <cryptopp/modes.h>
#include <cryptopp/rc2.h>
#include <cryptopp/rc6.h>

#include <cstdio>
#include <memory>
#include <string>

using CryptoPP::SymmetricCipher;

struct cipher_context {
    SymmetricCipher *encrypt, *decrypt;
};

namespace {

std::string family;
enum block_mode mode = MODE_UNKNOWN;
int rounds = 0;

template <class Cipher> SymmetricCipher *make(bool encrypt) {
    switch (mode) {
    case MODE_ECB:
        if (encrypt) {
            return new typename CryptoPP::ECB_Mode<Cipher>::Encryption;
        }
        return new typename CryptoPP::ECB_Mode<Cipher>::Decryption;
    case MODE_CBC:
        if (encrypt) {
            return new typename CryptoPP::CBC_Mode<Cipher>::Encryption;
        }
        return new typename CryptoPP::CBC_Mode<Cipher>::Decryption;
    default:
        return new typename CryptoPP::CTR_Mode<Cipher>::Encryption;
    }
}

SymmetricCipher *make_by_name(bool encrypt) {
    if (family == "aes") {
        return make<CryptoPP::AES>(encrypt);
    }
    if (family == "des") {
        return make<CryptoPP::DES>(encrypt);
    }
    if (family == "3des") {
        return make<CryptoPP::DES_EDE3>(encrypt);
    }
    if (family == "rc2") {
        return make<CryptoPP::RC2>(encrypt);
    }
    if (family == "blowfish") {
        return make<CryptoPP::Blowfish>(encrypt);
    }
    return family == "rc6" ? make<CryptoPP::RC6>(encrypt) : nullptr;
}

void take_key(SymmetricCipher *cipher, const uint8_t *key, size_t key_bytes) {
    const uint8_t zeros[16] = {0};
    const CryptoPP::ConstByteArrayParameter iv(zeros, mode == MODE_ECB ? 0 : cipher->IVSize());
    // what a cipher does not ask for must not be an error: only RC2 has effective bits
    CryptoPP::AlgorithmParameters parameters =
        CryptoPP::MakeParameters("EffectiveKeyLength", int(8 * key_bytes), false);
    if (rounds) {
        parameters("Rounds", rounds);
    }
    if (mode != MODE_ECB) {
        parameters(CryptoPP::Name::IV(), iv);
    }
    cipher->SetKey(key, key_bytes, parameters);
}

uint8_t run(SymmetricCipher *cipher, const struct cipher_io *io) {
    try {
        if (mode != MODE_ECB) {
            cipher->Resynchronize(io->nonce, int(io->nonce_bytes));
        }
        cipher->ProcessData(io->output, io->input, io->bytes);
        return CIPHER_OK;
    } catch (const CryptoPP::Exception &) {
        return CIPHER_BAD_LENGTH;
    }
}

} // namespace

extern "C" {

const size_t cipher_context_bytes = sizeof(struct cipher_context);

int adapter_select(const char *cipher, int wanted_rounds) {
    char name[16] = "";
    mode = adapter_parse(cipher, name);
    family = name;
    rounds = wanted_rounds;
    if (mode == MODE_UNKNOWN || (rounds != 0 && family != "rc6")) {
        return 0;
    }
    return std::unique_ptr<SymmetricCipher>(make_by_name(true)) != nullptr;
}

const char *adapter_version(void) {
    static char text[32];
    const int version = CryptoPP::LibraryVersion();
    snprintf(text, sizeof text, "Crypto++ %d.%d.%d", version / 100, version / 10 % 10, version % 10);
    return text;
}

uint8_t cipher_setup(struct cipher_context *context, const uint8_t *key, uint8_t key_bytes) {
    delete context->encrypt;
    delete context->decrypt;
    context->encrypt = context->decrypt = nullptr;
    try {
        context->encrypt = make_by_name(true);
        context->decrypt = make_by_name(false);
        take_key(context->encrypt, key, key_bytes);
        take_key(context->decrypt, key, key_bytes);
        return CIPHER_OK;
    } catch (const CryptoPP::Exception &) {
        return CIPHER_BAD_KEY;
    }
}

uint8_t cipher_encrypt(struct cipher_context *context, const struct cipher_io *io) {
    return run(context->encrypt, io);
}

uint8_t cipher_decrypt(struct cipher_context *context, const struct cipher_io *io) {
    return run(context->decrypt, io);
}
}
