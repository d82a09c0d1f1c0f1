/* modern.c: the container of motecrypt.link.files.container on a node, with a key (a node has no memory for
 * Argon2id). Chunks are verified before their plaintext is written, and the file is closed, and so there, only
 * when the last chunk was genuine.
 */
#include <string.h>

#include "job.h"
#include "mbedtls/chachapoly.h"
#include "mbedtls/gcm.h"
#include "mbedtls/hkdf.h"
#include "mbedtls/md.h"
#include "store.h"

enum {
    HEADER_BYTES = 84,
    SIGNED_BYTES = 52,
    SALT_AT = 20,
    SALT_BYTES = 32,
    TAG_BYTES = 16,
    CHUNK_MAX = 4096,
    GCM = 1,
    CHACHA = 2
};

static const uint8_t info[16] = {'m', 'o', 't', 'e', 'c', 'r', 'y', 'p',
                                 't', ' ', 'f', 'i', 'l', 'e', ' ', '1'};

static struct store_file source, target;
static mbedtls_gcm_context gcm;
static mbedtls_chachapoly_context chacha;
static uint8_t header[HEADER_BYTES], keys[64], chunk[CHUNK_MAX + TAG_BYTES];
static uint32_t number;

static int derive(const struct job *job) {
    const mbedtls_md_info_t *sha256 = mbedtls_md_info_from_type(MBEDTLS_MD_SHA256);
    int error = mbedtls_hkdf(sha256, header + SALT_AT, SALT_BYTES, job->key, job->key_bytes, info,
                             sizeof info, keys, sizeof keys);
    mbedtls_gcm_init(&gcm);
    mbedtls_chachapoly_init(&chacha);
    return error | (header[9] == GCM ? mbedtls_gcm_setkey(&gcm, MBEDTLS_CIPHER_ID_AES, keys + 32, 256)
                                     : mbedtls_chachapoly_setkey(&chacha, keys + 32));
}

static int sign_header(uint8_t *out) {
    return mbedtls_md_hmac(mbedtls_md_info_from_type(MBEDTLS_MD_SHA256), keys, 32, header, SIGNED_BYTES, out);
}

static void set_nonce(uint8_t *nonce, int last) {
    memset(nonce, 0, 12);
    nonce[7] = (uint8_t)(number >> 24);
    nonce[8] = (uint8_t)(number >> 16);
    nonce[9] = (uint8_t)(number >> 8);
    nonce[10] = (uint8_t)number;
    nonce[11] = (uint8_t)last;
    number++;
}

static int seal(uint32_t count, int last) {
    uint8_t nonce[12];
    set_nonce(nonce, last);
    if (header[9] == GCM) {
        return mbedtls_gcm_crypt_and_tag(&gcm, MBEDTLS_GCM_ENCRYPT, count, nonce, 12, NULL, 0, chunk, chunk,
                                         TAG_BYTES, chunk + count);
    }
    return mbedtls_chachapoly_encrypt_and_tag(&chacha, count, nonce, NULL, 0, chunk, chunk, chunk + count);
}

static int open_chunk(uint32_t count, int last) {
    uint8_t nonce[12];
    set_nonce(nonce, last);
    if (header[9] == GCM) {
        return mbedtls_gcm_auth_decrypt(&gcm, count, nonce, 12, NULL, 0, chunk + count, TAG_BYTES, chunk,
                                        chunk);
    }
    return mbedtls_chachapoly_auth_decrypt(&chacha, count, nonce, NULL, 0, chunk + count, chunk, chunk);
}

static int encrypt(const struct job *job) {
    uint32_t chunk_bytes = 1u << job->chunk_log2;
    uint32_t left = (uint32_t)store_size(&source);
    int error;
    memset(header, 0, sizeof header);
    memcpy(header, "motefile\1", 9);
    header[9] = job->cipher;
    header[11] = job->chunk_log2;
    memcpy(header + SALT_AT, job->salt, SALT_BYTES);
    phase(PHASE_KEY);
    if (derive(job) != 0 || sign_header(header + SIGNED_BYTES) != 0) {
        return JOB_CRYPTO;
    }
    phase(PHASE_FILES);
    error = store_write(&target, header, sizeof header);
    for (int last = 0; !last && error == 0;) {
        uint32_t count = left < chunk_bytes ? left : chunk_bytes;
        left -= count;
        last = left == 0;
        if (store_read(&source, chunk, count) != (int32_t)count) {
            return LFS_ERR_IO;
        }
        phase(PHASE_CIPHER);
        error = seal(count, last);
        phase(PHASE_FILES);
        error = error != 0 ? JOB_CRYPTO : store_write(&target, chunk, count + TAG_BYTES);
    }
    return error;
}

static int same(const uint8_t *a, const uint8_t *b, int count) {
    uint8_t difference = 0;
    for (int i = 0; i < count; i++) {
        difference = (uint8_t)(difference | (a[i] ^ b[i]));
    }
    return difference == 0;
}

static int decrypt(const struct job *job) {
    int32_t size = store_size(&source);
    uint32_t left, chunk_bytes;
    uint8_t expected[32];
    int error = 0;
    if (size < HEADER_BYTES + TAG_BYTES || store_read(&source, header, sizeof header) != HEADER_BYTES) {
        return JOB_TOO_SHORT;
    }
    if (memcmp(header, "motefile\1", 9) != 0 || (header[9] != GCM && header[9] != CHACHA) ||
        header[10] != 0 || header[11] < 9 || header[11] > 12) {
        return JOB_BAD_REQUEST;
    }
    phase(PHASE_KEY);
    if (derive(job) != 0 || sign_header(expected) != 0) {
        return JOB_CRYPTO;
    }
    phase(PHASE_FILES);
    if (!same(expected, header + SIGNED_BYTES, 32)) {
        return JOB_NOT_GENUINE;
    }
    chunk_bytes = 1u << header[11];
    left = (uint32_t)size - HEADER_BYTES;
    for (int last = 0; !last && error == 0;) {
        uint32_t count = left < chunk_bytes + TAG_BYTES ? left : chunk_bytes + TAG_BYTES;
        left -= count;
        last = left == 0;
        if (count < TAG_BYTES || (count == TAG_BYTES && number != 0)) {
            return JOB_NOT_GENUINE;
        }
        if (store_read(&source, chunk, count) != (int32_t)count) {
            return LFS_ERR_IO;
        }
        phase(PHASE_CIPHER);
        error = open_chunk(count - TAG_BYTES, last);
        phase(PHASE_FILES);
        error = error != 0 ? JOB_NOT_GENUINE : store_write(&target, chunk, count - TAG_BYTES);
    }
    return error;
}

int job_modern(const struct job *job) {
    int error, closed;
    if (!job->decrypts && ((job->cipher != GCM && job->cipher != CHACHA) || job->chunk_log2 < 9 ||
                           job->chunk_log2 > 12 || job->salt == 0)) {
        return JOB_BAD_REQUEST;
    }
    number = 0;
    phase(PHASE_FILES);
    error = store_open(&source, job->source, 0);
    if (error != 0) {
        return error;
    }
    error = store_open(&target, job->target, 1);
    if (error == 0) {
        error = job->decrypts ? decrypt(job) : encrypt(job);
        phase(PHASE_FILES);
        if (error == 0) {
            error = store_close(&target);
        } else {
            store_abandon(&target);
        }
    }
    closed = store_close(&source);
    phase(PHASE_OTHER);
    mbedtls_gcm_free(&gcm);
    mbedtls_chachapoly_free(&chacha);
    return error != 0 ? error : closed;
}
