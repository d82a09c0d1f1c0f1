/* delay.h: the harness counts what would be waited. */
void delay_us(double us);
#define _delay_us(us) delay_us(us)
#define _delay_ms(ms) delay_us(1000.0 * (ms))
