/* SPDX-License-Identifier: GPL-3.0-or-later -- part of the drivers that link libsimavr.
 * avr_stacks.h: what a write of the stack pointer means: half of a new value, room for a frame, or another stack, as of a
 * task. Encodings: AVR Instruction Set Manual DS40002198.
 */
#ifndef MOTECRYPT_AVR_STACKS_H
#define MOTECRYPT_AVR_STACKS_H

#include <simavr/sim_avr.h>
#include <stdbool.h>
#include <stdint.h>

#include "avr_guard.h"

enum sp_load { SP_NO_LOAD, SP_HALF, SP_LOADED };
enum {
    SP_PAIR_WORDS = 4,   /* between the two halves: OUT SREG, or a load of the other half */
    SP_ORIGIN_WORDS = 24 /* before them, where their value is made */
};

static inline bool is_sp_half(uint16_t op) { /* OUT SPL, OUT SPH */
    return (op & 0xFE0F) == 0xBE0D || (op & 0xFE0F) == 0xBE0E;
}

/* The other half's place, up to SP_PAIR_WORDS before (step -2) or after (step 2); UINT32_MAX: none. */
static inline uint32_t sp_partner(const avr_t *avr, uint32_t half, int32_t step) {
    uint32_t at = half;
    for (int i = 0; i < SP_PAIR_WORDS && at + (uint32_t)step <= avr->flashend; i++) {
        at += (uint32_t)step;
        if (is_sp_half(opcode_at(avr, at)) && ((opcode_at(avr, at) ^ opcode_at(avr, half)) & 0x000F) != 0) {
            return at;
        }
    }
    return UINT32_MAX;
}

/* What the stack pointer is after the instruction at `pc`: between its two halves it is nonsense. */
static inline enum sp_load sp_load_at(const avr_t *avr, uint32_t pc) {
    uint32_t half = pc;
    for (int i = 0; !is_sp_half(opcode_at(avr, half)); i++) {
        if (i == SP_PAIR_WORDS - 1 || half < 2) {
            return SP_NO_LOAD;
        }
        half -= 2;
    }
    if (sp_partner(avr, half, -2) == UINT32_MAX && sp_partner(avr, half, 2) != UINT32_MAX) {
        return SP_HALF;
    }
    return half == pc ? SP_LOADED : SP_NO_LOAD;
}

/* The register that an arithmetic instruction or a copy at `op` takes the value of `r` from; `r` itself where `op` does not
 * write it; -1 where it is made otherwise. */
static inline int sp_source(uint16_t op, int r) {
    int low = op >> 4 & 31, high = 16 + (op >> 4 & 15);
    if ((op & 0xFF00) == 0x0100) { /* MOVW */
        return (op >> 4 & 15) == r / 2 ? 2 * (op & 15) + (r & 1) : r;
    }
    if ((op & 0xFC00) == 0x2C00) { /* MOV */
        return low == r ? (op & 15) | (op >> 5 & 16) : r;
    }
    if ((op & 0xFE00) == 0x9600 || (op >= 0x4000 && op < 0x8000) || (op >= 0x0800 && op < 0x2000)) {
        return r; /* ADIW, SBIW; with a number; ADD, ADC, SUB, SBC and comparisons: made of itself */
    }
    if ((op & 0xF000) == 0xE000) { /* LDI */
        return high == r ? -1 : r;
    }
    if ((op & 0xD200) == 0x8000 || (op & 0xFE00) == 0x9000 || (op & 0xF800) == 0xB000 || (op & 0xFC00) == 0x2400) {
        return low == r ? -1 : r; /* LDD, LD and POP, IN, EOR */
    }
    return r;
}

/* Whether the value that the load at `pc` completes was computed from the stack pointer: room for a frame, or its end. From
 * memory or a number it is another stack. */
static inline bool sp_is_computed(const avr_t *avr, uint32_t pc) {
    uint32_t other = sp_partner(avr, pc, -2), at = other != UINT32_MAX ? other : pc;
    int r = opcode_at(avr, at) >> 4 & 31;
    for (int i = 0; i < SP_ORIGIN_WORDS && at >= 2 && r >= 0; i++) {
        uint16_t op = opcode_at(avr, at -= 2);
        if (((op & 0xFE0F) == 0xB60D || (op & 0xFE0F) == 0xB60E) && (op >> 4 & 31) == r) { /* IN SPL, IN SPH */
            return true;
        }
        r = sp_source(op, r);
    }
    return false;
}

#endif
