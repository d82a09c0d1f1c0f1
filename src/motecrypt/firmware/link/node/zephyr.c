/* zephyr.c: the flash and the clock of a board under Zephyr: the beginning of its storage_partition.
 *
 * The partition must be the link's alone: neither settings nor a file system may use it.
 */
#include "flash.h"
#include "node.h"

#include <string.h>
#include <zephyr/kernel.h>
#include <zephyr/storage/flash_map.h>

static const struct flash_area *partition(void) {
    const struct flash_area *area;

    return flash_area_open(FIXED_PARTITION_ID(storage_partition), &area) == 0 ? area : NULL;
}

/* What cannot be read is read as 0, which is neither a page nor erased. */
void link_flash_read(uint32_t at, uint8_t *to, uint16_t bytes) {
    const struct flash_area *area = partition();

    if (area == NULL || flash_area_read(area, (off_t)at, to, bytes) != 0) {
        memset(to, 0, bytes);
    }
}

/* What is not written is noticed when it is read back. */
void link_flash_write(uint32_t at, const uint8_t *page) {
    const struct flash_area *area = partition();

    if (area != NULL) {
        (void)flash_area_write(area, (off_t)at, page, LINK_FLASH_PAGE);
    }
}

void link_flash_erase(uint32_t at) {
    const struct flash_area *area = partition();

    if (area != NULL) {
        (void)flash_area_erase(area, (off_t)at, LINK_FLASH_SECTOR);
    }
}

uint16_t link_clock(struct link *link) {
    (void)link;
    return (uint16_t)k_uptime_get_32();
}
