/* SPDX-License-Identifier: GPL-3.0-or-later -- part of avr_run.c, which links libsimavr.
 * avr_run_board.h: what is on an UNO beside its processor core: memories, EEPROM in a file, reset by the USB
 * bridge, and a word on what libsimavr does not model, once a firmware touches it.
 */
#ifndef MOTECRYPT_AVR_RUN_BOARD_H
#define MOTECRYPT_AVR_RUN_BOARD_H

#include <errno.h>
#include <fcntl.h>
#include <simavr/avr_adc.h>
#include <simavr/avr_eeprom.h>
#include <simavr/avr_spi.h>
#include <simavr/avr_twi.h>
#include <simavr/sim_avr.h>
#include <simavr/sim_interrupts.h>
#include <simavr/sim_io.h>
#include <simavr/sim_irq.h>
#include <simavr/sim_time.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { EEPROM_MAX = 4096, NOTES = 8, MCUSR = 0x54, MCUCR = 0x55, EXTERNAL_RESET = 1 << 1 };

struct run {
    avr_t *avr;
    uint16_t least_sp;
    uint64_t until; /* the cycle at which a slice ends */
};

struct board {
    const char *eeprom_path, *trouble;
    int eeprom_file; /* open from the beginning: the sandbox opens nothing */
    uint8_t eeprom[EEPROM_MAX];
    uint32_t eeprom_bytes;
    int millivolts; /* at the ADC's inputs; below 0: nothing is connected */
    int resets_on_open;
    uint64_t resets;
    int wdt_on;
    uint32_t touched, told; /* bits: notes */
};

static const char *const board_notes[NOTES] = {
    "CLKPR: the clock prescaler is not modelled; cycles are right, seconds are not",
    "OSCCAL: the calibration of the internal oscillator is not modelled",
    "GTCCR: holding or resetting the timers' prescalers is not modelled",
    "TCCR1C: forcing an output compare is not modelled",
    "MCUCR: moving the interrupt vectors and switching pull-ups off are not modelled",
    "ADC: nothing is connected to the analogue inputs; they read 0",
    "SPI: nothing is connected to the bus; it reads 0",
    "TWI (I2C): nothing is connected to the bus; no device answers",
};

enum { NOTE_CLKPR, NOTE_OSCCAL, NOTE_GTCCR, NOTE_TCCR1C, NOTE_MCUCR, NOTE_ADC, NOTE_SPI, NOTE_TWI };

/* The note that a write to a register which libsimavr takes for memory asks for (DS40002061B, register
 * summary); `mask`: the bits that matter. */
static const struct {
    avr_io_addr_t address;
    uint8_t note, mask;
} board_registers[] = {
    {0x61, NOTE_CLKPR, 0x0F},  {0x66, NOTE_OSCCAL, 0xFF}, {0x43, NOTE_GTCCR, 0x83},
    {0x82, NOTE_TCCR1C, 0xC0}, {MCUCR, NOTE_MCUCR, 0x12},
};

static struct board *board_of_hooks; /* libsimavr's hooks get a number: the note */

static void board_on_write(avr_t *avr, avr_io_addr_t address, uint8_t value, void *parameter) {
    size_t i = (size_t)(uintptr_t)parameter;
    avr->data[address] = value;
    if (value & board_registers[i].mask) {
        board_of_hooks->touched |= 1u << board_registers[i].note;
    }
}

static void board_on_use(avr_irq_t *irq, uint32_t value, void *parameter) {
    (void)irq;
    (void)value;
    board_of_hooks->touched |= 1u << (uintptr_t)parameter;
}

static int board_load(uint8_t *memory, uint32_t bytes, uint32_t base, const char *path) {
    FILE *file = fopen(path, "rb");
    size_t got;
    if (file == NULL || base > bytes) {
        return -1;
    }
    got = fread(memory + base, 1, bytes - base, file);
    fclose(file);
    return got > 0 ? 0 : -1;
}

static int board_write_eeprom(struct board *board, const uint8_t *content) {
    if (pwrite(board->eeprom_file, content, board->eeprom_bytes, 0) != (ssize_t)board->eeprom_bytes) {
        board->trouble = "cannot be written";
        return -1;
    }
    return 0;
}

static void board_listen(avr_t *avr, uint32_t ioctl, int index, unsigned note) {
    avr_irq_t *irq = avr_io_getirq(avr, ioctl, index);
    if (irq != NULL) {
        avr_irq_register_notify(irq, board_on_use, (void *)(uintptr_t)note);
    }
}

/* The EEPROM's file: its content counts where there is one, else it gets ours. */
static int board_open_eeprom(struct board *board) {
    int is_there = access(board->eeprom_path, F_OK) == 0;
    board->eeprom_file = open(board->eeprom_path, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0600);
    if (board->eeprom_file < 0) {
        board->trouble = "cannot be opened as this chip's EEPROM";
        return -1;
    }
    if (is_there && read(board->eeprom_file, board->eeprom, board->eeprom_bytes) != (ssize_t)board->eeprom_bytes) {
        board->trouble = "cannot be read as this chip's EEPROM";
        return -1;
    }
    return board_write_eeprom(board, board->eeprom);
}

static int board_open(struct board *board, avr_t *avr, const char *data) {
    avr_eeprom_desc_t whole = {board->eeprom, 0, avr->e2end + 1u};
    board_of_hooks = board;
    board->eeprom_bytes = avr->e2end + 1u;
    memset(board->eeprom, 0xFF, sizeof board->eeprom);
    if (board->eeprom_bytes > EEPROM_MAX) {
        board->trouble = "more EEPROM than expected";
        return -1;
    }
    if (data != NULL && board_load(board->eeprom, board->eeprom_bytes, 0, data) != 0) {
        board->trouble = "cannot be loaded";
        return -1;
    }
    if (board->eeprom_path != NULL && board_open_eeprom(board) != 0) {
        return -1;
    }
    avr_ioctl(avr, AVR_IOCTL_EEPROM_SET, &whole);
    for (size_t i = 0; i < sizeof board_registers / sizeof board_registers[0]; i++) {
        if (avr->io[AVR_DATA_TO_IO(board_registers[i].address)].w.c == NULL) {
            avr_register_io_write(avr, board_registers[i].address, board_on_write, (void *)(uintptr_t)i);
        }
    }
    if (board->millivolts >= 0) {
        for (int channel = ADC_IRQ_ADC0; channel <= ADC_IRQ_TEMP; channel++) {
            avr_irq_t *input = avr_io_getirq(avr, AVR_IOCTL_ADC_GETIRQ, channel);
            if (input != NULL) {
                avr_raise_irq(input, (uint32_t)board->millivolts);
            }
        }
    } else {
        board_listen(avr, AVR_IOCTL_ADC_GETIRQ, ADC_IRQ_OUT_TRIGGER, NOTE_ADC);
    }
    board_listen(avr, AVR_IOCTL_SPI_GETIRQ(0), SPI_IRQ_OUTPUT, NOTE_SPI);
    board_listen(avr, AVR_IOCTL_TWI_GETIRQ(0), TWI_IRQ_OUTPUT, NOTE_TWI);
    return 0;
}

/* Written in place, whenever it has changed: what a loss of power leaves half-done on the chip is left
 * half-done here, too. */
static void board_save_eeprom(struct board *board, avr_t *avr) {
    uint8_t now[EEPROM_MAX];
    avr_eeprom_desc_t whole = {now, 0, board->eeprom_bytes};
    if (board->eeprom_path == NULL) {
        return;
    }
    memcpy(now, board->eeprom, sizeof now);
    avr_ioctl(avr, AVR_IOCTL_EEPROM_GET, &whole); /* libsimavr 1.6 copies, and returns -1 all the same */
    if (memcmp(now, board->eeprom, board->eeprom_bytes) == 0) {
        return;
    }
    if (board_write_eeprom(board, now) != 0) {
        fprintf(stderr, "avr_run: %s: %s\n", board->eeprom_path, board->trouble);
        exit(2);
    }
    memcpy(board->eeprom, now, board->eeprom_bytes);
}

/* Once a slice: tell what was touched, keep the EEPROM. */
static void board_look(struct board *board, avr_t *avr, void (*note)(const char *)) {
    uint32_t fresh = board->touched & ~board->told;
    for (unsigned i = 0; i < NOTES && fresh != 0; i++) {
        if (fresh & (1u << i)) {
            note(board_notes[i]);
        }
    }
    board->told |= fresh;
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
