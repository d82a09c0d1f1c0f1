/* SPDX-License-Identifier: GPL-3.0-or-later -- part of the drivers that link libsimavr.
 * avr_guard.h: memories beyond which the guest cannot address. libsimavr 1.6 allocates the flash and the data
 * space as large as the chip's, detects an access beyond, and still carries it out: LD and ST reach
 * 64 KB of data, LPM and SPM 64 KB of flash, ELPM 16 MB. Here each is in a region as large as its
 * instructions can address, with pages before and after it that fault.
 */
#ifndef MOTECRYPT_AVR_GUARD_H
#define MOTECRYPT_AVR_GUARD_H

#include <simavr/sim_avr.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    GUARD_BYTES = 1 << 16,
    GUARD_DATA_BYTES = 1 << 16,
    GUARD_LPM_BYTES = 1 << 16,
    GUARD_FLASH_BYTES = (1 << 24) + GUARD_LPM_BYTES /* ELPM, and a page that SPM begins at the last byte */
};

/* `bytes` of memory between two regions that fault; NULL when there is none. */
static inline uint8_t *guard_region(size_t bytes) {
    uint8_t *all = mmap(NULL, bytes + 2 * GUARD_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED || mprotect(all + GUARD_BYTES, bytes, PROT_READ | PROT_WRITE) != 0) {
        return NULL;
    }
    return all + GUARD_BYTES;
}

/* After avr_init, before the firmware is loaded. Whether there is memory for it. */
static inline bool avr_guard(avr_t *avr) {
    uint8_t *flash = guard_region(GUARD_FLASH_BYTES), *data = guard_region(GUARD_DATA_BYTES + 2);
    if (flash == NULL || data == NULL || avr->flashend >= GUARD_FLASH_BYTES - 4u) {
        return false;
    }
    memset(flash, 0xFF, GUARD_LPM_BYTES); /* as erased flash reads */
    memcpy(flash, avr->flash, avr->flashend + 1u);
    memcpy(data, avr->data, avr->ramend + 1u);
    free(avr->flash);
    free(avr->data);
    avr->flash = flash;
    avr->data = data;
    avr->gdb_port = 0; /* libsimavr listens there when a firmware crashes */
    return true;
}

/* The instruction's first word at `pc`; beyond the flash, one that does not exist. */
static inline uint16_t opcode_at(const avr_t *avr, uint32_t pc) {
    return pc < avr->flashend ? (uint16_t)(avr->flash[pc] | avr->flash[pc + 1] << 8) : 0xFFFF;
}

#endif
