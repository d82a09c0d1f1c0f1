#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
typedef struct uart_inst uart_inst_t;
extern uart_inst_t *const uart0;
unsigned uart_init(uart_inst_t *, unsigned);
char uart_getc(uart_inst_t *);
void uart_write_blocking(uart_inst_t *, const uint8_t *, size_t);
bool uart_is_readable_within_us(uart_inst_t *, uint32_t);
bool uart_is_readable(uart_inst_t *);
void uart_puts(uart_inst_t *, const char *);
void uart_tx_wait_blocking(uart_inst_t *);
