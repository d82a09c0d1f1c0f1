/* eeprom.c: see eeprom.h. */
#include "node.h"

#include <avr/eeprom.h>

void link_load(struct link *link, uint8_t at, uint8_t *to, uint8_t bytes) {
    eeprom_read_block(to, (const void *)(((struct link_node *)link)->place + at), bytes);
}

/* Each byte is erased and written by itself, in 3.4 ms; a byte that is there already is not written. */
void link_store(struct link *link, uint8_t at, const uint8_t *from, uint8_t bytes) {
    eeprom_update_block(from, (void *)(((struct link_node *)link)->place + at), bytes);
}
