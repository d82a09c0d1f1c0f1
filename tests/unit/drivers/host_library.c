/* host_library.c: what drivers/host.c loads: a cipher whose time the test knows, a firmware that runs it, and an
 * adapter. The n-th operation takes BASE + (n mod PERIOD) x SPREAD ns, and every EVERY-th SPIKE more; encryption adds
 * the key's first byte. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cipher.h"

void advance(uint64_t ns);

struct cipher_context {
    uint8_t key, rounds, used, fresh;
    uint8_t rest[60];
};

extern const size_t cipher_context_bytes;
const size_t cipher_context_bytes = sizeof(struct cipher_context);
uint8_t (*hal_host_run)(uint8_t (*operation)(void), void (*restore)(void));

static unsigned operations, restores;
static uint8_t add;
static int rounds;

static uint64_t setting(const char *name, uint64_t otherwise) {
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 0) : otherwise;
}

static void work(void) {
    uint64_t spike = (operations + 1) % setting("EVERY", UINT64_MAX) == 0 ? setting("SPIKE", 0) : 0;
    advance(setting("BASE", 1000) + operations++ % setting("PERIOD", 3) * setting("SPREAD", 0) + spike);
}

int adapter_select(const char *cipher, int wanted);
int adapter_select(const char *cipher, int wanted) {
    rounds = wanted;
    add = 100;
    return strcmp(cipher, "known") == 0;
}

uint8_t cipher_setup(struct cipher_context *context, const uint8_t *key, uint8_t key_bytes) {
    for (size_t i = 0; i < sizeof context->rest; i++) { /* a new context is all zeros */
        if (context->rest[i]) {
            return 9;
        }
    }
    if ((uintptr_t)context % 64 != 0 || key_bytes == setting("BADKEY", 99)) {
        return CIPHER_BAD_KEY;
    }
    work();
    context->key = (uint8_t)(key[0] + key[key_bytes - 1] + add + rounds);
    return CIPHER_OK;
}

static uint8_t crypt(struct cipher_context *context, const struct cipher_io *io, uint8_t sign) {
    if (io->nonce_bytes == setting("BADNONCE", 99) || io->ad_bytes != 0 || (uintptr_t)io->output % 64 != 0) {
        return CIPHER_BAD_NONCE;
    }
    work();
    for (size_t i = 0; i < io->bytes; i++) {
        io->output[i] =
            (uint8_t)(io->input[i] + sign * (context->key + (io->nonce_bytes ? io->nonce[0] : 0)));
    }
    return CIPHER_OK;
}

uint8_t cipher_encrypt(struct cipher_context *context, const struct cipher_io *io) {
    return crypt(context, io, 1);
}

uint8_t cipher_decrypt(struct cipher_context *context, const struct cipher_io *io) {
    return crypt(context, io, 255);
}

static uint8_t operation(void) {
    volatile uint8_t room[setting("DEEP", 5000)];
    memset((void *)room, 1, sizeof room);
    work();
    return (uint8_t)(room[77] + 4);
}

static uint8_t bare(void) {
    return 4;
}

static void restore(void) {
    restores++;
    advance(7);
}

int main(void) {
    uint8_t status = hal_host_run(getenv("BARE") ? bare : operation, restore);
    if (getenv("WAITS")) {
        return getchar() == EOF ? 6 : 7;
    }
    fprintf(stderr, "%u operations, %u restores, status %u\n", operations, restores, status);
    return 6;
}
