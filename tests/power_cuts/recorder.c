/* recorder.c: preloaded below a program and the libraries that it uses: records what they do to the files of
 * one folder, with the data, in the order in which it was done; and lets such calls fail.
 *
 * A record: its kind (1 byte), two texts each after its length (2 bytes), a number of the file (8), an offset or
 * a size (8), data after its length (4). Little-endian. Kinds are in disk.py. Memory mappings are not recorded:
 * SQLite maps only files (-shm) that need not outlive the system. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { CREATE = 1, WRITE, SIZE, MOVE, REMOVE, LINK, SYNC, SYNC_FOLDER, LOST, FOLDER };
enum { WRITES = 1, NAMES = 2, SYNCS = 4 }; /* what may fail */
enum { HANDLES = 4096, SECTOR = 512 };

static struct {
    char root[PATH_MAX];
    size_t root_bytes;
    uint8_t *data;
    size_t bytes, room;
    uint64_t records;
    int on;
} trace;

static struct {
    int what, error;
    long after; /* calls that still work */
    long failed;
} fault;

static struct {
    char kind; /* 0: not ours, 'f' file, 'd' folder */
    uint64_t file;
    char *path; /* of a folder */
} handles[HANDLES];

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

#define REAL(name) ((__typeof__(&name))real(#name))

static void *real(const char *name) {
    void *found = dlsym(RTLD_NEXT, name);
    if (found == NULL) {
        fprintf(stderr, "recorder: no %s\n", name);
        abort();
    }
    return found;
}

static void lock(void) {
    pthread_mutex_lock(&mutex);
}

static void unlock(void) {
    pthread_mutex_unlock(&mutex);
}

/* A path within the folder that is recorded, without the folder; NULL for any other. */
static const char *inside(int folder, const char *path, char *place) {
    if (!trace.on || path == NULL) {
        return NULL;
    }
    if (path[0] == '/') {
        snprintf(place, PATH_MAX, "%s", path);
    } else if (folder == AT_FDCWD) {
        char here[PATH_MAX];
        if (getcwd(here, sizeof here) == NULL) {
            return NULL;
        }
        if (snprintf(place, PATH_MAX, "%s/%s", here, path) >= PATH_MAX) {
            return NULL;
        }
    } else {
        return NULL;
    }
    size_t bytes = strlen(place);
    if (bytes > trace.root_bytes && place[bytes - 1] == '/') {
        place[bytes - 1] = 0;
    }
    if (strncmp(place, trace.root, trace.root_bytes) != 0) {
        return NULL;
    }
    const char *rest = place + trace.root_bytes;
    if (*rest == 0) {
        return rest;
    }
    if (*rest != '/') {
        return NULL;
    }
    size_t left = strlen(rest);
    return left > 4 && strcmp(rest + left - 4, "-shm") == 0 ? NULL : rest + 1;
}

static void put(const void *data, size_t bytes) {
    if (trace.bytes + bytes > trace.room) {
        trace.room = 2 * (trace.bytes + bytes) + (1 << 20);
        trace.data = realloc(trace.data, trace.room);
        if (trace.data == NULL) {
            abort();
        }
    }
    memcpy(trace.data + trace.bytes, data, bytes);
    trace.bytes += bytes;
}

static void put_text(const char *text) {
    uint16_t bytes = (uint16_t)strlen(text);
    put(&bytes, sizeof bytes);
    put(text, bytes);
}

static void note(uint8_t kind, const char *one, const char *other, uint64_t file, uint64_t at,
                 const void *data, size_t bytes) {
    uint32_t length = (uint32_t)bytes;
    put(&kind, 1);
    put_text(one);
    put_text(other);
    put(&file, sizeof file);
    put(&at, sizeof at);
    put(&length, sizeof length);
    put(data, bytes);
    trace.records++;
}

static uint64_t file_at(const char *path) {
    struct stat found;
    return lstat(path, &found) == 0 ? (uint64_t)found.st_ino : 0;
}

/* Whether a call is to fail now; errno has why. */
static int fails(int what) {
    if (!(fault.what & what)) {
        return 0;
    }
    if (fault.after > 0) {
        fault.after--;
        return 0;
    }
    fault.failed++;
    errno = fault.error;
    return 1;
}

static int ours(int handle) {
    return trace.on && handle >= 0 && handle < HANDLES && handles[handle].kind;
}

static void forget(int handle) {
    if (handle >= 0 && handle < HANDLES) {
        free(handles[handle].path);
        handles[handle].path = NULL;
        handles[handle].kind = 0;
    }
}

/* --- for the program that records */

__attribute__((visibility("default"))) void recorder_begin(const char *root) {
    lock();
    snprintf(trace.root, sizeof trace.root, "%s", root);
    trace.root_bytes = strlen(trace.root);
    trace.bytes = 0;
    trace.records = 0;
    trace.on = 1;
    fault.what = 0;
    unlock();
}

__attribute__((visibility("default"))) void recorder_end(void) {
    lock();
    trace.on = 0;
    fault.what = 0;
    for (int handle = 0; handle < HANDLES; handle++) {
        forget(handle);
    }
    unlock();
}

__attribute__((visibility("default"))) uint64_t recorder_records(void) {
    return trace.records;
}

__attribute__((visibility("default"))) uint64_t recorder_bytes(void) {
    return trace.bytes;
}

__attribute__((visibility("default"))) const void *recorder_data(void) {
    return trace.data;
}

/* From now on such calls fail with this error; `after` of them still work. */
__attribute__((visibility("default"))) void recorder_fail(int what, int error, long after) {
    lock();
    fault.what = what;
    fault.error = error;
    fault.after = after;
    fault.failed = 0;
    unlock();
}

__attribute__((visibility("default"))) long recorder_failed(void) {
    return fault.failed;
}

/* --- what is recorded */

static int opened(int folder, const char *path, int flags, mode_t mode,
                  int (*go)(int, const char *, int, mode_t)) {
    char place[PATH_MAX];
    if (flags & O_PATH) {
        return go(folder, path, flags, mode);
    }
    lock();
    const char *name = inside(folder, path, place);
    if (name == NULL) {
        unlock();
        return go(folder, path, flags, mode);
    }
    struct stat before;
    int there = lstat(place, &before) == 0, writes = (flags & O_ACCMODE) != O_RDONLY || (flags & O_CREAT);
    int read_only = fault.error == EROFS && writes && (!there || !(flags & O_EXCL));
    if (((!there && (flags & O_CREAT)) || read_only) && fails(NAMES)) {
        unlock();
        return -1;
    }
    int handle = go(folder, path, flags, mode);
    if (handle >= 0 && handle < HANDLES) {
        struct stat found;
        int known = fstat(handle, &found) == 0;
        forget(handle);
        if (known && S_ISDIR(found.st_mode)) {
            handles[handle].kind = 'd';
            handles[handle].path = strdup(name);
        } else if (known && S_ISREG(found.st_mode)) {
            handles[handle].kind = 'f';
            handles[handle].file = (uint64_t)found.st_ino;
            if (!there) {
                note(CREATE, name, "", (uint64_t)found.st_ino, 0, "", 0);
            } else if ((flags & O_TRUNC) && writes) {
                note(SIZE, "", "", (uint64_t)found.st_ino, 0, "", 0);
            }
        }
    }
    unlock();
    return handle;
}

static int go_open(int folder, const char *path, int flags, mode_t mode) {
    return folder == AT_FDCWD ? REAL(open)(path, flags, mode) : REAL(openat)(folder, path, flags, mode);
}

#define MODE(flags)                                                                                          \
    mode_t mode = 0;                                                                                         \
    if ((flags) & (O_CREAT | __O_TMPFILE)) {                                                                 \
        va_list more;                                                                                        \
        va_start(more, flags);                                                                               \
        mode = (mode_t)va_arg(more, int);                                                                    \
        va_end(more);                                                                                        \
    }

int open(const char *path, int flags, ...) {
    MODE(flags)
    return opened(AT_FDCWD, path, flags, mode, go_open);
}

int open64(const char *path, int flags, ...) {
    MODE(flags)
    return opened(AT_FDCWD, path, flags | O_LARGEFILE, mode, go_open);
}

int openat(int folder, const char *path, int flags, ...) {
    MODE(flags)
    return opened(folder, path, flags, mode, go_open);
}

int openat64(int folder, const char *path, int flags, ...) {
    MODE(flags)
    return opened(folder, path, flags | O_LARGEFILE, mode, go_open);
}

int creat(const char *path, mode_t mode) {
    return opened(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode, go_open);
}

int creat64(const char *path, mode_t mode) {
    return creat(path, mode);
}

int close(int handle) {
    lock();
    forget(handle);
    unlock();
    return REAL(close)(handle);
}

/* How much of a write goes through: a disk that becomes full takes whole sectors of it first. */
static ssize_t allowed(size_t bytes) {
    if (!fails(WRITES)) {
        return (ssize_t)bytes;
    }
    size_t part = fault.error == ENOSPC && fault.failed == 1 ? bytes / 2 / SECTOR * SECTOR : 0;
    return part > 0 ? (ssize_t)part : -1;
}

static ssize_t written(int handle, const void *data, size_t bytes, off_t at) {
    ssize_t most = allowed(bytes);
    if (most < 0) {
        return -1;
    }
    ssize_t done = REAL(pwrite)(handle, data, (size_t)most, at);
    if (done > 0) {
        note(WRITE, "", "", handles[handle].file, (uint64_t)at, data, (size_t)done);
    }
    return done;
}

ssize_t pwrite(int handle, const void *data, size_t bytes, off_t at) {
    lock();
    ssize_t done = ours(handle) ? written(handle, data, bytes, at) : REAL(pwrite)(handle, data, bytes, at);
    unlock();
    return done;
}

ssize_t pwrite64(int handle, const void *data, size_t bytes, off64_t at) {
    return pwrite(handle, data, bytes, at);
}

ssize_t write(int handle, const void *data, size_t bytes) {
    if (!ours(handle)) { /* it may wait */
        return REAL(write)(handle, data, bytes);
    }
    lock();
    off_t at = fcntl(handle, F_GETFL) & O_APPEND ? lseek(handle, 0, SEEK_END) : lseek(handle, 0, SEEK_CUR);
    ssize_t done = written(handle, data, bytes, at);
    if (done > 0) {
        lseek(handle, at + done, SEEK_SET);
    }
    unlock();
    return done;
}

ssize_t writev(int handle, const struct iovec *parts, int count) {
    if (!ours(handle)) {
        return REAL(writev)(handle, parts, count);
    }
    ssize_t all = 0;
    for (int part = 0; part < count; part++) {
        ssize_t done = write(handle, parts[part].iov_base, parts[part].iov_len);
        if (done < 0) {
            return all > 0 ? all : -1;
        }
        all += done;
    }
    return all;
}

static int sized(int handle, off_t size) {
    struct stat found;
    int grows = fstat(handle, &found) == 0 && size > found.st_size;
    if ((grows || fault.error == EROFS || fault.error == EIO) && fails(WRITES)) {
        return -1;
    }
    int told = REAL(ftruncate)(handle, size);
    if (told == 0) {
        note(SIZE, "", "", handles[handle].file, (uint64_t)size, "", 0);
    }
    return told;
}

int ftruncate(int handle, off_t size) {
    lock();
    int told = ours(handle) ? sized(handle, size) : REAL(ftruncate)(handle, size);
    unlock();
    return told;
}

int ftruncate64(int handle, off64_t size) {
    return ftruncate(handle, size);
}

int posix_fallocate(int handle, off_t at, off_t bytes) {
    if (!ours(handle)) {
        return REAL(posix_fallocate)(handle, at, bytes);
    }
    struct stat found;
    if (fstat(handle, &found) == 0 && at + bytes <= found.st_size) {
        return 0;
    }
    return ftruncate(handle, at + bytes) == 0 ? 0 : errno;
}

int posix_fallocate64(int handle, off64_t at, off64_t bytes) {
    return posix_fallocate(handle, at, bytes);
}

static int synced(int handle, int (*go)(int)) {
    if (!ours(handle)) { /* it may take its time */
        return go(handle);
    }
    lock();
    int told = fails(SYNCS) ? -1 : 0; /* the disk is this record */
    int folder = handles[handle].kind == 'd';
    if (folder && told == 0) {
        note(SYNC_FOLDER, handles[handle].path, "", 0, 0, "", 0);
    } else if (!folder) {
        note(told == 0 ? SYNC : LOST, "", "", handles[handle].file, 0, "", 0);
    }
    unlock();
    return told;
}

int fsync(int handle) {
    return synced(handle, REAL(fsync));
}

int fdatasync(int handle) {
    return synced(handle, REAL(fdatasync));
}

static int moved(const char *from, const char *to, int (*go)(const char *, const char *, unsigned),
                 unsigned flags) {
    char one[PATH_MAX], other[PATH_MAX];
    lock();
    const char *before = inside(AT_FDCWD, from, one), *after = inside(AT_FDCWD, to, other);
    int told = before != NULL && after != NULL && fails(NAMES) ? -1 : go(from, to, flags);
    if (told == 0 && before != NULL && after != NULL) {
        note(MOVE, before, after, file_at(other), 0, "", 0);
    }
    unlock();
    return told;
}

static int go_rename(const char *from, const char *to, unsigned flags) {
    (void)flags;
    return REAL(rename)(from, to);
}

static int go_rename_with(const char *from, const char *to, unsigned flags) {
    return REAL(renameat2)(AT_FDCWD, from, AT_FDCWD, to, flags);
}

int rename(const char *from, const char *to) {
    return moved(from, to, go_rename, 0);
}

int renameat(int from_folder, const char *from, int to_folder, const char *to) {
    return from_folder == AT_FDCWD && to_folder == AT_FDCWD
               ? moved(from, to, go_rename, 0)
               : REAL(renameat)(from_folder, from, to_folder, to);
}

int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags) {
    return from_folder == AT_FDCWD && to_folder == AT_FDCWD
               ? moved(from, to, go_rename_with, flags)
               : REAL(renameat2)(from_folder, from, to_folder, to, flags);
}

static int removed(int folder, const char *path, int flags) {
    char place[PATH_MAX];
    lock();
    const char *name = inside(folder, path, place);
    int refused = name != NULL && fault.error == EROFS && file_at(place) != 0 && fails(NAMES);
    int told = refused ? -1 : REAL(unlinkat)(folder, path, flags);
    if (told == 0 && name != NULL) {
        note(REMOVE, name, "", 0, 0, "", 0);
    }
    unlock();
    return told;
}

int unlink(const char *path) {
    return removed(AT_FDCWD, path, 0);
}

int unlinkat(int folder, const char *path, int flags) {
    return removed(folder, path, flags);
}

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags) {
    char one[PATH_MAX], other[PATH_MAX];
    lock();
    const char *before = inside(from_folder, from, one), *after = inside(to_folder, to, other);
    int both = before != NULL && after != NULL;
    int told = both && fails(NAMES) ? -1 : REAL(linkat)(from_folder, from, to_folder, to, flags);
    if (told == 0 && both) {
        note(LINK, after, "", file_at(other), 0, "", 0);
    }
    unlock();
    return told;
}

int link(const char *from, const char *to) {
    return linkat(AT_FDCWD, from, AT_FDCWD, to, 0);
}

int mkdir(const char *path, mode_t mode) {
    char place[PATH_MAX];
    lock();
    const char *name = inside(AT_FDCWD, path, place);
    int told = name != NULL && file_at(place) == 0 && fails(NAMES) ? -1 : REAL(mkdir)(path, mode);
    if (told == 0 && name != NULL) {
        note(FOLDER, name, "", file_at(place), 0, "", 0);
    }
    unlock();
    return told;
}

/* A copy of a handle is the same file. */
static int copied(int from, int to) {
    if (to >= 0 && to != from && to < HANDLES) {
        forget(to);
        if (ours(from)) {
            handles[to] = handles[from];
            handles[to].path = handles[from].path == NULL ? NULL : strdup(handles[from].path);
        }
    }
    return to;
}

int dup(int handle) {
    lock();
    int told = copied(handle, REAL(dup)(handle));
    unlock();
    return told;
}

int dup2(int handle, int as) {
    lock();
    int told = copied(handle, REAL(dup2)(handle, as));
    unlock();
    return told;
}

int dup3(int handle, int as, int flags) {
    lock();
    int told = copied(handle, REAL(dup3)(handle, as, flags));
    unlock();
    return told;
}
