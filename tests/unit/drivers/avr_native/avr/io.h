/* io.h: the ATmega328P's registers as far as the firmware uses them, for a computer: each asks the test's harness.
 * Bits: datasheet DS40002061B. */
#ifndef NATIVE_AVR_IO_H
#define NATIVE_AVR_IO_H

#include <stdint.h>

volatile uint32_t *register_of(const char *name);
#define REGISTER(name) (*register_of(#name))

#define ADC REGISTER(ADC)
#define ADCSRA REGISTER(ADCSRA)
#define ADMUX REGISTER(ADMUX)
#define GPIOR0 REGISTER(GPIOR0)
#define GPIOR1 REGISTER(GPIOR1)
#define GPIOR2 REGISTER(GPIOR2)
#define TCCR1A REGISTER(TCCR1A)
#define TCCR1B REGISTER(TCCR1B)
#define TCNT1 REGISTER(TCNT1)
#define TIFR1 REGISTER(TIFR1)
#define TIMSK1 REGISTER(TIMSK1)
#define UBRR0 REGISTER(UBRR0)
#define UCSR0A REGISTER(UCSR0A)
#define UCSR0B REGISTER(UCSR0B)
#define UCSR0C REGISTER(UCSR0C)
#define UDR0 REGISTER(UDR0)

enum { RXC0 = 7, UDRE0 = 5, U2X0 = 1 };
enum { RXEN0 = 4, TXEN0 = 3, UCSZ01 = 2, UCSZ00 = 1 };
enum { TOV1 = 0, TOIE1 = 0, CS10 = 0 };
enum { REFS1 = 7, REFS0 = 6, MUX3 = 3, ADEN = 7, ADSC = 6, ADPS2 = 2, ADPS1 = 1, ADPS0 = 0 };

uintptr_t stack_pointer(void);
#define SP stack_pointer()

#endif
