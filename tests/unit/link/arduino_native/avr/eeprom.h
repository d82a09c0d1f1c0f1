/* eeprom.h: avr-libc's functions, which thermometer_play.cpp has. */
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif
void eeprom_read_block(void *to, const void *from, size_t bytes);
void eeprom_update_block(const void *from, void *to, size_t bytes);
#ifdef __cplusplus
}
#endif
