#pragma once
#include <stddef.h>
#include <stdint.h>
#define XIP_BASE 0x10000000u
void flash_range_erase(uint32_t, size_t);
void flash_range_program(uint32_t, const uint8_t *, size_t);
