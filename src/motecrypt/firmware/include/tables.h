/* tables.h: constant tables, where the build's placement puts them.
 *
 *   TABLE uint8_t sbox[256] = {...};   ...   TABLE_READ8(&sbox[i])
 *
 * On AVR a plain `const` table would be copied into RAM at start-up (avr-gcc keeps data in flash
 * only on request), so by default it goes to program memory. With TABLES_IN_RAM (placement
 * "ram") it is an ordinary initialised array: faster on AVR (ld 2 cycles, lpm 3), free of the flash
 * cache on RP2040, and paid for in RAM.
 */
#ifndef MOTECRYPT_TABLES_H
#define MOTECRYPT_TABLES_H

#include <stdint.h>

#if defined(__AVR__) && !defined(TABLES_IN_RAM)
#include <avr/pgmspace.h>
#define TABLE static const PROGMEM
#define TABLE_READ8(address) pgm_read_byte(address)
#define TABLE_READ16(address) pgm_read_word(address)
#define TABLE_READ32(address) pgm_read_dword(address)
#elif defined(TABLES_IN_RAM) && !defined(__AVR__)
#define TABLE static const __attribute__((section(".data.tables")))
#define TABLE_READ8(address) (*(const uint8_t *)(address))
#define TABLE_READ16(address) (*(const uint16_t *)(address))
#define TABLE_READ32(address) (*(const uint32_t *)(address))
#else
#define TABLE static const
#define TABLE_READ8(address) (*(const uint8_t *)(address))
#define TABLE_READ16(address) (*(const uint16_t *)(address))
#define TABLE_READ32(address) (*(const uint32_t *)(address))
#endif

#endif
