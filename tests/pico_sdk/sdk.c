/* sdk.c: what an exported example calls of the Pico's SDK, on a simulated Pico: one UART, the timer, the flash.
 *
 * No interrupt and no second core is used. The simulator has no ADC: it always reads 876, which is 27.0 degrees.
 */
#include <hardware/adc.h>
#include <hardware/flash.h>
#include <hardware/sync.h>
#include <hardware/uart.h>
#include <pico/stdlib.h>
#include <pico/time.h>

#include "hal.h"
#include "storage.h"

#define AT(address) (*(volatile uint32_t *)(address))
#define UART_FLAGS 0x40034018u /* RP2040 datasheet, 4.2.8 */
#define TIMER_RAW_HIGH 0x40054024u
#define TIMER_RAW_LOW 0x40054028u

enum { UART_EMPTY = 0x10, LOOK_US = 50, STORAGE_FIRST = 1 << 20, PAGE = 256, SECTOR = 4096, ADC_READS = 876 };

uart_inst_t *const uart0 = 0;

absolute_time_t get_absolute_time(void) {
    uint32_t high, low;

    do {
        high = AT(TIMER_RAW_HIGH);
        low = AT(TIMER_RAW_LOW);
    } while (high != AT(TIMER_RAW_HIGH));
    return (uint64_t)high << 32 | low;
}

uint32_t to_ms_since_boot(absolute_time_t time) {
    return (uint32_t)(time / 1000);
}

/* The simulator skips most rounds of a loop that reads one register and does nothing else. */
static void wait_us(uint32_t us) {
    uint32_t end = AT(TIMER_RAW_LOW) + us;

    while ((int32_t)(AT(TIMER_RAW_LOW) - end) < 0) {
    }
}

void sleep_us(uint64_t us) {
    wait_us((uint32_t)us);
}

void sleep_ms(uint32_t ms) {
    wait_us(1000 * ms);
}

unsigned uart_init(uart_inst_t *uart, unsigned baud) {
    (void)uart;
    hal_init(); /* at 115200 baud */
    return baud;
}

bool uart_is_readable(uart_inst_t *uart) {
    (void)uart;
    return !(AT(UART_FLAGS) & UART_EMPTY);
}

bool uart_is_readable_within_us(uart_inst_t *uart, uint32_t us) {
    for (; !uart_is_readable(uart); us -= LOOK_US) {
        if (us < LOOK_US) {
            return false;
        }
        wait_us(LOOK_US);
    }
    return true;
}

char uart_getc(uart_inst_t *uart) {
    (void)uart;
    return (char)hal_read();
}

void uart_write_blocking(uart_inst_t *uart, const uint8_t *bytes, size_t count) {
    (void)uart;
    while (count-- > 0) {
        hal_write(*bytes++);
    }
}

void uart_puts(uart_inst_t *uart, const char *text) {
    (void)uart;
    while (*text != 0) {
        hal_write((uint8_t)*text++);
    }
}

void flash_range_erase(uint32_t at, size_t count) {
    for (size_t done = 0; done < count; done += SECTOR) {
        (void)storage_nor.erase(at + done - STORAGE_FIRST);
    }
}

void flash_range_program(uint32_t at, const uint8_t *data, size_t count) {
    (void)storage_nor.program(at - STORAGE_FIRST, data, count / PAGE * PAGE);
}

uint32_t save_and_disable_interrupts(void) {
    return 0;
}

void restore_interrupts(uint32_t interrupts) {
    (void)interrupts;
}

void gpio_set_function(unsigned pin, enum gpio_function function) {
    (void)pin;
    (void)function;
}

void adc_init(void) {
}

void adc_set_temp_sensor_enabled(bool on) {
    (void)on;
}

void adc_select_input(unsigned input) {
    (void)input;
}

uint16_t adc_read(void) {
    return ADC_READS;
}

void gpio_init(unsigned pin) {
    (void)pin;
}

void gpio_set_dir(unsigned pin, bool out) {
    (void)pin;
    (void)out;
}

void gpio_put(unsigned pin, bool high) {
    (void)pin;
    (void)high;
}
