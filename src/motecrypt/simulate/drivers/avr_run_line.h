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

#include "avr_chip.h"
#include "line.h"

enum { RXEN = 1 << 4, BITS_8N1 = 10 };

struct uart {
    struct line *line;
    avr_t *avr;
    avr_uart_t *model; /* NULL: the chip has none */
    avr_irq_t *in;
    uint64_t *stop; /* the cycle at which the slice ends: now, when there is a reason */
    int feeding;
    int each_byte; /* a slice ends with each byte that is sent */
};

/* Cycles of one byte on the line by the UART's present registers (DS40002061B, 20.3.1 and 20.5). On an ATmega8,
 * whose UCSRC shares its address with UBRRH, a byte has 8 bits and no parity. */
static uint64_t uart_byte_cycles(const avr_t *avr, const avr_uart_t *uart) {
    const uint8_t *data = avr->data;
    uint8_t format = data[uart->r_ucsrc];
    uint32_t divisor = (uint32_t)(data[uart->ubrrl.reg] | (data[uart->ubrrh.reg] & 15) << 8) + 1;
    uint32_t bit = divisor * (data[uart->r_ucsra] & 2 ? 8u : 16u);
    uint32_t data_bits = (data[uart->r_ucsrb] & 4) ? 9u : 5u + ((format >> 1) & 3u);
    uint32_t parity = format & 0x20 ? 1u : 0u;
    uint32_t stop = format & 8 ? 2u : 1u;
    return (uint64_t)bit * (uart->r_ucsrc == uart->ubrrh.reg ? BITS_8N1 : 1 + data_bits + parity + stop);
}

static inline int uart_receives(const struct uart *uart) {
    return uart->model != NULL && (uart->avr->data[uart->model->r_ucsrb] & RXEN);
}

/* libsimavr 1.6 counts a parity bit always; called after its own handler of the same register. */
static void uart_on_baud(avr_t *avr, avr_io_addr_t address, uint8_t value, void *parameter) {
    avr_uart_t *uart = parameter;
    (void)address;
    (void)value;
    uart->cycles_per_byte = uart_byte_cycles(avr, uart);
}

static avr_cycle_count_t uart_feed(avr_t *avr, avr_cycle_count_t when, void *parameter) {
    struct uart *uart = parameter;
    struct line *line = uart->line;
    if (line->input_at < line->input_end) {
        uint8_t byte = line->input[line->input_at++];
        if (uart_receives(uart)) { /* else the byte is lost */
            avr_raise_irq(uart->in, byte);
        }
        return when + uart_byte_cycles(avr, uart->model);
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
    line_look(uart->line, uart_receives(uart));
    if (uart->model != NULL && uart->line->input_at < uart->line->input_end && !uart->feeding) {
        uart->feeding = true;
        avr_cycle_timer_register(uart->avr, uart_byte_cycles(uart->avr, uart->model), uart_feed, uart);
    }
}

/* The chip was reset: what was on its way to it is lost. */
static void uart_reset(struct uart *uart) {
    uart->line->input_at = uart->line->input_end = 0;
    uart->feeding = 0;
}

static void uart_open(struct uart *uart, struct line *line, avr_t *avr, uint64_t *stop) {
    uint32_t flags = 0; /* no text of libsimavr's own, and no sleep where the firmware polls */
    avr_uart_t *model = chip_uart(avr);
    *uart = (struct uart){line, avr, model, NULL, stop, 0, 0};
    if (model == NULL) {
        return;
    }
    uart->in = avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ(model->name), UART_IRQ_INPUT);
    avr_ioctl(avr, AVR_IOCTL_UART_SET_FLAGS(model->name), &flags);
    avr_irq_register_notify(avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ(model->name), UART_IRQ_OUTPUT),
                            uart_on_output, uart);
    avr_register_io_write(avr, model->ubrrl.reg, uart_on_baud, model);
}

#endif
