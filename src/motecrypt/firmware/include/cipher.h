/* cipher.h: the one contract between a cipher and everything that uses it.
 *
 * An implementation is a C99 source and a header. The header, which its descriptor names, defines
 * `struct cipher_context`; the source defines the three functions below. The benchmark firmware, the
 * host library and Python all call these and nothing else.
 *
 * A cipher must not know: the device (it includes no hal.h), the heap, or any state outside its
 * context and its stack. Tables go through tables.h.
 */
#ifndef MOTECRYPT_CIPHER_H
#define MOTECRYPT_CIPHER_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of authentication tag; 0 where the cipher has none. Passed by the build from the descriptor. */
#ifndef CIPHER_TAG_BYTES
#define CIPHER_TAG_BYTES 0
#endif

/* The longest key in bytes that this build accepts: it sizes key schedules. */
#ifndef CIPHER_KEY_BYTES_MAX
#define CIPHER_KEY_BYTES_MAX 32
#endif

enum cipher_status {
    CIPHER_OK = 0,
    CIPHER_BAD_KEY = 1,    /* a key length that this implementation does not take */
    CIPHER_BAD_NONCE = 2,  /* a nonce length that it does not take */
    CIPHER_BAD_LENGTH = 3, /* a message or associated-data length that it does not take */
    CIPHER_BAD_TAG = 4     /* decrypt only: the tag is wrong; the output has been wiped */
};

/* One message. `output` is either `input` exactly (in place) or does not overlap it. */
struct cipher_io {
    const uint8_t *nonce; /* nonce or IV; may be NULL when nonce_bytes is 0 */
    const uint8_t *ad;    /* associated data; may be NULL when ad_bytes is 0 */
    const uint8_t *input; /* bytes of plaintext (encrypt) or ciphertext (decrypt) */
    uint8_t *output;      /* as many bytes of ciphertext or plaintext */
    uint8_t *tag;         /* CIPHER_TAG_BYTES: written by encrypt, read by decrypt */
    size_t bytes;         /* length of input and of output */
    size_t ad_bytes;
    uint8_t nonce_bytes;
};

struct cipher_context;

/* Prepare `context` from a key of `key_bytes` bytes. Returns CIPHER_OK or CIPHER_BAD_KEY. */
uint8_t cipher_setup(struct cipher_context *context, const uint8_t *key, uint8_t key_bytes);

/* Encrypt one message. The context may be used as scratch but holds the same key afterwards. */
uint8_t cipher_encrypt(struct cipher_context *context, const struct cipher_io *io);

/* Decrypt one message. With CIPHER_BAD_TAG no plaintext remains in `output`. */
uint8_t cipher_decrypt(struct cipher_context *context, const struct cipher_io *io);

#endif
