#pragma once
#include <stdint.h>
typedef struct {
    volatile uint32_t ctrl, freqa, freqb, dormant, div, phase, status;
} rosc_hw_t;
#define rosc_hw ((rosc_hw_t *)0x40060000u)
#define ROSC_DORMANT_VALUE_DORMANT 0x636f6d61u
#define ROSC_STATUS_STABLE_BITS 0x80000000u
