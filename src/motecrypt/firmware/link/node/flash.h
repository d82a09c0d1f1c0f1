/* flash.h: a node's storage in two sectors of a flash, which is erased by sectors and written by pages.
 *
 * Each write of storage is a whole new page: LINK_STORAGE_BYTES, the page's number, a CRC-32 of both, the
 * rest left erased. Pages are numbered from 0 on and follow one another, 16 in a sector; page n is at
 * n modulo 32. The newest intact one counts. Before the first page of a sector the sector is erased, and then
 * the newest page is in the other one. So a loss of power at any moment leaves the newest page or the one
 * before it, and the link writes each record twice. 16 writes cost one erasure.
 *
 * The three functions at the end are the chip's: rp2040.c, zephyr.c, esp_idf.c, or yours.
 */
#ifndef MOTECRYPT_LINK_FLASH_H
#define MOTECRYPT_LINK_FLASH_H

#include <stdbool.h>
#include <stdint.h>

enum {
    LINK_FLASH_PAGE = 256,    /* bytes of one write */
    LINK_FLASH_SECTOR = 4096, /* bytes of one erasure */
    LINK_FLASH_BYTES = 2 * LINK_FLASH_SECTOR
};

struct link_flash {
    uint32_t start;  /* where the first sector begins, a multiple of LINK_FLASH_SECTOR */
    uint32_t newest; /* the number of the newest page */
    bool found;      /* whether there is a page */
};

typedef struct link_flash *link_place;

/* Find the newest page. */
void link_flash_open(struct link_flash *flash, uint32_t start);

/* --- What the chip's part defines. */

void link_flash_read(uint32_t at, uint8_t *to, uint16_t bytes);

/* Write a page of 256 bytes. Only bits that are 1 change, to 0. */
void link_flash_write(uint32_t at, const uint8_t *page);

/* Set all bits of a sector to 1. */
void link_flash_erase(uint32_t at);

#endif
