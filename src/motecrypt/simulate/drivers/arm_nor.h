/* SPDX-License-Identifier: MIT
 * arm_nor.h: a serial NOR flash behind RP2040's flash interface, for firmware that erases and programs it. It
 * understands the commands of a W25Q16JV (datasheet, 8.1.2) sent byte by byte with the interface out of
 * execute-in-place and the chip select forced by its pad's override, as RP2040's boot ROM does it. How long
 * the flash is busy is the caller's parameter. It does not depend on the CPU: the caller passes the time in
 * core cycles. Sources: RP2040 datasheet 4.10.13 (SSI registers), 2.19.6 (GPIO_QSPI_SS_CTRL); W25Q16JV
 * datasheet, 8.2.
 */
#ifndef MOTECRYPT_ARM_NOR_H
#define MOTECRYPT_ARM_NOR_H

#include <stdint.h>
#include <string.h>

#include "bounds.h"

enum { NOR_FIFO = 16, NOR_PAGE = 256 };

struct nor {
    uint8_t *data; /* the flash's content */
    uint32_t bytes;
    uint64_t program_cycles, erase_cycles, erase_32k_cycles, erase_64k_cycles; /* of a page, of a block */
    /* what it did */
    uint64_t programs, erases, busy_cycles;
    /* the interface */
    int selected;     /* by the override: commands go in */
    uint64_t free_at; /* the last byte has been shifted out by then */
    uint64_t ready[NOR_FIFO];
    uint8_t received[NOR_FIFO];
    unsigned first, count;
    /* the flash */
    uint64_t busy_until;
    int write_enabled;
    uint8_t command, page[NOR_PAGE];
    uint32_t sent, address, page_used;
};

static inline uint64_t nor_erase_cycles(const struct nor *nor, uint32_t bytes) {
    return bytes == 4096 ? nor->erase_cycles : bytes == 32768 ? nor->erase_32k_cycles : nor->erase_64k_cycles;
}

static inline void nor_busy(struct nor *nor, uint64_t now, uint64_t cycles) {
    nor->busy_until = now + cycles;
    nor->busy_cycles += cycles;
    nor->write_enabled = 0;
}

/* The chip select rises: what was asked for begins. */
static inline void nor_deselect(struct nor *nor, uint64_t now) {
    uint32_t block = nor->command == 0x20 ? 4096 : nor->command == 0x52 ? 32768 : 65536;
    uint32_t at = nor->address % nor->bytes;
    if (nor->sent == 0 || now < nor->busy_until) {
        return;
    }
    if (nor->command == 0x06 || nor->command == 0x04) {
        nor->write_enabled = nor->command == 0x06;
    } else if (nor->command == 0x02 && nor->write_enabled && nor->page_used != 0) {
        uint32_t page = at & ~(uint32_t)(NOR_PAGE - 1);
        for (uint32_t i = 0; i < NOR_PAGE; i++) {
            nor->data[page + i] &= nor->page[i];
        }
        nor->programs++;
        nor_busy(nor, now, nor->program_cycles);
    } else if ((nor->command == 0x20 || nor->command == 0x52 || nor->command == 0xD8) && nor->write_enabled &&
               nor->sent == 4) {
        uint32_t first = at & ~(block - 1);
        memset(nor->data + first, 0xFF, least(nor->bytes - first, block));
        nor->erases++;
        nor_busy(nor, now, nor_erase_cycles(nor, block));
    }
}

static inline void nor_begin(struct nor *nor) {
    nor->sent = 0;
    nor->address = 0;
    nor->page_used = 0;
    memset(nor->page, 0xFF, sizeof nor->page);
}

static inline void nor_select(struct nor *nor, int selected, uint64_t now) {
    if (nor->selected && !selected) {
        nor_deselect(nor, now);
    } else if (!nor->selected && selected) {
        nor_begin(nor);
    }
    nor->selected = selected;
}

/* One byte in, one byte out, at `now`. */
static inline uint8_t nor_byte(struct nor *nor, uint8_t in, uint64_t now) {
    uint32_t place = nor->sent++;
    if (place == 0) {
        nor->command = in;
        return 0xFF;
    }
    if (nor->command == 0x05) {
        return (uint8_t)((now < nor->busy_until ? 1 : 0) | (nor->write_enabled ? 2 : 0));
    }
    if (nor->command == 0x35) {
        return 2; /* QE: as the Pico's flash leaves the factory */
    }
    if (nor->command == 0x9F) {
        static const uint8_t id[] = {0xEF, 0x40, 0x15};
        return place <= 3 ? id[place - 1] : 0xFF;
    }
    if (nor->command == 0x4B) { /* four bytes, then the unique number */
        return (uint8_t)(place >= 5 && place < 13 ? 0xE6 ^ 0x25 * place : 0xFF);
    }
    if (place <= 3) {
        nor->address = nor->address << 8 | in;
    } else if (nor->command == 0x02) { /* past the end of the page it wraps to the start */
        nor->page[(nor->address + nor->page_used++) % NOR_PAGE] = in;
    } else if (nor->command == 0x03 && now >= nor->busy_until) {
        return nor->data[(nor->address + place - 4) % nor->bytes];
    }
    return 0xFF;
}

/* A byte is put into the interface's FIFO: it is shifted out after those before it. */
static inline void nor_send(struct nor *nor, uint8_t byte, uint32_t divider, uint64_t now) {
    uint64_t start = most(nor->free_at, now);
    unsigned slot = (nor->first + nor->count) % NOR_FIFO;
    if (!nor->selected && now >= nor->free_at) { /* the interface selects the flash itself, while it has something to send */
        nor_deselect(nor, now);
        nor_begin(nor);
    }
    nor->free_at = start + 8u * divider;
    if (nor->count == NOR_FIFO) {
        return; /* receive overflow: the byte is lost, as it is on a board */
    }
    nor->received[slot] = nor_byte(nor, byte, start);
    nor->ready[slot] = nor->free_at;
    nor->count++;
}

static inline uint32_t nor_status(const struct nor *nor, uint32_t divider, uint64_t now) {
    uint64_t left = most(nor->free_at, now) - now;
    uint64_t waiting = divider ? left / (8u * divider) : 0; /* whole bytes still in the send FIFO */
    uint32_t status = left != 0 ? 1u : 0u;
    status |= waiting < NOR_FIFO ? 2u : 0u;
    status |= waiting == 0 ? 4u : 0u;
    status |= nor->count != 0 && nor->ready[nor->first] <= now ? 8u : 0u;
    return status;
}

static inline uint8_t nor_receive(struct nor *nor, uint64_t now) {
    uint8_t byte;
    if (nor->count == 0 || nor->ready[nor->first] > now) {
        return 0;
    }
    byte = nor->received[nor->first];
    nor->first = (nor->first + 1) % NOR_FIFO;
    nor->count--;
    return byte;
}

/* The interface is switched off: its FIFOs are empty. */
static inline void nor_reset(struct nor *nor) {
    nor->count = 0;
    nor->free_at = 0;
}

#endif
