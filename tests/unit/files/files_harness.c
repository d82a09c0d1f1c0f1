/* files_harness.c: the file firmware on this computer. Standard input and output are its UART, its storage is
 * in memory, its heap is 64 bytes, and the RP2040's timer is stopped. Marks are printed on standard error. With
 * a second argument 1, a job reports instead of its stack how often it called the library, plus a million for
 * each piece of memory not freed. With 2, the first job's first call fails, the second one's second, and so on. */
#define _GNU_SOURCE
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "hal.h"
#include "mbedtls/chachapoly.h"
#include "mbedtls/cipher.h"
#include "mbedtls/gcm.h"
#include "mbedtls/hkdf.h"
#include "mbedtls/md.h"
#include "storage.h"

enum { BLOCK = 4096, BLOCKS = 80, TIMER_PAGE = 0x40054000 };

uint8_t heap_room[64];
static uint8_t flash[BLOCKS * BLOCK];
static uint32_t operations, fails_at; /* a program or erase that fails; 0: none */

int firmware_main(void);
void *_sbrk(ptrdiff_t more);

void hal_init(void) {
}

uint8_t hal_read(void) {
    int byte;
    fflush(stdout);
    byte = getchar();
    if (byte == EOF) {
        exit(0);
    }
    return (uint8_t)byte;
}

void hal_write(uint8_t byte) {
    putchar(byte);
}

void hal_mark(uint8_t begins) {
    fprintf(stderr, "%d\n", begins);
}

enum how { PLAIN, COUNTS, FAILS };

static enum how how;
static uint32_t jobs, calls, pieces;

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size) {
    pieces++;
    return __real_calloc(count, size);
}

void __real_free(void *piece);
void __wrap_free(void *piece);
void __wrap_free(void *piece) {
    pieces -= piece != NULL;
    __real_free(piece);
}

#define WRAPPED(name, parameters, arguments)                                                                 \
    int __real_##name parameters;                                                                            \
    int __wrap_##name parameters;                                                                            \
    int __wrap_##name parameters {                                                                           \
        return ++calls == jobs && how == FAILS ? -1 : __real_##name arguments;                               \
    }

typedef const unsigned char *bytes;

WRAPPED(mbedtls_md_setup, (mbedtls_md_context_t * md, const mbedtls_md_info_t *info, int hmac),
        (md, info, hmac))
WRAPPED(mbedtls_md_starts, (mbedtls_md_context_t * md), (md))
WRAPPED(mbedtls_md_update, (mbedtls_md_context_t * md, bytes in, size_t count), (md, in, count))
WRAPPED(mbedtls_md_finish, (mbedtls_md_context_t * md, unsigned char *out), (md, out))
WRAPPED(mbedtls_md_hmac_starts, (mbedtls_md_context_t * md, bytes key, size_t count), (md, key, count))
WRAPPED(mbedtls_md_hmac_update, (mbedtls_md_context_t * md, bytes in, size_t count), (md, in, count))
WRAPPED(mbedtls_md_hmac_finish, (mbedtls_md_context_t * md, unsigned char *out), (md, out))
WRAPPED(mbedtls_md_hmac,
        (const mbedtls_md_info_t *info, bytes key, size_t key_bytes, bytes in, size_t count,
         unsigned char *out),
        (info, key, key_bytes, in, count, out))
WRAPPED(mbedtls_hkdf,
        (const mbedtls_md_info_t *md, bytes salt, size_t a, bytes key, size_t b, bytes info, size_t c,
         unsigned char *out, size_t d),
        (md, salt, a, key, b, info, c, out, d))
WRAPPED(mbedtls_cipher_setup, (mbedtls_cipher_context_t * c, const mbedtls_cipher_info_t *info), (c, info))
WRAPPED(mbedtls_cipher_setkey,
        (mbedtls_cipher_context_t * c, bytes key, int bits, const mbedtls_operation_t operation),
        (c, key, bits, operation))
WRAPPED(mbedtls_cipher_set_iv, (mbedtls_cipher_context_t * c, bytes iv, size_t count), (c, iv, count))
WRAPPED(mbedtls_cipher_reset, (mbedtls_cipher_context_t * c), (c))
WRAPPED(mbedtls_cipher_update,
        (mbedtls_cipher_context_t * c, bytes in, size_t count, unsigned char *out, size_t *made),
        (c, in, count, out, made))
WRAPPED(mbedtls_cipher_finish, (mbedtls_cipher_context_t * c, unsigned char *out, size_t *made),
        (c, out, made))
WRAPPED(mbedtls_gcm_setkey, (mbedtls_gcm_context * c, mbedtls_cipher_id_t cipher, bytes key, unsigned bits),
        (c, cipher, key, bits))
WRAPPED(mbedtls_gcm_crypt_and_tag,
        (mbedtls_gcm_context * c, int mode, size_t count, bytes iv, size_t iv_bytes, bytes ad,
         size_t ad_bytes, bytes in, unsigned char *out, size_t tag_bytes, unsigned char *tag),
        (c, mode, count, iv, iv_bytes, ad, ad_bytes, in, out, tag_bytes, tag))
WRAPPED(mbedtls_gcm_auth_decrypt,
        (mbedtls_gcm_context * c, size_t count, bytes iv, size_t iv_bytes, bytes ad, size_t ad_bytes,
         bytes tag, size_t tag_bytes, bytes in, unsigned char *out),
        (c, count, iv, iv_bytes, ad, ad_bytes, tag, tag_bytes, in, out))
WRAPPED(mbedtls_chachapoly_setkey, (mbedtls_chachapoly_context * c, bytes key), (c, key))
WRAPPED(mbedtls_chachapoly_encrypt_and_tag,
        (mbedtls_chachapoly_context * c, size_t count, bytes nonce, bytes ad, size_t ad_bytes, bytes in,
         unsigned char *out, unsigned char *tag),
        (c, count, nonce, ad, ad_bytes, in, out, tag))
WRAPPED(mbedtls_chachapoly_auth_decrypt,
        (mbedtls_chachapoly_context * c, size_t count, bytes nonce, bytes ad, size_t ad_bytes, bytes tag,
         bytes in, unsigned char *out),
        (c, count, nonce, ad, ad_bytes, tag, in, out))

void hal_stack_paint(void) {
    calls = 0;
    jobs++;
}

uint32_t hal_stack_depth(void) {
    return how == PLAIN ? 0x01020304 : calls + 1000000 * pieces;
}

uint32_t hal_clock_hz(void) {
    return 0x7E7D0102;
}

static int operate(void) {
    return ++operations == fails_at ? -5 : 0;
}

static int start(void) {
    return 0;
}

static int read_at(uint32_t at, uint8_t *data, uint32_t count) {
    memcpy(data, flash + at, count);
    return at % 64 || count % 64 || at + count > sizeof flash ? -5 : 0;
}

static int program_at(uint32_t at, const uint8_t *data, uint32_t count) {
    if (at % 256 || count % 256 || at + count > sizeof flash) {
        return -5;
    }
    for (uint32_t i = 0; i < count; i++) {
        flash[at + i] &= data[i];
    }
    return operate();
}

static int erase_at(uint32_t at) {
    if (at % BLOCK || at >= sizeof flash) {
        return -5;
    }
    memset(flash + at, 0xFF, BLOCK);
    return operate();
}

const struct storage storage_nor = {64, 256, BLOCK, BLOCKS, start, read_at, program_at, erase_at};

int main(int argc, char **argv) {
    fails_at = argc > 1 ? (uint32_t)atoi(argv[1]) : 0;
    how = argc > 2 ? (enum how)atoi(argv[2]) : PLAIN;
    memset(flash, 0xFF, sizeof flash);
    if (mmap((void *)TIMER_PAGE, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
             0) == MAP_FAILED) {
        return 8;
    }
    if (_sbrk(40) != (void *)heap_room || _sbrk(24) != (void *)(heap_room + 40) || _sbrk(1) != (void *)-1 ||
        _sbrk(0) != (void *)(heap_room + 64)) {
        fputs("the heap is wrong\n", stderr);
        return 9;
    }
    return firmware_main();
}
