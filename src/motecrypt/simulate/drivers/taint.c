/* taint.c: run one cipher under valgrind's memcheck with its secrets marked as undefined.
 *
 *   valgrind --tool=memcheck ... taint LIBRARY KEY_BYTES NONCE_BYTES AD_BYTES MESSAGE_BYTES TAG_BYTES
 *
 * LIBRARY is a cipher built for the host (cipher.h). Memcheck follows undefined bytes through every
 * computation and reports where a branch or an address depends on one: with key and message marked, these
 * are the places where secrets steer the processor. Three things are done, each in a function of its own so
 * that memcheck's stacks name it: taint_encrypt, taint_decrypt (key secret, ciphertext and tag as a receiver
 * sees them) and, with a tag, taint_refuse (the same with a wrong tag). Nonce, associated data and lengths are
 * public. Idea: A. Langley, ctgrind, 2010.
 *
 * It reports nothing itself: valgrind does. It ends with 0 when the cipher did what was asked.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <valgrind/memcheck.h>

#include "../../firmware/include/cipher.h"

enum { BYTES_MAX = 4096, ALIGNMENT = 256, EXIT_USAGE = 2, EXIT_FAILED = 3 };

typedef uint8_t (*setup_function)(struct cipher_context *, const uint8_t *, uint8_t);
typedef uint8_t (*run_function)(struct cipher_context *, const struct cipher_io *);

static uint8_t key[256], nonce[256], ad[BYTES_MAX], message[BYTES_MAX], tag[256];

/* The cipher under test and one message. */
static struct {
    setup_function setup;
    run_function encrypt, decrypt;
    struct cipher_context *context;
    size_t key_bytes, context_bytes;
    struct cipher_io io;
} test;

static void *symbol(void *library, const char *name) {
    void *found = dlsym(library, name);
    if (found == NULL) {
        fprintf(stderr, "taint: %s\n", dlerror());
        exit(EXIT_USAGE);
    }
    return found;
}

/* Any bytes will do, as long as they are always the same: xorshift32. */
static uint32_t fill_state;

static void fill(uint8_t *bytes, size_t count) {
    while (count-- > 0) {
        fill_state ^= fill_state << 13;
        fill_state ^= fill_state >> 17;
        fill_state ^= fill_state << 5;
        *bytes++ = (uint8_t)(fill_state >> 24);
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

/* Everything known and the same as before, nothing marked. */
static void start(void) {
    VALGRIND_MAKE_MEM_DEFINED(test.context, test.context_bytes);
    VALGRIND_MAKE_MEM_DEFINED(message, sizeof message);
    VALGRIND_MAKE_MEM_DEFINED(tag, sizeof tag);
    VALGRIND_MAKE_MEM_DEFINED(key, sizeof key);
    fill_state = 0x2545F491u;
    memset(test.context, 0, test.context_bytes);
    fill(key, test.key_bytes);
    fill(nonce, test.io.nonce_bytes);
    fill(ad, test.io.ad_bytes);
    fill(message, test.io.bytes);
}

static __attribute__((noinline)) void taint_encrypt(void) {
    start();
    VALGRIND_MAKE_MEM_UNDEFINED(key, test.key_bytes);
    VALGRIND_MAKE_MEM_UNDEFINED(message, test.io.bytes);
    expect(test.setup(test.context, key, (uint8_t)test.key_bytes), CIPHER_OK, "setup");
    expect(test.encrypt(test.context, &test.io), CIPHER_OK, "encrypt");
}

/* What a receiver gets, made with nothing marked; then the key becomes a secret. */
static void receive(void) {
    start();
    expect(test.setup(test.context, key, (uint8_t)test.key_bytes), CIPHER_OK, "setup");
    expect(test.encrypt(test.context, &test.io), CIPHER_OK, "encrypt");
    memset(test.context, 0, test.context_bytes);
    VALGRIND_MAKE_MEM_UNDEFINED(key, test.key_bytes);
}

static __attribute__((noinline)) void taint_decrypt(void) {
    receive();
    expect(test.setup(test.context, key, (uint8_t)test.key_bytes), CIPHER_OK, "setup");
    expect(test.decrypt(test.context, &test.io), CIPHER_OK, "decrypt");
}

static __attribute__((noinline)) void taint_refuse(void) {
    receive();
    tag[0] ^= 0xff;
    expect(test.setup(test.context, key, (uint8_t)test.key_bytes), CIPHER_OK, "setup");
    expect(test.decrypt(test.context, &test.io), CIPHER_BAD_TAG, "decrypt");
}

int main(int argc, char **argv) {
    if (argc != 7) {
        fputs("usage: taint LIBRARY KEY NONCE AD MESSAGE TAG (bytes)\n", stderr);
        return EXIT_USAGE;
    }
    void *library = dlopen(argv[1], RTLD_NOW);
    if (library == NULL) {
        fprintf(stderr, "taint: %s\n", dlerror());
        return EXIT_USAGE;
    }
    test.setup = (setup_function)symbol(library, "cipher_setup");
    test.encrypt = (run_function)symbol(library, "cipher_encrypt");
    test.decrypt = (run_function)symbol(library, "cipher_decrypt");
    test.context_bytes = *(const size_t *)symbol(library, "cipher_context_bytes");
    test.context = aligned_alloc(ALIGNMENT, (test.context_bytes / ALIGNMENT + 1) * ALIGNMENT);
    if (test.context == NULL) {
        return EXIT_FAILED;
    }
    test.key_bytes = size_argument(argv[2], sizeof key - 1);
    test.io = (struct cipher_io){.nonce = nonce,
                                 .ad = ad,
                                 .input = message,
                                 .output = message,
                                 .tag = tag,
                                 .nonce_bytes = (uint8_t)size_argument(argv[3], sizeof nonce - 1),
                                 .ad_bytes = size_argument(argv[4], sizeof ad),
                                 .bytes = size_argument(argv[5], sizeof message)};
    taint_encrypt();
    taint_decrypt();
    if (size_argument(argv[6], sizeof tag) > 0) {
        taint_refuse();
    }
    return 0;
}
