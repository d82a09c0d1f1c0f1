/* job.h: what is asked of the file firmware, and how its time is divided. */
#ifndef MOTECRYPT_JOB_H
#define MOTECRYPT_JOB_H

#include <stdint.h>

#include "hal.h"

enum job_format { JOB_PUBLISHED = 0, JOB_MODERN = 1 };

/* Distinct from littlefs's errors, which are -2 to -100. */
enum job_status {
    JOB_OK = 0,
    JOB_NOT_GENUINE = -200,
    JOB_TOO_SHORT = -201,
    JOB_BAD_REQUEST = -202,
    JOB_CRYPTO = -203
};

struct job {
    uint8_t format;     /* enum job_format */
    uint8_t decrypts;   /* 0 or 1 */
    uint8_t cipher;     /* published: key bits / 8 of AES-CBC; modern: 1 AES-256-GCM, 2 ChaCha20-Poly1305 */
    uint16_t rounds;    /* published: hashes of the key derivation, 8192 in the format */
    uint8_t chunk_log2; /* modern: 2^n bytes of plaintext a chunk, 9 to 12 */
    uint8_t key_bytes;
    const uint8_t *key;
    const uint8_t *salt; /* modern, encrypting: 32 random bytes */
    const char *source, *target;
};

/* What the time goes to: the label of a mark (arm.c reports it with the region). */
enum phase {
    PHASE_OTHER = 0,
    PHASE_FILES = 1,
    PHASE_KEY = 2, /* from what the user gave to keys */
    PHASE_CIPHER = 3,
    PHASE_MAC = 4,
    PHASE_SETUP = 5 /* of cipher and HMAC with those keys */
};

/* Ends the part before and begins the next one. */
static inline void phase(uint8_t label) {
    hal_mark(0);
    hal_mark((uint8_t)(label << 1 | 1));
}

int job_published(const struct job *job);
int job_modern(const struct job *job);

#endif
