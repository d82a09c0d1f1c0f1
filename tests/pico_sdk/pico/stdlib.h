#pragma once
#include <stdbool.h>
#include <stdint.h>
enum gpio_function { GPIO_FUNC_UART = 2 };
void sleep_ms(uint32_t);
void sleep_us(uint64_t);
#define PICO_DEFAULT_LED_PIN 25 /* a macro there, too: not every board has it */
enum { GPIO_OUT = 1 };
void gpio_init(unsigned);
void gpio_set_dir(unsigned, bool);
void gpio_put(unsigned, bool);
void gpio_set_function(unsigned, enum gpio_function);
