/* file.c: see file.h. Each write is on the disk before it counts: what is read was on the disk at the opening, or since. */
#define _POSIX_C_SOURCE 200809L
#define _DEFAULT_SOURCE /* flock */
#include "file.h"
#include "node.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Puts what the system remembers of a file on the disk: where that failed before, fsync alone would do nothing. The
 * errno, or 0. */
static int to_disk(int handle) {
    uint8_t all[LINK_STORAGE_BYTES];

    errno = EIO; /* of a read or write that is too short */
    return pread(handle, all, sizeof all, 0) != sizeof all ||
                   pwrite(handle, all, sizeof all, 0) != sizeof all || fsync(handle) != 0
               ? errno
               : 0;
}

/* The errno of an open file that may not be used as storage, or 0. */
static int trouble_with(int handle) {
    struct stat status;

    if (fstat(handle, &status) != 0) {
        return errno;
    }
    if (!S_ISREG(status.st_mode) || status.st_size != LINK_STORAGE_BYTES) {
        return EINVAL;
    }
    if (status.st_mode & (S_IRWXG | S_IRWXO)) {
        return EPERM;
    }
    return flock(handle, LOCK_EX | LOCK_NB) != 0 ? errno : to_disk(handle);
}

int link_file_open(struct link_file *file, const char *path) {
    int trouble;

    file->lost = 0;
    file->handle = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file->handle < 0) {
        return -1;
    }
    trouble = trouble_with(file->handle);
    if (trouble == 0) {
        return 0;
    }
    (void)close(file->handle);
    errno = trouble;
    return -1;
}

void link_file_close(struct link_file *file) {
    (void)close(file->handle);
}

void link_load(struct link *link, uint8_t at, uint8_t *to, uint8_t bytes) {
    const struct link_file *file = ((struct link_node *)link)->place;

    if (file->lost || pread(file->handle, to, bytes, at) != bytes) {
        memset(to, 0, bytes); /* what the system remembers may not be on the disk: nothing reads as written */
    }
}

void link_store(struct link *link, uint8_t at, const uint8_t *from, uint8_t bytes) {
    struct link_file *file = ((struct link_node *)link)->place;
    uint8_t old[UINT8_MAX];

    if (!file->lost && pread(file->handle, old, bytes, at) == bytes && memcmp(old, from, bytes) == 0) {
        return; /* as an erased byte of a new storage: a disk's answer takes long */
    }
    if (pwrite(file->handle, from, bytes, at) != bytes || fsync(file->handle) != 0) {
        file->lost = 1;
    }
}

uint16_t link_clock(struct link *link) {
    struct timespec now = {0, 0};

    (void)link;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint16_t)(now.tv_sec * 1000 + now.tv_nsec / 1000000);
}
