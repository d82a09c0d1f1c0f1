/* uno.c: the board of the paper's node: ATmega328P at 16 MHz. Datasheet: Microchip DS40002061B. */
#include "hal.h"
#include "node.h"

#include <avr/io.h>
#include <util/delay.h>

void node_init(void) {
    hal_init();
    /* Internal 1.1 V reference and channel 8, the temperature sensor (23.8); ADC clock 125 kHz. */
    ADMUX = (1 << REFS1) | (1 << REFS0) | (1 << MUX3);
    ADCSRA = (1 << ADEN) | (1 << ADPS2) | (1 << ADPS1) | (1 << ADPS0);
}

void node_write(uint8_t byte) {
    hal_write(byte);
}

void node_wait(uint16_t milliseconds) {
    while (milliseconds-- > 0) {
        _delay_ms(1);
    }
}

int16_t node_temperature(void) {
    ADCSRA |= (1 << ADSC);
    while (ADCSRA & (1 << ADSC)) {
    }
    /* 314 mV at 25 C, about 1 mV a degree (table 23-2): 1.074 mV a step; uncalibrated, +-10 C. */
    return (int16_t)((int16_t)((uint32_t)ADC * 1074 / 100) - 3140 + 250);
}
