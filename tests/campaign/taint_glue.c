/* taint_glue.c: an exported cipher under the names of cipher.h, as drivers/taint.c loads one.
 *
 * Compiled with EXPORT_HEADER, the library's header, and EXPORT_PREFIX, what is before its names.
 */
#include EXPORT_HEADER

#define JOIN(a, b) a##b
#define NAMED(prefix, name) JOIN(prefix, name)
#define OWN(name) NAMED(EXPORT_PREFIX, name)

const size_t cipher_context_bytes = sizeof(struct OWN(cipher_context));

uint8_t cipher_setup(struct OWN(cipher_context) * context, const uint8_t *key, uint8_t key_bytes);
uint8_t cipher_encrypt(struct OWN(cipher_context) * context, const struct OWN(cipher_io) * io);
uint8_t cipher_decrypt(struct OWN(cipher_context) * context, const struct OWN(cipher_io) * io);

uint8_t cipher_setup(struct OWN(cipher_context) * context, const uint8_t *key, uint8_t key_bytes) {
    return OWN(cipher_setup)(context, key, key_bytes);
}

uint8_t cipher_encrypt(struct OWN(cipher_context) * context, const struct OWN(cipher_io) * io) {
    return OWN(cipher_encrypt)(context, io);
}

uint8_t cipher_decrypt(struct OWN(cipher_context) * context, const struct OWN(cipher_io) * io) {
    return OWN(cipher_decrypt)(context, io);
}
