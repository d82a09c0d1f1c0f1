/* SPDX-License-Identifier: GPL-3.0-or-later -- part of avr_run.c, which links libsimavr.
 * avr_run_unmodelled.h: registers that a firmware uses though nothing models them: neither libsimavr, which has a handler for
 * what it models or keeps the register's place among its parts, nor this driver. They only keep what is written.
 */
#ifndef MOTECRYPT_AVR_RUN_UNMODELLED_H
#define MOTECRYPT_AVR_RUN_UNMODELLED_H

#include <simavr/avr_adc.h>
#include <simavr/avr_eeprom.h>
#include <simavr/avr_extint.h>
#include <simavr/avr_flash.h>
#include <simavr/avr_ioport.h>
#include <simavr/avr_spi.h>
#include <simavr/avr_timer.h>
#include <simavr/avr_twi.h>
#include <simavr/avr_uart.h>
#include <simavr/avr_watchdog.h>
#include <simavr/sim_avr.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "avr_run_watch.h"
#include "avr_step.h"
#include "bounds.h"
#include "chip_touched.h"

enum {
    IO_BEGIN = 0x20,
    IO_END = IO_BEGIN + MAX_IOs - 1, /* libsimavr never calls its last handler */
    IO_SPL = 0x5D, /* SPL, SPH, SREG: of the core */
    IO_SREG = 0x5F,
    IO_SMCR = 0x53
};

static struct {
    bool is_known[IO_END];
    struct touched touched;
} unmodelled;

static void unmodelled_known(uint32_t address) {
    if (address < IO_END) {
        unmodelled.is_known[address] = true;
    }
}

static void unmodelled_known_bits(const avr_regbit_t *bits, size_t count) {
    for (size_t i = 0; i < count; i++) {
        unmodelled_known(bits[i].reg);
    }
}

/* What the parts of libsimavr read directly, without a handler. */
static void unmodelled_know_timer(const avr_timer_t *timer) {
    unmodelled_known(timer->r_tcnt);
    unmodelled_known(timer->r_tcnth);
    unmodelled_known(timer->r_icr);
    unmodelled_known(timer->r_icrh);
    unmodelled_known_bits(timer->wgm, COUNT_OF(timer->wgm));
    unmodelled_known_bits(timer->cs, COUNT_OF(timer->cs));
    for (size_t i = 0; i < COUNT_OF(timer->comp); i++) {
        unmodelled_known(timer->comp[i].r_ocr);
        unmodelled_known(timer->comp[i].r_ocrh);
        unmodelled_known(timer->comp[i].com.reg);
    }
}

static void unmodelled_know_uart(const avr_uart_t *uart) {
    const avr_io_addr_t registers[] = {uart->r_udr,   uart->r_ucsra,   uart->r_ucsrb,  uart->r_ucsrc,
                                       uart->ucsz.reg, uart->ubrrl.reg, uart->ubrrh.reg};
    for (size_t i = 0; i < COUNT_OF(registers); i++) {
        unmodelled_known(registers[i]);
    }
}

static void unmodelled_know_bus(const avr_io_t *io) {
    const avr_spi_t *spi = (const avr_spi_t *)io;
    const avr_twi_t *twi = (const avr_twi_t *)io;
    bool is_spi = strcmp(io->kind, "spi") == 0;
    const avr_io_addr_t registers[] = {is_spi ? spi->r_spdr : twi->r_twbr, is_spi ? spi->r_spcr : twi->r_twcr,
                                       is_spi ? spi->r_spsr : twi->r_twsr, is_spi ? 0 : twi->r_twar,
                                       is_spi ? 0 : twi->r_twdr};
    for (size_t i = 0; i < COUNT_OF(registers); i++) {
        unmodelled_known(registers[i]);
    }
}

static void unmodelled_know_adc(const avr_adc_t *adc) {
    const avr_io_addr_t registers[] = {adc->r_admux, adc->r_adcsra, adc->r_adcsrb, adc->r_adcl, adc->r_adch};
    for (size_t i = 0; i < COUNT_OF(registers); i++) {
        unmodelled_known(registers[i]);
    }
}

static void unmodelled_know_part(const avr_io_t *io) {
    if (strcmp(io->kind, "timer") == 0) {
        unmodelled_know_timer((const avr_timer_t *)io);
    } else if (strcmp(io->kind, "uart") == 0) {
        unmodelled_know_uart((const avr_uart_t *)io);
    } else if (strcmp(io->kind, "spi") == 0 || strcmp(io->kind, "twi") == 0) {
        unmodelled_know_bus(io);
    } else if (strcmp(io->kind, "adc") == 0) {
        unmodelled_know_adc((const avr_adc_t *)io);
    } else if (strcmp(io->kind, "eeprom") == 0) {
        const avr_eeprom_t *eeprom_part = (const avr_eeprom_t *)io;
        unmodelled_known(eeprom_part->r_eearh);
        unmodelled_known(eeprom_part->r_eearl);
        unmodelled_known(eeprom_part->r_eedr);
        unmodelled_known(eeprom_part->r_eecr);
    } else if (strcmp(io->kind, "port") == 0) {
        const avr_ioport_t *port = (const avr_ioport_t *)io;
        unmodelled_known(port->r_port);
        unmodelled_known(port->r_ddr);
        unmodelled_known(port->r_pin);
        unmodelled_known(port->r_pcint);
    } else if (strcmp(io->kind, "extint") == 0) {
        const avr_extint_t *interrupts = (const avr_extint_t *)io;
        for (size_t i = 0; i < COUNT_OF(interrupts->eint); i++) {
            unmodelled_known_bits(interrupts->eint[i].isc, COUNT_OF(interrupts->eint[i].isc));
        }
    } else if (strcmp(io->kind, "flash") == 0) {
        unmodelled_known(((const avr_flash_t *)io)->r_spm);
    } else if (strcmp(io->kind, "watchdog") == 0) {
        unmodelled_known(((const avr_watchdog_t *)io)->wde.reg);
    }
}

static void unmodelled_know_core(const avr_t *avr) {
    for (uint32_t address = IO_SPL; address <= IO_SREG; address++) {
        unmodelled_known(address);
    }
    unmodelled_known(avr->rampz);
    unmodelled_known(avr->eind);
    unmodelled_known(avr->reset_flags.porf.reg);
    for (int i = 0; i < avr->interrupts.vector_count; i++) {
        unmodelled_known(avr->interrupts.vector[i]->enable.reg);
        unmodelled_known(avr->interrupts.vector[i]->raised.reg);
    }
}

static void unmodelled_count(avr_t *avr, avr_io_addr_t address, bool is_write) {
    if (touch(&unmodelled.touched, address, address, is_write)) {
        touched_at(&unmodelled.touched, avr->pc);
    }
}

static uint8_t unmodelled_on_read(avr_t *avr, avr_io_addr_t address, void *parameter) {
    (void)parameter;
    unmodelled_count(avr, address, false);
    return avr->data[address];
}

static void unmodelled_on_write(avr_t *avr, avr_io_addr_t address, uint8_t value, void *parameter) {
    (void)parameter;
    unmodelled_count(avr, address, true);
    avr->data[address] = value;
}

/* The data address of LD, LDD, LDS, ST, STD and STS; 0 of every other instruction. `is_store`: what it does there. */
static uint32_t unmodelled_address(const avr_t *avr, uint16_t op, bool *is_store) {
    static const uint8_t pointers[16] = {0, 30, 30, 0, 0, 0, 0, 0, 0, 28, 28, 0, 26, 26, 26, 0};
    unsigned low = op & 8u ? 28 : 30, mode = op & 15u, moved = 0;
    *is_store = (op & 0x200u) != 0;
    if ((op & 0xD000u) == 0x8000u) {
        moved = (op >> 8 & 0x20u) | (op >> 7 & 0x18u) | (op & 7u);
    } else if ((op & 0xFC0Fu) == 0x9000u) {
        return opcode_at(avr, avr->pc + 2);
    } else if ((op & 0xFC00u) == 0x9000u && pointers[mode] != 0) {
        low = pointers[mode];
        moved = mode == 2 || mode == 10 || mode == 14 ? 0xFFFFu : 0; /* counted down before */
    } else {
        return 0;
    }
    return (avr->data[low] + (avr->data[low + 1] << 8) + moved) & 0xFFFFu;
}

/* In the place of a chip's step that has registers for which libsimavr has no handlers. */
static void unmodelled_step(avr_t *avr) {
    bool is_store;
    uint32_t address = unmodelled_address(avr, opcode_at(avr, avr->pc), &is_store);
    if (address >= IO_END && address <= avr->ioend) {
        unmodelled_count(avr, (avr_io_addr_t)address, is_store);
    }
    step_run(avr);
}

/* After every other handler is in its place. `known`: registers that only store a value on the chip, too (GPIORn). */
static void unmodelled_open(avr_t *avr, const uint16_t *known, size_t known_count) {
    if (avr->ioend >= IO_END) {
        avr->run = unmodelled_step;
    }
    unmodelled_know_core(avr);
    for (size_t i = 0; i < known_count; i++) {
        unmodelled_known(known[i]);
    }
    if (core.has_smcr) {
        unmodelled_known(IO_SMCR);
    }
    for (const avr_io_t *io = avr->io_port; io != NULL; io = io->next) {
        unmodelled_know_part(io);
    }
    for (uint32_t address = IO_BEGIN; address < IO_END && address <= avr->ioend; address++) {
        size_t io = (size_t)AVR_DATA_TO_IO(address);
        bool is_watched = avr->io[io].w.c == watch_on_write; /* it has a note: with nothing behind, it is not modelled */
        struct watch_register *watched = is_watched ? avr->io[io].w.param : NULL;
        if (unmodelled.is_known[address] || avr->io[io].r.c != NULL ||
            (is_watched ? watched->write != NULL : avr->io[io].w.c != NULL)) {
            continue;
        }
        avr->io[io].r.c = unmodelled_on_read;
        if (is_watched) {
            watched->write = unmodelled_on_write;
        } else {
            avr->io[io].w.c = unmodelled_on_write;
        }
    }
}

static void name_unmodelled(void *context, uint32_t address, bool is_block, char *out, size_t size) {
    (void)context; /* libsimavr has no names; emulate/avr_names.py has */
    (void)address;
    (void)is_block;
    (void)size;
    out[0] = '\0';
}

#endif
