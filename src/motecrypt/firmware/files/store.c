/* store.c: littlefs on a storage, with buffered files. Settings are those of Mbed OS's file system on this
 * chip: read 64, program 256, block 4096, look-ahead 512 blocks at most; wear levelling as littlefs advises.
 */
#include "store.h"

#include <string.h>

enum { LOOKAHEAD_BYTES = 64, BLOCK_CYCLES = 500 };

lfs_t store_lfs;
static struct lfs_config config;
static const struct storage *place;
static uint8_t read_cache[STORAGE_PROGRAM_MAX], program_cache[STORAGE_PROGRAM_MAX],
    lookahead[LOOKAHEAD_BYTES];

static int on_read(const struct lfs_config *c, lfs_block_t block, lfs_off_t off, void *data,
                   lfs_size_t count) {
    return place->read(block * c->block_size + off, data, count);
}

static int on_program(const struct lfs_config *c, lfs_block_t block, lfs_off_t off, const void *data,
                      lfs_size_t count) {
    return place->program(block * c->block_size + off, data, count);
}

static int on_erase(const struct lfs_config *c, lfs_block_t block) {
    return place->erase(block * c->block_size);
}

static int on_sync(const struct lfs_config *c) {
    (void)c;
    return 0;
}

int store_mount(const struct storage *storage, int format) {
    int error;
    place = storage;
    memset(&config, 0, sizeof config);
    config.read = on_read;
    config.prog = on_program;
    config.erase = on_erase;
    config.sync = on_sync;
    config.read_size = storage->read_bytes;
    config.prog_size = storage->program_bytes;
    config.block_size = storage->block_bytes;
    config.block_count = storage->block_count;
    config.block_cycles = BLOCK_CYCLES;
    config.cache_size = storage->program_bytes;
    config.lookahead_size = LOOKAHEAD_BYTES;
    config.read_buffer = read_cache;
    config.prog_buffer = program_cache;
    config.lookahead_buffer = lookahead;
    error = storage->start();
    if (error == 0 && format) {
        error = lfs_format(&store_lfs, &config);
    }
    return error != 0 ? error : lfs_mount(&store_lfs, &config);
}

int store_open(struct store_file *file, const char *name, int writes) {
    struct lfs_info known;
    int flags = writes ? LFS_O_WRONLY | LFS_O_CREAT | LFS_O_TRUNC : LFS_O_RDONLY;
    memset(&file->config, 0, sizeof file->config);
    file->config.buffer = file->cache;
    file->used = 0;
    file->next = 0;
    file->writes = writes;
    file->fresh = writes && lfs_stat(&store_lfs, name, &known) == LFS_ERR_NOENT ? name : 0;
    return lfs_file_opencfg(&store_lfs, &file->file, name, flags, &file->config);
}

int32_t store_size(struct store_file *file) {
    return lfs_file_size(&store_lfs, &file->file);
}

int32_t store_read(struct store_file *file, uint8_t *data, uint32_t count) {
    uint32_t done = 0;
    while (done < count) {
        uint32_t part = file->used - file->next;
        if (part == 0) {
            lfs_ssize_t got = lfs_file_read(&store_lfs, &file->file, file->buffer, sizeof file->buffer);
            if (got <= 0) {
                return got < 0 ? got : (int32_t)done;
            }
            file->used = (uint32_t)got;
            file->next = 0;
            continue;
        }
        part = part < count - done ? part : count - done;
        memcpy(data + done, file->buffer + file->next, part);
        file->next += part;
        done += part;
    }
    return (int32_t)done;
}

static int flush(struct store_file *file) {
    lfs_ssize_t written = lfs_file_write(&store_lfs, &file->file, file->buffer, file->used);
    file->used = 0;
    return written < 0 ? (int)written : 0;
}

int store_write(struct store_file *file, const uint8_t *data, uint32_t count) {
    while (count) {
        uint32_t part = (uint32_t)sizeof file->buffer - file->used;
        part = part < count ? part : count;
        memcpy(file->buffer + file->used, data, part);
        file->used += part;
        data += part;
        count -= part;
        if (file->used == sizeof file->buffer) {
            int error = flush(file);
            if (error != 0) {
                return error;
            }
        }
    }
    return 0;
}

int store_close(struct store_file *file) {
    int error = file->writes ? flush(file) : 0;
    if (error != 0) {
        store_abandon(file);
        return error;
    }
    error = lfs_file_close(&store_lfs, &file->file);
    if (error != 0 && file->fresh) {
        lfs_remove(&store_lfs, file->fresh);
    }
    return error;
}

/* littlefs writes a file's new size and blocks when it is closed; one marked as failed is let go. */
void store_abandon(struct store_file *file) {
    file->file.flags |= LFS_F_ERRED;
    lfs_file_close(&store_lfs, &file->file);
    if (file->fresh) {
        lfs_remove(&store_lfs, file->fresh);
    }
}
