/* SPDX-License-Identifier: GPL-3.0-or-later -- part of avr_run.c, which links libsimavr.
 * avr_run_board.h: the parts of an UNO around its processor core: memories, EEPROM in a file, reset by the
 * USB bridge.
 */
#ifndef MOTECRYPT_AVR_RUN_BOARD_H
#define MOTECRYPT_AVR_RUN_BOARD_H

#include <errno.h>
#include <fcntl.h>
#include <simavr/avr_adc.h>
#include <simavr/avr_eeprom.h>
#include <simavr/sim_avr.h>
#include <simavr/sim_interrupts.h>
#include <simavr/sim_io.h>
#include <simavr/sim_irq.h>
#include <simavr/sim_time.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MCUSR = 0x54, EXTERNAL_RESET = 1 << 1 };

struct run {
    avr_t *avr;
    uint16_t least_sp;
    bool has_several_stacks; /* then least_sp is 0 */
    uint64_t until; /* the cycle at which a slice ends */
};

struct board {
    const char *eeprom_path, *trouble;
    int eeprom_file; /* open from the beginning: the sandbox opens nothing */
    uint8_t *eeprom, *eeprom_now; /* the file's content and the chip's */
    uint32_t eeprom_bytes;
    const char *millivolts; /* at the ADC's inputs; NULL: nothing is connected */
    int resets_on_open;
    uint64_t resets;
    int wdt_on;
};

static bool board_load(uint8_t *memory, uint32_t bytes, uint32_t base, const char *path) {
    FILE *file = fopen(path, "rb");
    size_t got;
    if (file == NULL || base > bytes) {
        return false;
    }
    got = fread(memory + base, 1, bytes - base, file);
    fclose(file);
    return got > 0;
}

static bool board_write_eeprom(struct board *board, const uint8_t *content) {
    if (pwrite(board->eeprom_file, content, board->eeprom_bytes, 0) != (ssize_t)board->eeprom_bytes) {
        board->trouble = "cannot be written";
        return false;
    }
    return true;
}

/* The EEPROM's file: its content counts where there is one, else it gets ours. */
static bool board_open_eeprom(struct board *board) {
    int is_there = access(board->eeprom_path, F_OK) == 0;
    board->eeprom_file = open(board->eeprom_path, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0600);
    if (board->eeprom_file < 0) {
        board->trouble = "cannot be opened as this chip's EEPROM";
        return false;
    }
    struct stat found;
    bool other = fstat(board->eeprom_file, &found) == 0 && S_ISREG(found.st_mode) && is_there &&
                 found.st_size != (off_t)board->eeprom_bytes; /* such as an Intel hex file (.eep) */
    if (other || (is_there &&
                  read(board->eeprom_file, board->eeprom, board->eeprom_bytes) != (ssize_t)board->eeprom_bytes)) {
        board->trouble = "is not this chip's EEPROM byte for byte; give such a copy, or the name of a new file";
        return false;
    }
    return board_write_eeprom(board, board->eeprom);
}

static bool board_open(struct board *board, avr_t *avr, const char *data) {
    avr_eeprom_desc_t whole = {NULL, 0, avr->e2end + 1u};
    board->eeprom_bytes = whole.size;
    board->eeprom = whole.ee = malloc(whole.size);
    board->eeprom_now = malloc(whole.size);
    if (board->eeprom == NULL || board->eeprom_now == NULL) {
        board->trouble = "finds no memory";
        return false;
    }
    memset(board->eeprom, 0xFF, whole.size);
    if (data != NULL && !board_load(board->eeprom, board->eeprom_bytes, 0, data)) {
        board->trouble = "cannot be loaded";
        return false;
    }
    if (board->eeprom_path != NULL && !board_open_eeprom(board)) {
        return false;
    }
    avr_ioctl(avr, AVR_IOCTL_EEPROM_SET, &whole);
    if (board->millivolts != NULL) {
        for (int channel = ADC_IRQ_ADC0; channel <= ADC_IRQ_TEMP; channel++) {
            avr_irq_t *input = avr_io_getirq(avr, AVR_IOCTL_ADC_GETIRQ, channel);
            if (input != NULL) {
                avr_raise_irq(input, (uint32_t)atoi(board->millivolts));
            }
        }
    }
    return true;
}

/* Written in place, whenever it has changed: what a loss of power leaves half-done on the chip is left
 * half-done here, too. */
static void board_save_eeprom(struct board *board, avr_t *avr) {
    uint8_t *now = board->eeprom_now;
    avr_eeprom_desc_t whole = {now, 0, board->eeprom_bytes};
    if (board->eeprom_path == NULL) {
        return;
    }
    avr_ioctl(avr, AVR_IOCTL_EEPROM_GET, &whole); /* libsimavr 1.6 copies, and returns -1 all the same */
    if (memcmp(now, board->eeprom, board->eeprom_bytes) == 0) {
        return;
    }
    if (!board_write_eeprom(board, now)) {
        fprintf(stderr, "avr_run: %s: %s\n", board->eeprom_path, board->trouble);
        exit(2);
    }
    memcpy(board->eeprom, now, board->eeprom_bytes);
}

/* Once a slice. */
static void board_look(struct board *board, avr_t *avr) {
    board->wdt_on = (avr->data[0x60] & 0x48) != 0; /* WDTCSR: an empty loop may wait for the watchdog */
    board_save_eeprom(board, avr);
}

/* The reset button, or the USB bridge's DTR line. */
static void board_reset(struct board *board, avr_t *avr) {
    avr_reset(avr);
    avr->data[MCUSR] = EXTERNAL_RESET;
    board->resets++;
}

#endif
