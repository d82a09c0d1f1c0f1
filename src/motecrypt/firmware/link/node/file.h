/* file.h: a node's storage in a file of LINK_STORAGE_BYTES, on a POSIX system. */
#ifndef MOTECRYPT_LINK_FILE_H
#define MOTECRYPT_LINK_FILE_H

#include <stdint.h>

struct link_file {
    int handle;
    int lost; /* a write did not reach the disk */
};

typedef struct link_file *link_place;

/* Open a storage that `motecrypt provision` wrote. Nobody else may read it, and no other program may have it
 * open. Returns 0, or -1 with errno set: EPERM if others can read it, EINVAL if it is not a storage,
 * EWOULDBLOCK if another program has it, or the disk's error. */
int link_file_open(struct link_file *file, const char *path);

void link_file_close(struct link_file *file);

#endif
