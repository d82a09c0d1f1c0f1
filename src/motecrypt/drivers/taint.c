/* taint.c: run one cipher under valgrind's memcheck with its secrets marked as undefined.
 *
 *   valgrind --tool=memcheck ... taint LIBRARY OPERATION KEY_BYTES NONCE_BYTES AD_BYTES MESSAGE_BYTES TAG_BYTES
 *
 * LIBRARY is a cipher built for the host (cipher.h). Memcheck follows undefined bytes through every
 * computation and reports where a branch or an address depends on one: with key and message marked, these
 * are the places where secrets steer the processor. OPERATION is encrypt, decrypt (key secret, ciphertext
 * and tag as a receiver sees them) or refuse (the same with a wrong tag). Nonce, associated data and lengths
 * are public. Idea: A. Langley, ctgrind, 2010.
 *
 * It reports nothing itself: valgrind does. It ends with 0 when the cipher did what was asked.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <valgrind/memcheck.h>

#include "../firmware/include/cipher.h"

enum { BYTES_MAX = 4096, ALIGNMENT = 256, EXIT_USAGE = 2, EXIT_FAILED = 3 };

typedef uint8_t (*setup_function)(struct cipher_context *, const uint8_t *, uint8_t);
typedef uint8_t (*run_function)(struct cipher_context *, const struct cipher_io *);

static uint8_t key[256], nonce[256], ad[BYTES_MAX], message[BYTES_MAX], tag[256];

static void *symbol(void *library, const char *name) {
    void *found = dlsym(library, name);
    if (found == NULL) {
        fprintf(stderr, "taint: %s\n", dlerror());
        exit(EXIT_USAGE);
    }
    return found;
}

/* Any bytes will do, as long as they are always the same: xorshift32. */
static void fill(uint8_t *bytes, size_t count) {
    static uint32_t state = 0x2545F491u;
    while (count-- > 0) {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        *bytes++ = (uint8_t)(state >> 24);
    }
}

static size_t size_argument(const char *text, size_t limit) {
    unsigned long value = strtoul(text, NULL, 10);
    if (value > limit) {
        fprintf(stderr, "taint: %s bytes are too many\n", text);
        exit(EXIT_USAGE);
    }
    return (size_t)value;
}

/* The status is public: it is the answer. */
static void expect(uint8_t status, uint8_t wanted, const char *what) {
    VALGRIND_MAKE_MEM_DEFINED(&status, sizeof status);
    if (status != wanted) {
        fprintf(stderr, "taint: %s answered %u\n", what, status);
        exit(EXIT_FAILED);
    }
}

int main(int argc, char **argv) {
    if (argc != 8) {
        fputs("usage: taint LIBRARY encrypt|decrypt|refuse KEY NONCE AD MESSAGE TAG (bytes)\n", stderr);
        return EXIT_USAGE;
    }
    void *library = dlopen(argv[1], RTLD_NOW);
    if (library == NULL) {
        fprintf(stderr, "taint: %s\n", dlerror());
        return EXIT_USAGE;
    }
    setup_function setup = (setup_function)symbol(library, "cipher_setup");
    run_function encrypt = (run_function)symbol(library, "cipher_encrypt");
    run_function decrypt = (run_function)symbol(library, "cipher_decrypt");
    size_t context_bytes = *(const size_t *)symbol(library, "cipher_context_bytes");

    size_t key_bytes = size_argument(argv[3], sizeof key - 1);
    size_t nonce_bytes = size_argument(argv[4], sizeof nonce - 1);
    size_t message_bytes = size_argument(argv[6], sizeof message);
    size_t tag_bytes = size_argument(argv[7], sizeof tag);
    struct cipher_io io = {nonce, ad, message, message, tag, message_bytes, size_argument(argv[5], sizeof ad),
                           (uint8_t)nonce_bytes};
    struct cipher_context *context = aligned_alloc(ALIGNMENT, (context_bytes / ALIGNMENT + 1) * ALIGNMENT);
    if (context == NULL) {
        return EXIT_FAILED;
    }
    memset(context, 0, context_bytes);
    fill(key, key_bytes);
    fill(nonce, nonce_bytes);
    fill(ad, io.ad_bytes);
    fill(message, message_bytes);

    int decrypts = strcmp(argv[2], "encrypt") != 0;
    int refuses = strcmp(argv[2], "refuse") == 0;
    if (decrypts) { /* what a receiver gets: made with nothing marked */
        expect(setup(context, key, (uint8_t)key_bytes), CIPHER_OK, "setup");
        expect(encrypt(context, &io), CIPHER_OK, "encrypt");
        memset(context, 0, context_bytes);
        if (refuses && tag_bytes > 0) {
            tag[0] ^= 0xff;
        }
    } else {
        VALGRIND_MAKE_MEM_UNDEFINED(message, message_bytes);
    }
    VALGRIND_MAKE_MEM_UNDEFINED(key, key_bytes);
    expect(setup(context, key, (uint8_t)key_bytes), CIPHER_OK, "setup");
    if (!decrypts) {
        expect(encrypt(context, &io), CIPHER_OK, "encrypt");
    } else {
        expect(decrypt(context, &io), refuses && tag_bytes > 0 ? CIPHER_BAD_TAG : CIPHER_OK, "decrypt");
    }
    return 0;
}
