/* SPDX-License-Identifier: GPL-3.0-or-later -- part of the drivers that link libsimavr.
 * avr_chip.h: a chip by its name, and its line: the UART with the lowest number, which is 1 on an ATmega32U4.
 */
#ifndef MOTECRYPT_AVR_CHIP_H
#define MOTECRYPT_AVR_CHIP_H

#include <simavr/avr_uart.h>
#include <simavr/sim_avr.h>
#include <simavr/sim_io.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static FILE *firmware_line; /* standard output, where libsimavr must not print: an ATmega8 has a port less, it says */

/* NULL: libsimavr does not know it. */
static avr_t *chip_make(const char *mcu) {
    avr_t *avr = avr_make_mcu_by_name(mcu);
    firmware_line = stdout;
    stdout = fopen("/dev/null", "we");
    if (avr == NULL || stdout == NULL) {
        return NULL;
    }
    avr_init(avr);
    return avr;
}

/* NULL: the chip has none. */
static avr_uart_t *chip_uart(const avr_t *avr) {
    avr_uart_t *first = NULL;
    for (avr_io_t *io = avr->io_port; io != NULL; io = io->next) {
        avr_uart_t *uart = (avr_uart_t *)io;
        if (strcmp(io->kind, "uart") == 0 && (first == NULL || uart->name < first->name)) {
            first = uart;
        }
    }
    return first;
}

#endif
