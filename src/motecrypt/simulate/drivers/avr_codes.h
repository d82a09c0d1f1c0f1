/* SPDX-License-Identifier: GPL-3.0-or-later -- part of the drivers that link libsimavr.
 * avr_codes.h: which codes of 16 bits a chip has as instructions, and how long each is, by the AVR instruction set
 * manual (DS40002198). It does not run them.
 *
 * What a chip has follows from its memories: JMP and CALL with more than 8 KB of flash, ELPM with more than 64 KB,
 * EIJMP and EICALL with a program counter of 22 bits; an ATtiny has no multiplier. No chip here is an
 * ATxmega, which alone have DES, XCH, LAS, LAC, LAT and SPM Z+. A test compares each device with its assembler.
 */
#ifndef MOTECRYPT_AVR_CODES_H
#define MOTECRYPT_AVR_CODES_H

#include <simavr/sim_avr.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "avr_guard.h"

enum { CODE_CRASH_BYTES = 160, ERASED = 0xFFFF };
enum { CODES = 1 << 16, SKIPPED_TWO = 6 /* bytes from a skip over an instruction of two words to the next */ };
enum { RJMP_REACHES = 1 << 13, LPM_REACHES = 1 << 16, WORDS_OF_16_BITS = 1 << 17 /* bytes of flash */ };

static uint8_t lacking[CODES / 8]; /* a bit each */

static inline bool code_is_lacking(uint16_t code) {
    return lacking[code >> 3] >> (code & 7) & 1;
}

/* LDS, STS, JMP, CALL. */
static inline bool code_has_two_words(uint16_t code) {
    return (code & 0xFC0F) == 0x9000 || (code & 0xFE0C) == 0x940C;
}

/* CPSE; SBRC, SBRS; SBIC, SBIS. */
static inline bool code_skips(uint16_t code) {
    return (code & 0xFC00) == 0x1000 || (code & 0xFC08) == 0xFC00 || (code & 0xFD00) == 0x9900;
}

/* Cycles of an instruction that reads or writes a register of the chip: IN, OUT, SBIC and SBIS one, the others two. It
 * reads in the last one, and writes at its end. */
static inline unsigned code_access_cycles(uint16_t code) {
    return (code & 0xF000) == 0xB000 || (code & 0xFD00) == 0x9900 ? 1 : 2;
}

/* 1001 000d dddd xxxx and 1001 001d dddd xxxx: LD, LDS, LPM, ELPM, POP; ST, STS, PUSH. */
static bool has_access(uint16_t code, bool elpm) {
    bool store = code & 0x200;
    switch (code & 0xF) {
    case 0x3:
    case 0x8:
    case 0xB:
        return false;
    case 0x4:
    case 0x5:
        return !store; /* LPM; stores: XCH, LAS */
    case 0x6:
    case 0x7:
        return !store && elpm; /* stores: LAC, LAT */
    default:
        return true;
    }
}

/* 1001 010x xxxx xxxx: one operand, and none. */
static bool has_single(uint16_t code, bool jumps, bool elpm, bool extended) {
    switch (code & 0xF) {
    case 0x4:
    case 0xB: /* DES */
        return false;
    case 0x8:
        switch (code >> 4 & 0x1F) {
        case 0x10: /* RET */
        case 0x11: /* RETI */
        case 0x18: /* SLEEP */
        case 0x19: /* BREAK */
        case 0x1A: /* WDR */
        case 0x1C: /* LPM */
        case 0x1E: /* SPM */
            return true;
        case 0x1D: /* ELPM */
            return elpm;
        default:
            return (code & 0x100) == 0; /* BSET, BCLR */
        }
    case 0x9: /* IJMP, EIJMP; ICALL, EICALL */
        return (code & 0xEF) == 0x09 && (extended || (code & 0x10) == 0);
    case 0xC:
    case 0xD:
    case 0xE:
    case 0xF:
        return jumps;
    default:
        return true;
    }
}

static bool has_code(uint16_t code, bool jumps, bool multiplies, bool elpm, bool extended) {
    switch (code >> 12) {
    case 0x0: /* NOP; MOVW; MULS; MULSU, FMUL, FMULS, FMULSU; CPC, SBC, ADD */
        return code == 0 || (code >> 8) == 1 || (code >> 10) > 0 || ((code >> 9) == 1 && multiplies);
    case 0x9:
        if ((code & 0xC00) == 0) {
            return has_access(code, elpm);
        }
        if ((code & 0xE00) == 0x400) {
            return has_single(code, jumps, elpm, extended);
        }
        return (code & 0xC00) != 0xC00 || multiplies; /* else ADIW, SBIW, CBI, SBIC, SBI, SBIS; MUL */
    case 0xF:
        /* Branches; BLD, BST, SBRC, SBRS. Chips run over erased flash, up to a boot loader for instance. */
        return (code & 0x808) != 0x808 || code == ERASED;
    default:
        return true;
    }
}

/* After the chip is made. */
static void codes_open(const avr_t *avr) {
    bool jumps = avr->flashend >= RJMP_REACHES, elpm = avr->flashend >= LPM_REACHES,
         extended = avr->flashend >= WORDS_OF_16_BITS, multiplies = strncmp(avr->mmcu, "attiny", 6) != 0;
    memset(lacking, 0, sizeof lacking);
    for (uint32_t code = 0; code < CODES; code++) {
        if (!has_code((uint16_t)code, jumps, multiplies, elpm, extended)) {
            lacking[code >> 3] |= (uint8_t)(1u << (code & 7));
        }
    }
}

/* Why the chip crashed at `pc`: "no such instruction", with its code, or outside the flash. */
static void code_crash(const avr_t *avr, uint32_t pc, char *text, size_t bytes) {
    if (pc >= avr->flashend) {
        snprintf(text, bytes, "the firmware crashed at 0x%x: beyond the flash", (unsigned)pc);
    } else if (code_is_lacking(opcode_at(avr, pc))) {
        snprintf(text, bytes, "the firmware crashed at 0x%x: this chip has no instruction 0x%04x", (unsigned)pc, opcode_at(avr, pc));
    } else {
        snprintf(text, bytes, "the firmware crashed at 0x%x", (unsigned)pc);
    }
}

#endif
