/* storage.h: where the file system is stored: the Pico's own flash (nor.c) or an SD card (sd.c). Units are
 * bytes. Functions return 0, or a negative error of littlefs (LFS_ERR_IO). They do not depend on the file
 * system.
 */
#ifndef MOTECRYPT_STORAGE_H
#define MOTECRYPT_STORAGE_H

#include <stdint.h>

enum { STORAGE_PROGRAM_MAX = 512 }; /* the larger of the storages' programs: a block of the card */

struct storage {
    uint32_t read_bytes;    /* reads are multiples of this */
    uint32_t program_bytes; /* so are writes */
    uint32_t block_bytes;   /* what one erase command erases */
    uint32_t block_count;
    int (*start)(void);
    int (*read)(uint32_t at, uint8_t *data, uint32_t count);
    int (*program)(uint32_t at, const uint8_t *data, uint32_t count); /* data in RAM */
    int (*erase)(uint32_t at);
};

extern const struct storage storage_nor;
extern const struct storage storage_sd;

#endif
