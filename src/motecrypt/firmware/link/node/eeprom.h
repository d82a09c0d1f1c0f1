/* eeprom.h: a node's storage in an AVR's own EEPROM: LINK_STORAGE_BYTES from an address on. */
#ifndef MOTECRYPT_LINK_EEPROM_H
#define MOTECRYPT_LINK_EEPROM_H

#include <stdint.h>

typedef uint16_t link_place; /* the address of the first byte */

#endif
