/* taint_public_key.c: run one public-key operation under valgrind's memcheck, its secrets marked as
 * undefined.
 *
 *   valgrind --tool=memcheck ... taint_public_key LIBRARY INPUTS MESSAGE ROOM AT BYTES [AT BYTES]...
 *
 * LIBRARY is an operation built for the host (bridge.c). INPUTS and MESSAGE are files: what goes in, and what
 * is signed (perhaps empty). ROOM is how many bytes come out. Each pair AT BYTES is a part of the inputs that
 * is secret. Memcheck then reports where a branch or an address depends on one. Whether the operation accepts
 * its inputs is public.
 *
 * It reports nothing itself: valgrind does. It ends with 0 when the operation did what was asked.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <valgrind/memcheck.h>

#include "../../firmware/include/cipher.h"

enum { BYTES_MAX = 32768, PARTS_FROM = 5, EXIT_USAGE = 2, EXIT_FAILED = 3 };

typedef uint8_t (*run_function)(struct cipher_context *, const struct cipher_io *);

static uint8_t buffer[BYTES_MAX], message[BYTES_MAX];

static size_t take(const char *path, uint8_t *into) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        fprintf(stderr, "taint_public_key: %s cannot be read\n", path);
        exit(EXIT_USAGE);
    }
    size_t count = fread(into, 1, BYTES_MAX, file);
    fclose(file);
    return count;
}

static size_t number(const char *text, size_t limit) {
    unsigned long value = strtoul(text, NULL, 10);
    if (value > limit) {
        fprintf(stderr, "taint_public_key: %s bytes are too many\n", text);
        exit(EXIT_USAGE);
    }
    return (size_t)value;
}

static __attribute__((noinline)) uint8_t taint_encrypt(run_function run, const struct cipher_io *io) {
    uint8_t status = run(NULL, io);
    VALGRIND_MAKE_MEM_DEFINED(&status, sizeof status);
    return status;
}

int main(int argc, char **argv) {
    if (argc < PARTS_FROM + 2 || (argc - PARTS_FROM) % 2 != 0) {
        fputs("usage: taint_public_key LIBRARY INPUTS MESSAGE ROOM AT BYTES [AT BYTES]...\n", stderr);
        return EXIT_USAGE;
    }
    void *library = dlopen(argv[1], RTLD_NOW);
    run_function run = library == NULL ? NULL : (run_function)dlsym(library, "cipher_encrypt");
    if (run == NULL) {
        fprintf(stderr, "taint_public_key: %s\n", dlerror());
        return EXIT_USAGE;
    }
    size_t given = take(argv[2], buffer);
    size_t signed_bytes = take(argv[3], message);
    size_t room = number(argv[4], BYTES_MAX - given);
    for (int part = PARTS_FROM; part < argc; part += 2) {
        size_t at = number(argv[part], given);
        VALGRIND_MAKE_MEM_UNDEFINED(buffer + at, number(argv[part + 1], given - at));
    }
    struct cipher_io io = {
        .ad = message, .input = buffer, .output = buffer, .ad_bytes = signed_bytes, .bytes = given + room};
    uint8_t status = taint_encrypt(run, &io);
    if (status != CIPHER_OK) {
        fprintf(stderr, "taint_public_key: the operation answered %u\n", status);
        return EXIT_FAILED;
    }
    return 0;
}
