/* power_harness.c: store.c on a storage in memory whose power can be cut at any operation. After the cut nothing
 * reaches it any more; a cut program leaves the front of a page, a cut erase the back of a block.
 */
#include <setjmp.h>
#include <string.h>

#include "store.h"

enum { PAGE = 256, SECTOR = 4096, SECTORS = 32 };

static uint8_t flash[SECTORS * SECTOR];
static long left; /* operations until the cut; negative: never */
static long done;
static uint32_t page_front; /* bytes of a page that a cut leaves */
static jmp_buf cut;

static void operate(void) {
    done++;
    if (left == 0) {
        longjmp(cut, 1);
    }
    if (left > 0) {
        left--;
    }
}

static int start(void) {
    return 0;
}

static int read_at(uint32_t at, uint8_t *data, uint32_t count) {
    memcpy(data, flash + at, count);
    return 0;
}

static int program_at(uint32_t at, const uint8_t *data, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (i % PAGE == page_front) {
            operate();
        }
        flash[at + i] &= data[i];
    }
    return 0;
}

static int erase_at(uint32_t at) {
    memset(flash + at, 0xFF, SECTOR / 2);
    operate();
    memset(flash + at, 0xFF, SECTOR);
    return 0;
}

const struct storage storage_nor = {64, PAGE, SECTOR, SECTORS, start, read_at, program_at, erase_at};

uint8_t *power_flash(void);
uint8_t *power_flash(void) {
    return flash;
}

uint32_t power_flash_bytes(void);
uint32_t power_flash_bytes(void) {
    return sizeof flash;
}

int power_format(void);
int power_format(void) {
    left = -1;
    memset(flash, 0xFF, sizeof flash);
    return store_mount(&storage_nor, 1);
}

/* Saves a file with so many operations until the power is cut (negative: never). Returns littlefs's status, or 1
 * when the cut came; `front` bytes of a page are then there; `operations` says how many there were. */
int power_save(const char *name, const uint8_t *data, uint32_t count, long until, uint32_t front,
               long *operations);
int power_save(const char *name, const uint8_t *data, uint32_t count, long until, uint32_t front,
               long *operations) {
    static struct store_file file;
    int status;
    left = -1;
    status = store_mount(&storage_nor, 0);
    if (status != 0) {
        return status;
    }
    left = until;
    page_front = front;
    done = 0;
    if (setjmp(cut) != 0) {
        *operations = done;
        return 1;
    }
    status = store_open(&file, name, 1);
    if (status == 0) {
        status = store_write(&file, data, count);
        if (status != 0) {
            store_abandon(&file);
        }
    }
    if (status == 0) {
        status = store_close(&file);
    }
    *operations = done;
    return status;
}

/* Mounts again, as after a reset, and reads. Returns the size, or littlefs's error. */
int32_t power_load(const char *name, uint8_t *data, uint32_t most);
int32_t power_load(const char *name, uint8_t *data, uint32_t most) {
    static struct store_file file;
    int32_t got;
    int status;
    left = -1;
    status = store_mount(&storage_nor, 0);
    status = status != 0 ? status : store_open(&file, name, 0);
    if (status != 0) {
        return status;
    }
    got = store_read(&file, data, most);
    store_close(&file);
    return got;
}
