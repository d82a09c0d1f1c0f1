/* flash.c: see flash.h. */
#include "flash.h"
#include "node.h"

#include <string.h>

enum {
    PAGES = LINK_FLASH_SECTOR / LINK_FLASH_PAGE, /* in a sector */
    AT_NUMBER = LINK_STORAGE_BYTES,
    AT_CRC = AT_NUMBER + sizeof(uint32_t),
    PAGE_USED = AT_CRC + sizeof(uint32_t)
};

/* The CRC-32 of IEEE 802.3, bit by bit. */
static uint32_t crc_of(const uint8_t *bytes, uint16_t count) {
    uint32_t crc = 0xffffffff;

    while (count-- > 0) {
        crc ^= *bytes++;
        for (uint8_t bit = 0; bit < 8; bit++) {
            crc = crc >> 1 ^ (0xedb88320 & -(crc & 1));
        }
    }
    return ~crc;
}

static uint32_t address_of(const struct link_flash *flash, uint32_t number) {
    return flash->start + number % (2 * PAGES) * LINK_FLASH_PAGE;
}

/* Whether the page at that place is sound; then its number. */
static uint8_t is_page(const struct link_flash *flash, uint8_t place, uint32_t *number) {
    uint8_t page[PAGE_USED];
    uint32_t crc;

    link_flash_read(address_of(flash, place), page, sizeof page);
    memcpy(number, page + AT_NUMBER, sizeof *number);
    memcpy(&crc, page + AT_CRC, sizeof crc);
    return crc == crc_of(page, AT_CRC) && *number % (2 * PAGES) == place;
}

void link_flash_open(struct link_flash *flash, uint32_t start) {
    flash->start = start;
    flash->newest = 0;
    flash->found = false;
    for (uint8_t place = 0; place < 2 * PAGES; place++) {
        uint32_t number;

        if (is_page(flash, place, &number) && number >= flash->newest) {
            flash->newest = number;
            flash->found = true;
        }
    }
}

static uint8_t is_erased(uint32_t at) {
    uint8_t part[32], all = 0xff;

    for (uint16_t done = 0; done < LINK_FLASH_PAGE; done += sizeof part) {
        link_flash_read(at + done, part, sizeof part);
        for (uint8_t i = 0; i < sizeof part; i++) {
            all &= part[i];
        }
    }
    return all == 0xff;
}

void link_load(struct link *link, uint8_t at, uint8_t *to, uint8_t bytes) {
    const struct link_flash *flash = ((struct link_node *)link)->place;

    memset(to, 0xff, bytes);
    if (flash->found) {
        link_flash_read(address_of(flash, flash->newest) + at, to, bytes);
    }
}

/* Pages that are not erased, or do not keep what is written, are passed over. */
void link_store(struct link *link, uint8_t at, const uint8_t *from, uint8_t bytes) {
    struct link_flash *flash = ((struct link_node *)link)->place;
    uint32_t number = flash->found ? flash->newest + 1 : 0;
    uint32_t end = (number + PAGES - 1) / PAGES * PAGES + PAGES; /* of the sector without the newest page */
    uint8_t page[LINK_FLASH_PAGE];

    memset(page, 0xff, sizeof page);
    link_load(link, 0, page, LINK_STORAGE_BYTES);
    memcpy(page + at, from, bytes);
    for (; number < end; number++) {
        uint32_t crc, kept;

        if (number % PAGES == 0) {
            link_flash_erase(address_of(flash, number));
        }
        if (!is_erased(address_of(flash, number))) {
            continue;
        }
        memcpy(page + AT_NUMBER, &number, sizeof number);
        crc = crc_of(page, AT_CRC);
        memcpy(page + AT_CRC, &crc, sizeof crc);
        link_flash_write(address_of(flash, number), page);
        if (is_page(flash, (uint8_t)(number % (2 * PAGES)), &kept) && kept == number) {
            flash->newest = number;
            flash->found = true;
            return;
        }
    }
}
