/* SPDX-License-Identifier: GPL-3.0-or-later -- part of avr_run.c, which links libsimavr.
 * avr_run_line.h: joins the AVR's UART to the line (line.h).
 */
#ifndef MOTECRYPT_AVR_RUN_LINE_H
#define MOTECRYPT_AVR_RUN_LINE_H

#include <simavr/avr_uart.h>
#include <simavr/sim_avr.h>
#include <simavr/sim_io.h>
#include <simavr/sim_irq.h>
#include <simavr/sim_time.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "line.h"

enum { UCSR0A = 0xC0, UCSR0B = 0xC1, UCSR0C = 0xC2, UBRR0L = 0xC4, UBRR0H = 0xC5, RXEN0 = 1 << 4 };

struct uart {
    struct line *line;
    avr_t *avr;
    avr_irq_t *in;
    uint64_t *stop; /* the cycle at which the slice ends: now, when there is a reason */
    int feeding;
    int each_byte; /* a slice ends with each byte that is sent */
};

/* Cycles of one byte on the line by the UART's present registers (DS40002061B, 20.3.1 and 20.5). */
static uint64_t uart_byte_cycles(const avr_t *avr) {
    uint32_t divisor = (uint32_t)(avr->data[UBRR0L] | (avr->data[UBRR0H] & 15) << 8) + 1;
    uint32_t bit = divisor * (avr->data[UCSR0A] & 2 ? 8u : 16u);
    uint32_t data_bits = (avr->data[UCSR0B] & 4) ? 9u : 5u + ((avr->data[UCSR0C] >> 1) & 3u);
    uint32_t parity = avr->data[UCSR0C] & 0x20 ? 1u : 0u;
    uint32_t stop = avr->data[UCSR0C] & 8 ? 2u : 1u;
    return (uint64_t)bit * (1 + data_bits + parity + stop);
}

/* libsimavr 1.6 counts a parity bit always; called after its own handler of the same register. */
static void uart_on_baud(avr_t *avr, avr_io_addr_t address, uint8_t value, void *parameter) {
    avr_uart_t *uart = parameter;
    (void)address;
    (void)value;
    uart->cycles_per_byte = uart_byte_cycles(avr);
}

static avr_cycle_count_t uart_feed(avr_t *avr, avr_cycle_count_t when, void *parameter) {
    struct uart *uart = parameter;
    struct line *line = uart->line;
    if (line->input_at < line->input_end) {
        uint8_t byte = line->input[line->input_at++];
        if (avr->data[UCSR0B] & RXEN0) { /* else the byte is lost */
            avr_raise_irq(uart->in, byte);
        }
        return when + uart_byte_cycles(avr);
    }
    uart->feeding = 0;
    return 0;
}

static void uart_on_output(avr_irq_t *irq, uint32_t value, void *parameter) {
    struct uart *uart = parameter;
    (void)irq;
    if (line_send(uart->line, (uint8_t)value, (double)uart->avr->cycle / uart->avr->frequency) ||
        uart->each_byte) {
        *uart->stop = 0;
    }
}

/* Once a slice. */
static void uart_look(struct uart *uart) {
    line_look(uart->line, uart->avr->data[UCSR0B] & RXEN0);
    if (uart->line->input_at < uart->line->input_end && !uart->feeding) {
        uart->feeding = true;
        avr_cycle_timer_register(uart->avr, uart_byte_cycles(uart->avr), uart_feed, uart);
    }
}

/* The chip was reset: what was on its way to it is lost. */
static void uart_reset(struct uart *uart) {
    uart->line->input_at = uart->line->input_end = 0;
    uart->feeding = 0;
}

static void uart_open(struct uart *uart, struct line *line, avr_t *avr, uint64_t *stop) {
    uint32_t flags = 0; /* no text of libsimavr's own, and no sleep where the firmware polls */
    *uart = (struct uart){line, avr, avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_INPUT), stop, 0, 0};
    avr_ioctl(avr, AVR_IOCTL_UART_SET_FLAGS('0'), &flags);
    avr_irq_register_notify(avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_OUTPUT), uart_on_output,
                            uart);
    for (avr_io_t *io = avr->io_port; io != NULL; io = io->next) {
        if (strcmp(io->kind, "uart") == 0 && ((avr_uart_t *)io)->name == '0') {
            avr_register_io_write(avr, UBRR0L, uart_on_baud, io);
        }
    }
}

#endif
