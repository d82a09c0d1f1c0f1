/* SPDX-License-Identifier: MIT
 * arm_sd.h: an SDHC card in SPI mode on RP2040's SPI0 (PL022), selected by GPIO17, for firmware that keeps
 * files on one. How long it takes to find a block and to write one is the caller's parameter; the clock is
 * what the firmware sets up. It does not depend on the CPU: the caller passes the time in core cycles, which
 * are the SPI's too. Sources: RP2040 datasheet 4.4 (SPI); SD Specifications Part 1, Physical Layer Simplified
 * Specification 6.00, chapter 7 (SPI mode). Checksums are ignored, as a card does by default.
 */
#ifndef MOTECRYPT_ARM_SD_H
#define MOTECRYPT_ARM_SD_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "bounds.h"

enum { SD_BLOCK = 512, SD_FIFO = 8 };

enum sd_state { SD_COMMAND, SD_WAIT_TOKEN, SD_TAKE_BLOCK, SD_GIVE_BLOCK };

struct sd {
    uint8_t *data;
    uint32_t blocks;
    uint64_t read_cycles, write_cycles;
    /* what it did */
    uint64_t reads, writes, busy_cycles;
    /* the interface */
    uint32_t control0, prescale;
    uint64_t free_at, ready[SD_FIFO];
    uint8_t received[SD_FIFO];
    unsigned first, count;
    /* the card */
    int selected, ready_for_use, application;
    uint8_t block[SD_BLOCK]; /* that is written */
    enum sd_state state;
    uint8_t command[6], answer[SD_FIFO]; /* no answer is longer than the FIFO */
    uint32_t command_used, answer_next, answer_end, place, number;
    uint64_t data_at, busy_until;
};

static inline void sd_answer(struct sd *sd, const uint8_t *bytes, uint32_t count) {
    sd->answer[0] = 0xFF; /* one byte passes before a response: NCR */
    memcpy(sd->answer + 1, bytes, count);
    sd->answer_next = 0;
    sd->answer_end = count + 1;
}

static inline void sd_answer_r1(struct sd *sd, uint8_t r1) {
    sd_answer(sd, &r1, 1);
}

static inline void sd_execute(struct sd *sd, uint64_t now) {
    static const uint8_t r7[] = {0x01, 0, 0, 0x01, 0xAA}, r3[] = {0, 0xC0, 0xFF, 0x80, 0};
    uint8_t code = sd->command[0] & 0x3Fu;
    uint32_t argument = (uint32_t)sd->command[1] << 24 | (uint32_t)sd->command[2] << 16 |
                        (uint32_t)sd->command[3] << 8 | sd->command[4];
    int application = sd->application;
    sd->application = code == 55;
    sd->number = argument;
    if (code == 0) {
        sd->ready_for_use = 0;
        sd_answer_r1(sd, 1);
    } else if (code == 8) {
        sd_answer(sd, r7, sizeof r7);
    } else if (code == 55) {
        sd_answer_r1(sd, sd->ready_for_use ? 0 : 1);
    } else if (code == 41 && application) {
        sd->ready_for_use = true;
        sd_answer_r1(sd, 0);
    } else if (code == 58) {
        sd_answer(sd, r3, sizeof r3);
    } else if ((code == 17 || code == 24) && sd->ready_for_use && argument < sd->blocks) {
        sd_answer_r1(sd, 0);
        sd->place = 0;
        sd->state = code == 17 ? SD_GIVE_BLOCK : SD_WAIT_TOKEN;
        if (code == 17) {
            sd->reads++;
            sd->data_at = now + sd->read_cycles;
            sd->busy_cycles += sd->read_cycles;
        }
    } else {
        sd_answer_r1(sd, (uint8_t)(code == 17 || code == 24 ? 0x40 : 0x04)); /* parameter; illegal command */
    }
}

static inline uint8_t sd_give(struct sd *sd, uint64_t now) {
    uint32_t place;
    if (now < sd->data_at) {
        return 0xFF;
    }
    place = sd->place++;
    if (place == 0) {
        return 0xFE;
    }
    if (place == SD_BLOCK + 2) {
        sd->state = SD_COMMAND;
    }
    return place <= SD_BLOCK ? sd->data[(size_t)sd->number * SD_BLOCK + place - 1] : 0;
}

static inline void sd_take(struct sd *sd, uint8_t in, uint64_t now) {
    static const uint8_t accepted = 0x05;
    if (sd->place < SD_BLOCK) { /* then two bytes of a checksum */
        sd->block[sd->place] = in;
    }
    if (++sd->place == SD_BLOCK + 2) {
        memcpy(sd->data + (size_t)sd->number * SD_BLOCK, sd->block, SD_BLOCK);
        sd->answer[0] = accepted;
        sd->answer_next = 0;
        sd->answer_end = 1;
        sd->writes++;
        sd->busy_until = now + sd->write_cycles;
        sd->busy_cycles += sd->write_cycles;
        sd->state = SD_COMMAND;
    }
}

/* One byte in, one byte out, at `now`. */
static inline uint8_t sd_byte(struct sd *sd, uint8_t in, uint64_t now) {
    if (!sd->selected || sd->blocks == 0) {
        return 0xFF; /* with no blocks: no card is there */
    }
    if (sd->answer_next < sd->answer_end) {
        return sd->answer[sd->answer_next++];
    }
    if (sd->state == SD_GIVE_BLOCK) {
        return sd_give(sd, now);
    }
    if (sd->state == SD_TAKE_BLOCK) {
        sd_take(sd, in, now);
        return 0xFF;
    }
    if (sd->state == SD_WAIT_TOKEN) {
        sd->state = in == 0xFE ? SD_TAKE_BLOCK : SD_WAIT_TOKEN;
        return 0xFF;
    }
    if (now < sd->busy_until) {
        return 0x00;
    }
    if (sd->command_used != 0 || (in & 0xC0u) == 0x40u) {
        sd->command[sd->command_used++] = in;
        if (sd->command_used == sizeof sd->command) {
            sd->command_used = 0;
            sd_execute(sd, now);
        }
    }
    return 0xFF;
}

static inline void sd_select(struct sd *sd, int selected) {
    if (selected != sd->selected) {
        sd->selected = selected;
        sd->command_used = 0;
        sd->answer_next = sd->answer_end = 0;
        sd->state = SD_COMMAND;
    }
}

/* Core cycles that a byte takes: clk_peri is clk_sys (hal.c), divided twice (4.4.3.4). */
static inline uint32_t sd_byte_cycles(const struct sd *sd) {
    uint32_t prescale = sd->prescale & 0xFEu;
    return 8u * (prescale ? prescale : 2u) * (1u + (sd->control0 >> 8 & 0xFFu));
}

static inline uint32_t sd_read_register(struct sd *sd, uint32_t offset, uint64_t now) {
    uint32_t cycles = sd_byte_cycles(sd);
    uint64_t left = most(sd->free_at, now) - now;
    int received = sd->count != 0 && sd->ready[sd->first] <= now;
    uint8_t byte;
    if (offset == 0x08u) {
        if (!received) {
            return 0;
        }
        byte = sd->received[sd->first];
        sd->first = (sd->first + 1) % SD_FIFO;
        sd->count--;
        return byte;
    }
    if (offset == 0x0Cu) { /* SSPSR: TFE, TNF, RNE, RFF, BSY */
        return (left <= cycles ? 1u : 0u) | (left / cycles < SD_FIFO ? 2u : 0u) | (received ? 4u : 0u) |
               (left ? 16u : 0u);
    }
    return offset == 0 ? sd->control0 : offset == 0x10u ? sd->prescale : 0;
}

static inline void sd_write_register(struct sd *sd, uint32_t offset, uint32_t value, uint64_t now) {
    uint64_t start = most(sd->free_at, now);
    unsigned slot = (sd->first + sd->count) % SD_FIFO;
    if (offset == 0) {
        sd->control0 = value;
    } else if (offset == 0x10u) {
        sd->prescale = value;
    } else if (offset == 0x08u) {
        sd->free_at = start + sd_byte_cycles(sd);
        if (sd->count < SD_FIFO) {
            sd->received[slot] = sd_byte(sd, (uint8_t)value, start);
            sd->ready[slot] = sd->free_at;
            sd->count++;
        }
    }
}

#endif
