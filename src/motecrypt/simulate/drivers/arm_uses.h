/* SPDX-License-Identifier: MIT
 * arm_uses.h: which registers and flags a Thumb instruction of ARMv6-M reads and writes, for the instructions
 * that waiting loops consist of. Encodings: ARM DDI 0419, chapter A5. It does not depend on arm_machine.h.
 */
#ifndef MOTECRYPT_ARM_USES_H
#define MOTECRYPT_ARM_USES_H

#include <stdbool.h>
#include <stdint.h>

#include "arm_thumb.h"

/* Bits 0 to 14 are registers; these are flags. N and Z are always written together. */
enum { USES_NZ = 1 << 16, USES_C = 1 << 17, USES_V = 1 << 18 };

struct thumb_uses {
    uint32_t reads, writes;
};

static inline uint32_t uses_bit(unsigned number) {
    return UINT32_C(1) << number;
}

/* Shift by a number, add, subtract (tops 0 and 1): with LSL #0, MOVS, the carry stays. */
static inline struct thumb_uses uses_of_shift_or_sum(uint16_t code) {
    struct thumb_uses out = {uses_bit(code >> 3 & 7u), uses_bit(code & 7u) | USES_NZ};
    if ((code & 0x1800u) != 0x1800u) {
        out.writes |= (code & 0xFFC0u) != 0 ? USES_C : 0;
        return out;
    }
    out.reads |= (code & 0x0400u) ? 0 : uses_bit(code >> 6 & 7u);
    out.writes |= USES_C | USES_V;
    return out;
}

/* Move, compare, add, subtract a number of 8 bits (tops 2 and 3). */
static inline struct thumb_uses uses_of_number(uint16_t code) {
    uint32_t target = uses_bit(code >> 8 & 7u);
    switch (code >> 11 & 3u) {
    case 0:
        return (struct thumb_uses){0, target | USES_NZ};
    case 1:
        return (struct thumb_uses){target, USES_NZ | USES_C | USES_V};
    default:
        return (struct thumb_uses){target, target | USES_NZ | USES_C | USES_V};
    }
}

/* Data processing (A5.2.2). A shift by a register leaves the carry where it shifts by nothing: read, too. */
static inline struct thumb_uses uses_of_data(uint16_t code) {
    uint32_t target = uses_bit(code & 7u), source = uses_bit(code >> 3 & 7u);
    struct thumb_uses out = {target | source, target | USES_NZ};
    switch (code >> 6 & 15u) {
    case 2: /* LSL, LSR, ASR, ROR */
    case 3:
    case 4:
    case 7:
        out.reads |= USES_C;
        out.writes |= USES_C;
        break;
    case 5: /* ADC, SBC */
    case 6:
        out.reads |= USES_C;
        out.writes |= USES_C | USES_V;
        break;
    case 8: /* TST */
        out.writes = USES_NZ;
        break;
    case 9: /* RSB */
        out.reads = source;
        out.writes |= USES_C | USES_V;
        break;
    case 10: /* CMP, CMN */
    case 11:
        out.writes = USES_NZ | USES_C | USES_V;
        break;
    case 15: /* MVN */
        out.reads = source;
        break;
    default: /* AND, EOR, ORR, MUL, BIC */
        break;
    }
    return out;
}

/* ADD, CMP, MOV of any two registers (A5.2.3); waiting loops use neither the stack pointer nor the counter.
 * */
static inline bool uses_of_any(uint16_t code, struct thumb_uses *out) {
    unsigned target = (code & 7u) | (code >> 4 & 8u), source = code >> 3 & 15u;
    if (target >= THUMB_SP || source >= THUMB_SP) {
        return false;
    }
    switch (code >> 8 & 3u) {
    case 0:
        *out = (struct thumb_uses){uses_bit(target) | uses_bit(source), uses_bit(target)};
        return true;
    case 1:
        *out = (struct thumb_uses){uses_bit(target) | uses_bit(source), USES_NZ | USES_C | USES_V};
        return true;
    case 2:
        *out = (struct thumb_uses){uses_bit(source), uses_bit(target)};
        return true;
    default:
        return false;
    }
}

static inline struct thumb_uses uses_of_condition(unsigned condition) {
    static const uint32_t flags[] = {USES_NZ, USES_C,           USES_NZ,          USES_V,
                                     USES_C | USES_NZ, USES_NZ | USES_V, USES_NZ | USES_V};
    return (struct thumb_uses){flags[condition / 2 % 7], 0};
}

/* False: an instruction that is not known here, or that does more than compute. Loads are known, of one
 * register, but not what they read of memory. */
static inline bool thumb_uses(uint16_t code, const struct thumb_instruction *instruction, struct thumb_uses *out) {
    struct thumb_access access;
    switch (instruction->class) {
    case THUMB_multiply:
        *out = uses_of_data(code);
        return true;
    case THUMB_load:
        access = thumb_access(code, instruction);
        *out = (struct thumb_uses){access.base < 8 ? uses_bit(access.base) : 0,
                                   uses_bit(code >> 12 == 4 || code >> 12 == 9 ? code >> 8 & 7u : code & 7u)};
        out->reads |= access.index >= 0 ? uses_bit((unsigned)access.index) : 0;
        return true;
    case THUMB_branch_if:
        *out = uses_of_condition(code >> 8 & 15u);
        return (code >> 8 & 15u) < 14;
    case THUMB_branch:
        *out = (struct thumb_uses){0, 0};
        return code >> 12 == 14;
    case THUMB_alu:
        break;
    default:
        return false;
    }
    if (code >> 12 <= 1) {
        *out = uses_of_shift_or_sum(code);
    } else if (code >> 12 <= 3) {
        *out = uses_of_number(code);
    } else if ((code & 0xFC00u) == 0x4000u) {
        *out = uses_of_data(code);
    } else if ((code & 0xFC00u) == 0x4400u) {
        return uses_of_any(code, out);
    } else if ((code & 0xFF00u) == 0xB200u || (code & 0xFF00u) == 0xBA00u) { /* extend, reverse */
        *out = (struct thumb_uses){uses_bit(code >> 3 & 7u), uses_bit(code & 7u)};
    } else if (code == 0xBF00u) { /* NOP */
        *out = (struct thumb_uses){0, 0};
    } else {
        return false;
    }
    return true;
}

#endif
