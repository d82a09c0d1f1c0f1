/* SPDX-License-Identifier: GPL-2.0-only -- part of arm.c, which links Unicorn.
 * arm_storage.h: connects the models of storage (arm_nor.h, arm_sd.h) to the registers of RP2040, and reports
 * what they did in a region.
 */
#ifndef MOTECRYPT_ARM_STORAGE_H
#define MOTECRYPT_ARM_STORAGE_H

#include <inttypes.h>
#include <stdbool.h>

#include "arm_serving.h"

#define GPIO_QSPI_SS_CTRL 0x4001800Cu /* RP2040 datasheet, 2.19.6 */
#define SPI0_BASE 0x4003C000u         /* 4.4 */
#define SIO_GPIO_OUT_SET 0xD0000014u  /* 2.3.1.7 */
#define SIO_GPIO_OUT_CLEAR 0xD0000018u
#define SSI_DIVIDER 0x14u /* registers of the flash interface, 4.10.13 */
#define SSI_STATUS 0x28u
#define SSI_DATA 0x60u
#define SSI_ENABLE 0x08u

enum { SD_SELECT_PIN = 17 };

/* Returns 1, and the value, when the register belongs to a storage. */
static int storage_read(struct machine *m, const struct chip_window *window, uint32_t address,
                        uint32_t *value) {
    uint32_t offset = address & 0xFFFu;
    uint32_t divider = m->chip.rp2040.ssi[SSI_DIVIDER / 4];
    if (m->nor.data != NULL && window->kind == CHIP_SSI && offset == SSI_STATUS) {
        *value = nor_status(&m->nor, divider, board_cycles(m));
    } else if (m->nor.data != NULL && window->kind == CHIP_SSI && offset == SSI_DATA) {
        *value = nor_receive(&m->nor, board_cycles(m));
    } else if (m->sd.data != NULL && (address & ~0xFFFu) == SPI0_BASE) {
        *value = sd_read_register(&m->sd, offset, board_cycles(m));
    } else {
        return 0;
    }
    return 1;
}

/* Settings of the flash interface change only while it is off (4.10.13): else a board ignores them. */
static void check_setting(struct machine *m, uint32_t offset) {
    if (offset != SSI_ENABLE && offset != SSI_DATA && (m->chip.rp2040.ssi[SSI_ENABLE / 4] & 1u)) {
        finish(m, "fault", "the flash interface's register 0x%" PRIx32 " is set while the interface is on", offset);
    }
}

/* After the write has reached the chip's plain registers. */
static void storage_write(struct machine *m, const struct chip_window *window, uint32_t address,
                          uint32_t value) {
    uint32_t offset = address & 0xFFFu;
    if (m->chip.rp2040.is_rp2350) { /* its flash is erased and programmed by the boot ROM's functions alone */
        return;
    }
    if (m->nor.data != NULL && window->kind == CHIP_SSI) {
        check_setting(m, offset);
    }
    if (m->nor.data != NULL && window->kind == CHIP_SSI && offset == SSI_DATA) {
        nor_send(&m->nor, (uint8_t)value, m->chip.rp2040.ssi[SSI_DIVIDER / 4], board_cycles(m));
    } else if (m->nor.data != NULL && window->kind == CHIP_SSI && offset == SSI_ENABLE && !(value & 1u)) {
        nor_reset(&m->nor);
    } else if (m->nor.data != NULL && (address & ~0x3000u) == GPIO_QSPI_SS_CTRL) {
        uint32_t override = *rp2040_register(&m->chip.rp2040, GPIO_QSPI_SS_CTRL) >> 8 & 3u;
        nor_select(&m->nor, override == 2, board_cycles(m));
    } else if (m->sd.data != NULL && (address & ~0xFFFu) == SPI0_BASE) {
        sd_write_register(&m->sd, offset, value, board_cycles(m));
    } else if (m->sd.data != NULL && (address == SIO_GPIO_OUT_SET || address == SIO_GPIO_OUT_CLEAR) &&
               (value >> SD_SELECT_PIN & 1u)) {
        sd_select(&m->sd, address == SIO_GPIO_OUT_CLEAR);
    }
}

static void storage_report(const struct machine *m) {
    if (m->nor.programs + m->nor.erases != m->begin_nor.programs + m->begin_nor.erases) {
        fprintf(m->pipe.events, ",\"programs\":%" PRIu64 ",\"erases\":%" PRIu64 ",\"storage_busy\":%" PRIu64,
                m->nor.programs - m->begin_nor.programs, m->nor.erases - m->begin_nor.erases,
                m->nor.busy_cycles - m->begin_nor.busy_cycles);
    }
    if (m->sd.busy_cycles != m->begin_sd.busy_cycles) {
        fprintf(m->pipe.events, ",\"reads\":%" PRIu64 ",\"programs\":%" PRIu64 ",\"storage_busy\":%" PRIu64,
                m->sd.reads - m->begin_sd.reads, m->sd.writes - m->begin_sd.writes,
                m->sd.busy_cycles - m->begin_sd.busy_cycles);
    }
}

/* `times` are PROGRAM, ERASE_4K, ERASE_32K, ERASE_64K in core cycles. Whether there is a flash. */
static bool storage_add_nor(struct machine *m, const uint32_t *times) {
    if (m->memory_count == 0 || m->memories[0].base != m->flash_base) {
        return false;
    }
    m->nor.data = m->memories[0].data;
    m->nor.bytes = m->memories[0].bytes;
    m->nor.program_cycles = times[0];
    m->nor.erase_cycles = times[1];
    m->nor.erase_32k_cycles = times[2];
    m->nor.erase_64k_cycles = times[3];
    return true;
}

/* `card` is BLOCKS, READ, WRITE: blocks of 512 bytes, and core cycles. */
static bool storage_add_sd(struct machine *m, const uint32_t *card) {
    m->sd.data = calloc(card[0] ? card[0] : 1, SD_BLOCK);
    m->sd.blocks = card[0];
    m->sd.read_cycles = card[1];
    m->sd.write_cycles = card[2];
    return m->sd.data != NULL;
}

#endif
