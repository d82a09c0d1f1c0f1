/* esp_idf.c: the flash and the clock of an ESP32 by ESP-IDF: a data partition of 8 KB, called "motecrypt". */
#include "flash.h"
#include "node.h"

#include <esp_partition.h>
#include <esp_timer.h>
#include <string.h>

static const esp_partition_t *partition(void) {
    return esp_partition_find_first(ESP_PARTITION_TYPE_DATA, ESP_PARTITION_SUBTYPE_ANY, "motecrypt");
}

/* What cannot be read is read as 0, which is neither a page nor erased. */
void link_flash_read(uint32_t at, uint8_t *to, uint16_t bytes) {
    const esp_partition_t *area = partition();

    if (area == NULL || esp_partition_read(area, at, to, bytes) != ESP_OK) {
        memset(to, 0, bytes);
    }
}

/* What is not written is noticed when it is read back. */
void link_flash_write(uint32_t at, const uint8_t *page) {
    const esp_partition_t *area = partition();

    if (area != NULL) {
        (void)esp_partition_write(area, at, page, LINK_FLASH_PAGE);
    }
}

void link_flash_erase(uint32_t at) {
    const esp_partition_t *area = partition();

    if (area != NULL) {
        (void)esp_partition_erase_range(area, at, LINK_FLASH_SECTOR);
    }
}

uint16_t link_clock(struct link *link) {
    (void)link;
    return (uint16_t)(esp_timer_get_time() / 1000);
}
