/* SPDX-License-Identifier: GPL-3.0-or-later -- part of the drivers that link libsimavr.
 * avr_bus_model.h: a byte on SPI takes eight periods of its clock (ATmega328P datasheet DS40002061B, 19.5).
 * In libsimavr 1.6 it takes 100 us at any clock.
 */
#ifndef MOTECRYPT_AVR_BUS_MODEL_H
#define MOTECRYPT_AVR_BUS_MODEL_H

#include <simavr/avr_spi.h>
#include <simavr/sim_avr.h>
#include <simavr/sim_cycle_timers.h>
#include <simavr/sim_io.h>
#include <stdint.h>
#include <string.h>

enum { SPI_BITS = 8 };

static struct {
    avr_spi_t *model;
    avr_io_write_t write;
} spi;

/* Core cycles of one bit: table 19-5. */
static uint64_t spi_bit_cycles(avr_t *avr) {
    static const uint8_t dividers[] = {4, 16, 64, 128};
    uint8_t rate = avr_regbit_get_array(avr, spi.model->spr, 2), twice = avr_regbit_get(avr, spi.model->spr[2]);
    return dividers[rate & 3] / (twice ? 2u : 1u);
}

static void spi_on_write(avr_t *avr, avr_io_addr_t address, uint8_t value, void *parameter) {
    spi.write(avr, address, value, parameter);
    for (avr_cycle_timer_slot_p slot = avr->cycle_timers.timer; slot != NULL; slot = slot->next) {
        if (slot->param == spi.model) {
            avr_cycle_timer_register(avr, SPI_BITS * spi_bit_cycles(avr), slot->timer, spi.model);
            return;
        }
    }
}

static void buses_open(avr_t *avr) {
    avr_io_t *io = avr->io_port;
    while (io != NULL && strcmp(io->kind, "spi") != 0) {
        io = io->next;
    }
    if (io != NULL) {
        avr_io_addr_t data = AVR_DATA_TO_IO(((avr_spi_t *)io)->r_spdr);
        spi.model = (avr_spi_t *)io;
        spi.write = avr->io[data].w.c;
        avr->io[data].w.c = spi_on_write;
    }
}

#endif
