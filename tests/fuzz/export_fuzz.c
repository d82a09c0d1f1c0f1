/* export_fuzz.c: random calls of one exported cipher, with checkers on.
 *
 *   export_fuzz RUNS SEED
 *
 * Compiled with EXPORT_HEADER, the library's own header, and with each name of cipher.h defined as the library's. A
 * run is one message: lengths that are taken and that are not, in place and not, each block ending where the
 * checkers see a byte beyond. What it must hold: encryption and decryption are inverses; a changed bit of
 * ciphertext, tag, nonce or associated data is refused and leaves no plaintext; a call that is refused writes
 * nothing; the context holds the same key afterwards, so that the first message encrypts as before.
 */
#include EXPORT_HEADER

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 80, KEY_EVERY = 8, REPEATS = 4 };

#if defined(__has_feature)
#if __has_feature(memory_sanitizer)
#include <sanitizer/msan_interface.h>
#define UNKNOWN(at, bytes) __msan_allocated_memory(at, bytes)
#define KNOWN(at, bytes) __msan_check_mem_is_initialized(at, bytes)
#endif
#endif
#ifndef UNKNOWN
#include <sanitizer/asan_interface.h>
#define UNKNOWN(at, bytes) (void)(at)
#define KNOWN(at, bytes) (void)(at)
#define POISONS 1
#else
#define POISONS 0
#endif

static uint64_t state;
static unsigned long long run;

static uint32_t next(void) { /* xorshift64* (S. Vigna, 2016) */
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (uint32_t)((state * 0x2545f4914f6cdd1du) >> 32);
}

static uint32_t below(uint32_t limit) {
    return (uint32_t)(((uint64_t)next() * limit) >> 32);
}

static void fill(uint8_t *to, size_t bytes) {
    while (bytes-- > 0) {
        *to++ = (uint8_t)next();
    }
}

static void wrong(const char *what) {
    fprintf(stderr, "ERROR: run %llu: %s\n", run, what);
    abort();
}

/* A place for bytes at any address, with the next byte out of bounds. */
struct place {
    uint8_t block[MOST + 24];
};

static uint8_t *cut(struct place *place, size_t bytes) {
    uint8_t *at = place->block + below(8);

#if POISONS
    ASAN_UNPOISON_MEMORY_REGION(place->block, sizeof place->block);
#endif
    memset(at, 0xa5, bytes);
#if POISONS
    ASAN_POISON_MEMORY_REGION(at + bytes, (size_t)(place->block + sizeof place->block - at) - bytes);
#endif
    return at;
}

static struct place places[5];
#if defined EXPORT_KEYS_TAKEN || !defined EXPORT_NONCE_VARIES
static uint8_t long_block[256]; /* a key or nonce of a length that is not taken */
#endif
static struct cipher_context *context;
static const uint8_t key_lengths[] = {EXPORT_KEY_BYTES};
#ifdef EXPORT_KEYS_TAKEN
static const uint8_t taken_lengths[] = {EXPORT_KEYS_TAKEN}; /* AES with room for 256 bits takes 128, too */
#endif

static const size_t least = EXPORT_MIN;

static int takes_length(size_t bytes) {
    return bytes >= least && bytes % EXPORT_MULTIPLE == 0;
}

#ifdef EXPORT_KEYS_TAKEN
static int takes_key(size_t bytes) {
    for (size_t i = 0; i < sizeof taken_lengths; i++) {
        if (taken_lengths[i] == bytes) {
            return 1;
        }
    }
    return 0;
}
#endif

static void new_key(void) {
    size_t bytes = key_lengths[below(sizeof key_lengths)];
    uint8_t *key;

#ifdef EXPORT_KEYS_TAKEN
    size_t other = below(256);

    if (!takes_key(other)) {
        fill(long_block, other);
        if (cipher_setup(context, long_block, (uint8_t)other) != CIPHER_BAD_KEY) {
            wrong("a key of a length that it does not take");
        }
    }
#endif
    key = cut(&places[0], bytes);
    fill(key, bytes);
    UNKNOWN(context, sizeof *context);
    if (cipher_setup(context, key, (uint8_t)bytes) != CIPHER_OK) {
        wrong("a key was refused");
    }
    memset(key, 0, bytes); /* the context holds it */
}

static void same(const uint8_t *a, const uint8_t *b, size_t bytes, const char *what) {
    if (memcmp(a, b, bytes) != 0) {
        wrong(what);
    }
}

/* Lengths that are not taken: an answer other than 0, and nothing written. */
static void refused(struct cipher_io io, int decrypting) {
    uint8_t before[MOST + 1], tag[16] = {0};
    uint8_t status;

    memcpy(before, io.output, io.bytes);
    memcpy(tag, io.tag, CIPHER_TAG_BYTES);
    status = decrypting ? cipher_decrypt(context, &io) : cipher_encrypt(context, &io);
    if (status != CIPHER_BAD_LENGTH && status != CIPHER_BAD_NONCE) {
        wrong("lengths that it does not take");
    }
    same(before, io.output, io.bytes, "a refused call wrote output");
    same(tag, io.tag, CIPHER_TAG_BYTES, "a refused call wrote a tag");
}

static void one(void) {
    uint8_t plain[MOST + 1], sealed[MOST + 1], tag[16] = {0}, zeros[MOST + 1] = {0};
    size_t bytes = below(4) == 0 ? below(MOST + 1) : below(34);
    size_t ad_bytes = EXPORT_AD ? below(36) * (next() & 1) : 0;
    int in_place = (int)(next() & 1);
    uint8_t *input, *output, *nonce = cut(&places[2], EXPORT_NONCE_BYTES), *ad = cut(&places[3], ad_bytes);
    uint8_t *tag_at = cut(&places[4], CIPHER_TAG_BYTES);
    struct cipher_io io = {.nonce = EXPORT_NONCE_BYTES ? nonce : NULL,
                           .ad = ad_bytes ? ad : NULL,
                           .tag = tag_at,
                           .ad_bytes = ad_bytes,
                           .nonce_bytes = EXPORT_NONCE_BYTES};

    if (!takes_length(bytes) && (next() & 7) != 0) {
        bytes = bytes < least ? least : bytes / EXPORT_MULTIPLE * EXPORT_MULTIPLE;
    }
    fill(nonce, EXPORT_NONCE_BYTES);
    fill(ad, ad_bytes);
    fill(plain, bytes);
    input = cut(&places[0], bytes);
    output = in_place ? input : cut(&places[1], bytes);
    memcpy(input, plain, bytes);
    io.input = input;
    io.output = output;
    io.bytes = bytes;
    if (!takes_length(bytes)) {
        refused(io, (int)(next() & 1));
        return;
    }
#ifndef EXPORT_NONCE_VARIES
    if ((next() & 31) == 0) {
        struct cipher_io other = io;

        other.nonce_bytes = (uint8_t)below(256);
        if (other.nonce_bytes != EXPORT_NONCE_BYTES) {
            fill(long_block, other.nonce_bytes);
            other.nonce = long_block;
            refused(other, (int)(next() & 1));
        }
    }
#endif
#if !EXPORT_AD && !defined EXPORT_AD_IGNORED
    if ((next() & 31) == 0) {
        struct cipher_io other = io;

        other.ad = plain;
        other.ad_bytes = 1;
        refused(other, (int)(next() & 1));
    }
#endif
    if (!in_place) {
        UNKNOWN(output, bytes);
    }
    UNKNOWN(tag_at, CIPHER_TAG_BYTES);
    if (cipher_encrypt(context, &io) != CIPHER_OK) {
        wrong("not encrypted");
    }
    KNOWN(output, bytes);
    KNOWN(tag_at, CIPHER_TAG_BYTES);
    memcpy(sealed, output, bytes);
    memcpy(tag, tag_at, CIPHER_TAG_BYTES);
    if (!in_place) {
        same(input, plain, bytes, "the input was changed");
    }

    /* A changed bit. */
    if (CIPHER_TAG_BYTES > 0) {
        uint32_t bits = 8 * (uint32_t)(bytes + CIPHER_TAG_BYTES + ad_bytes + EXPORT_NONCE_BYTES);
        uint32_t bit = below(bits);
        size_t byte = bit / 8, behind = bytes + CIPHER_TAG_BYTES;
        uint8_t *at;

        memcpy(input, sealed, bytes);
        if (byte < bytes) {
            at = input + byte;
        } else if (byte < behind) {
            at = tag_at + (byte - bytes);
        } else if (byte < behind + ad_bytes) {
            at = ad + (byte - behind);
        } else {
            at = nonce + (byte - behind - ad_bytes);
        }
        *at ^= (uint8_t)(1 << (bit % 8));
        if (cipher_decrypt(context, &io) != CIPHER_BAD_TAG) { /* by chance once in 2^32 with 4 bytes */
            wrong("a changed bit was accepted");
        }
        same(output, zeros, bytes, "plaintext of a refused message");
        if (at < input || at >= input + bytes) {
            *at ^= (uint8_t)(1 << (bit % 8));
        }
        same(tag_at, tag, CIPHER_TAG_BYTES, "decryption wrote the tag");
    }

    /* Back. */
    memcpy(input, sealed, bytes);
    if (cipher_decrypt(context, &io) != CIPHER_OK) {
        wrong("not decrypted");
    }
    KNOWN(output, bytes);
    same(output, plain, bytes, "another plaintext");

    /* The same message again: the context holds the same key. */
    if ((next() & (REPEATS - 1)) == 0) {
        memcpy(input, plain, bytes);
        if (cipher_encrypt(context, &io) != CIPHER_OK) {
            wrong("not encrypted again");
        }
        same(output, sealed, bytes, "another ciphertext for the same message");
        same(tag_at, tag, CIPHER_TAG_BYTES, "another tag for the same message");
    }
}

int main(int argc, char **argv) {
    unsigned long long runs = argc == 3 ? strtoull(argv[1], NULL, 10) : 0;
    unsigned long long seed = argc == 3 ? strtoull(argv[2], NULL, 10) : 0;

    context = malloc(sizeof *context);
    if (runs == 0 || context == NULL) {
        fputs("usage: export_fuzz RUNS SEED\n", stderr);
        return 2;
    }
    state = 0x9e3779b97f4a7c15u ^ (seed * 0xbf58476d1ce4e5b9u);
    if (state == 0) {
        state = 1;
    }
    for (run = 0; run < runs; run++) {
        if (run % KEY_EVERY == 0) {
            new_key();
        }
        one();
    }
    free(context);
    printf("%llu\n", run);
    return 0;
}
