/* rp2040.c: the flash and the clock of a Raspberry Pi Pico, by its SDK.
 *
 * While the flash is written nothing may run from it: interrupts wait for up to 400 ms (an erasure), and
 * core 1 must be idle or run from RAM.
 */
#include "flash.h"
#include "node.h"

#include <hardware/flash.h>
#include <hardware/sync.h>
#include <pico/time.h>
#include <string.h>

void link_flash_read(uint32_t at, uint8_t *to, uint16_t bytes) {
    memcpy(to, (const uint8_t *)(XIP_BASE + at), bytes);
}

void link_flash_write(uint32_t at, const uint8_t *page) {
    uint32_t interrupts = save_and_disable_interrupts();

    flash_range_program(at, page, LINK_FLASH_PAGE);
    restore_interrupts(interrupts);
}

void link_flash_erase(uint32_t at) {
    uint32_t interrupts = save_and_disable_interrupts();

    flash_range_erase(at, LINK_FLASH_SECTOR);
    restore_interrupts(interrupts);
}

uint16_t link_clock(struct link *link) {
    (void)link;
    return (uint16_t)to_ms_since_boot(get_absolute_time());
}
