/* eeprom.h: avr-libc's functions, which the harness has. */
#include <stdint.h>
uint8_t eeprom_read_byte(const uint8_t *at);
void eeprom_update_byte(uint8_t *at, uint8_t byte);
void eeprom_busy_wait(void);
