/* published.c: the format of Mbed TLS's crypt_and_hash on a node, as the source of the published figures
 * adapted it: SHA-512, AES-CBC, one block of 16 bytes at a time through the library's cipher and md layers.
 * Where that program writes plaintext before it has checked the HMAC, this does too (the time is what is
 * measured), but the file is only closed, and so only there, when the HMAC was right.
 */
#include <string.h>

#include "job.h"
#include "mbedtls/cipher.h"
#include "mbedtls/md.h"
#include "store.h"

enum { BLOCK = 16, MAC_BYTES = 64 };

static struct store_file source, target;
static mbedtls_cipher_context_t cipher;
static mbedtls_md_context_t md;
static uint8_t iv[BLOCK], digest[MAC_BYTES], in[BLOCK], out[BLOCK * 2], expected[MAC_BYTES];

static int make_iv(const struct job *job, uint32_t size) {
    uint8_t bytes[8] = {(uint8_t)size, (uint8_t)(size >> 8), (uint8_t)(size >> 16), (uint8_t)(size >> 24), 0};
    int error = mbedtls_md_starts(&md);
    error |= mbedtls_md_update(&md, bytes, sizeof bytes);
    error |= mbedtls_md_update(&md, (const uint8_t *)job->source, strlen(job->source));
    error |= mbedtls_md_finish(&md, digest);
    memcpy(iv, digest, BLOCK);
    return error;
}

static int derive(const struct job *job) {
    int error = 0;
    memset(digest, 0, 32);
    memcpy(digest, iv, BLOCK);
    for (uint32_t i = 0; i < job->rounds; i++) {
        error |= mbedtls_md_starts(&md);
        error |= mbedtls_md_update(&md, digest, 32);
        error |= mbedtls_md_update(&md, job->key, job->key_bytes);
        error |= mbedtls_md_finish(&md, digest);
    }
    return error;
}

static int set_up(const struct job *job) {
    int error;
    phase(PHASE_SETUP);
    error = mbedtls_cipher_setkey(&cipher, digest, job->cipher * 8,
                                  job->decrypts ? MBEDTLS_DECRYPT : MBEDTLS_ENCRYPT);
    error |= mbedtls_cipher_set_iv(&cipher, iv, BLOCK);
    error |= mbedtls_cipher_reset(&cipher);
    return error | mbedtls_md_hmac_starts(&md, digest, 32);
}

static int encrypt(const struct job *job) {
    int32_t size = store_size(&source);
    size_t made;
    int error;
    if (size < 0) {
        return (int)size;
    }
    phase(PHASE_KEY);
    if (make_iv(job, (uint32_t)size) != 0) {
        return JOB_CRYPTO;
    }
    phase(PHASE_FILES);
    error = store_write(&target, iv, BLOCK);
    phase(PHASE_KEY);
    if (error != 0 || derive(job) != 0 || set_up(job) != 0) {
        return error != 0 ? error : JOB_CRYPTO;
    }
    for (int32_t at = 0; at < size; at += BLOCK) {
        uint32_t count = size - at < BLOCK ? (uint32_t)(size - at) : BLOCK;
        phase(PHASE_FILES);
        if (store_read(&source, in, count) != (int32_t)count) {
            return LFS_ERR_IO;
        }
        phase(PHASE_CIPHER);
        error = mbedtls_cipher_update(&cipher, in, count, out, &made);
        phase(PHASE_MAC);
        error |= mbedtls_md_hmac_update(&md, out, made);
        phase(PHASE_FILES);
        if (error != 0) {
            return JOB_CRYPTO;
        }
        error = store_write(&target, out, (uint32_t)made);
        if (error != 0) {
            return error;
        }
    }
    phase(PHASE_CIPHER);
    error = mbedtls_cipher_finish(&cipher, out, &made);
    phase(PHASE_MAC);
    error |= mbedtls_md_hmac_update(&md, out, made);
    error |= mbedtls_md_hmac_finish(&md, digest);
    phase(PHASE_FILES);
    if (error != 0) {
        return JOB_CRYPTO;
    }
    error = store_write(&target, out, (uint32_t)made);
    return error != 0 ? error : store_write(&target, digest, MAC_BYTES);
}

static int decrypt(const struct job *job) {
    int32_t size = store_size(&source) - BLOCK - MAC_BYTES;
    uint8_t difference = 0;
    size_t made;
    int error;
    if (size < BLOCK || size % BLOCK != 0) {
        return JOB_TOO_SHORT;
    }
    if (store_read(&source, iv, BLOCK) != BLOCK) {
        return LFS_ERR_IO;
    }
    phase(PHASE_KEY);
    if (derive(job) != 0 || set_up(job) != 0) {
        return JOB_CRYPTO;
    }
    for (int32_t at = 0; at < size; at += BLOCK) {
        phase(PHASE_FILES);
        if (store_read(&source, in, BLOCK) != BLOCK) {
            return LFS_ERR_IO;
        }
        phase(PHASE_MAC);
        error = mbedtls_md_hmac_update(&md, in, BLOCK);
        phase(PHASE_CIPHER);
        error |= mbedtls_cipher_update(&cipher, in, BLOCK, out, &made);
        phase(PHASE_FILES);
        if (error != 0) {
            return JOB_CRYPTO;
        }
        error = store_write(&target, out, (uint32_t)made);
        if (error != 0) {
            return error;
        }
    }
    phase(PHASE_MAC);
    error = mbedtls_md_hmac_finish(&md, digest);
    phase(PHASE_FILES);
    if (error != 0 || store_read(&source, expected, MAC_BYTES) != MAC_BYTES) {
        return error != 0 ? JOB_CRYPTO : LFS_ERR_IO;
    }
    for (int i = 0; i < MAC_BYTES; i++) {
        difference = (uint8_t)(difference | (expected[i] ^ digest[i]));
    }
    if (difference != 0) {
        return JOB_NOT_GENUINE;
    }
    phase(PHASE_CIPHER);
    error = mbedtls_cipher_finish(&cipher, out, &made);
    phase(PHASE_FILES);
    return error != 0 ? JOB_NOT_GENUINE : store_write(&target, out, (uint32_t)made);
}

static int prepare(const struct job *job) {
    const mbedtls_cipher_info_t *info =
        mbedtls_cipher_info_from_values(MBEDTLS_CIPHER_ID_AES, job->cipher * 8, MBEDTLS_MODE_CBC);
    mbedtls_cipher_init(&cipher);
    mbedtls_md_init(&md);
    if (info == NULL || mbedtls_cipher_setup(&cipher, info) != 0 ||
        mbedtls_md_setup(&md, mbedtls_md_info_from_type(MBEDTLS_MD_SHA512), 1) != 0) {
        return JOB_BAD_REQUEST;
    }
    return 0;
}

int job_published(const struct job *job) {
    int error, closed;
    phase(PHASE_FILES);
    error = store_open(&source, job->source, 0);
    if (error != 0) {
        return error;
    }
    error = store_open(&target, job->target, 1);
    if (error == 0) {
        phase(PHASE_OTHER);
        error = prepare(job);
        phase(PHASE_FILES);
        if (error == 0) {
            error = job->decrypts ? decrypt(job) : encrypt(job);
        }
        phase(PHASE_FILES);
        if (error == 0) {
            error = store_close(&target);
        } else {
            store_abandon(&target);
        }
    }
    closed = store_close(&source);
    phase(PHASE_OTHER);
    mbedtls_cipher_free(&cipher);
    mbedtls_md_free(&md);
    return error != 0 ? error : closed;
}
