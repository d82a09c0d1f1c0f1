/* store.h: files on a storage, over littlefs. `store_error` values are littlefs's (negative) or 0. */
#ifndef MOTECRYPT_STORE_H
#define MOTECRYPT_STORE_H

#include "lfs.h"
#include "storage.h"

enum { STORE_BUFFER_BYTES = 1024 }; /* what newlib's stdio gives a file of Mbed OS (BUFSIZ) */

/* A file with a buffer as stdio's: opened for reading or for writing, read or written from front to end. */
struct store_file {
    lfs_file_t file;
    struct lfs_file_config config;
    uint8_t cache[STORAGE_PROGRAM_MAX];
    uint8_t buffer[STORE_BUFFER_BYTES];
    uint32_t used, next;
    int writes;
    const char *fresh; /* its name, if opening it made it */
};

/* Takes the file system of a storage into use; `format` makes an empty one first. */
int store_mount(const struct storage *storage, int format);

int store_open(struct store_file *file, const char *name, int writes);
int32_t store_size(struct store_file *file);

/* Returns how many bytes came: fewer than `count` only at the end; or an error. */
int32_t store_read(struct store_file *file, uint8_t *data, uint32_t count);
int store_write(struct store_file *file, const uint8_t *data, uint32_t count);

/* What was written is in the file only after this returned 0. */
int store_close(struct store_file *file);

/* Leaves everything as it was before the file was opened for writing. */
void store_abandon(struct store_file *file);

extern lfs_t store_lfs;

#endif
