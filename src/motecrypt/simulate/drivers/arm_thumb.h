/* SPDX-License-Identifier: MIT
 * arm_thumb.h: what a cycle model needs of an ARMv6-M Thumb instruction: its class, how many registers
 * it moves, whether it ends a run of instructions. It contains no cycle figures: those come from the
 * device's descriptor (device.toml, [core.cycles]).
 * Encodings: ARM DDI 0419 (ARMv6-M Architecture Reference Manual), chapter A5.
 */
#ifndef MOTECRYPT_ARM_THUMB_H
#define MOTECRYPT_ARM_THUMB_H

#include <stdbool.h>
#include <stdint.h>

/* Instruction classes of ARM DDI 0484, table 3-1, as far as their cycles differ on any Cortex-M0+. */
#define THUMB_CLASSES(X)                                                                                     \
    X(alu)             /* move, add, subtract, compare, logic, shift, extend, reverse, CPS, NOP, SEV */      \
    X(multiply)        /* MULS */                                                                            \
    X(load)            /* LDR, LDRH, LDRB, LDRSH, LDRSB, literal loads */                                    \
    X(store)           /* STR, STRH, STRB */                                                                 \
    X(load_multiple)   /* LDM, without its registers */                                                      \
    X(store_multiple)  /* STM, without its registers */                                                      \
    X(push)            /* PUSH, without its registers */                                                     \
    X(pop)             /* POP without PC, without its registers */                                           \
    X(pop_pc)          /* POP with PC, without its registers */                                              \
    X(branch)          /* B */                                                                               \
    X(branch_if)       /* B<cond>, not taken */                                                              \
    X(branch_if_taken) /* B<cond>, taken: cycles beyond the not-taken ones */                                \
    X(branch_link)     /* BL */                                                                              \
    X(branch_exchange) /* BX, BLX */                                                                         \
    X(write_pc)        /* MOV PC, ADD PC */                                                                  \
    X(special)         /* MRS, MSR */                                                                        \
    X(barrier)         /* ISB, DMB, DSB */                                                                   \
    X(wait)            /* WFE, WFI */                                                                        \
    X(per_register)    /* each register of LDM, STM, PUSH, POP (PC and LR count) */

enum thumb_class {
#define X(name) THUMB_##name,
    THUMB_CLASSES(X)
#undef X
        THUMB_CLASS_COUNT
};

static const char *const thumb_class_names[THUMB_CLASS_COUNT] = {
#define X(name) #name,
    THUMB_CLASSES(X)
#undef X
};

struct thumb_instruction {
    uint8_t class;     /* enum thumb_class */
    uint8_t registers; /* moved by LDM, STM, PUSH, POP */
    uint8_t bytes;     /* 2 or 4 */
    uint8_t writes_sp; /* not 0: may change the stack pointer */
};

static inline uint8_t thumb_bits(uint32_t list) {
    uint8_t count = 0;
    for (; list != 0; list &= list - 1) {
        count++;
    }
    return count;
}

/* 32-bit encodings: BL, MSR, MRS and the barriers are all that ARMv6-M has (A5.3). */
static inline void thumb_decode_wide(uint16_t first, uint16_t second, struct thumb_instruction *out) {
    out->bytes = 4;
    if ((first & 0xF800u) == 0xF000u && (second & 0xD000u) == 0xD000u) {
        out->class = THUMB_branch_link;
    } else if ((first & 0xFFF0u) == 0xF3B0u) {
        out->class = THUMB_barrier;
    } else {
        out->class = THUMB_special;
        out->writes_sp = (first & 0xFFE0u) == 0xF380u; /* MSR MSP, MSR CONTROL */
    }
}

/* Data processing on high registers and BX, BLX (A5.2.3): 0100 01xx. */
static inline void thumb_decode_high(uint16_t code, struct thumb_instruction *out) {
    unsigned operation = (code >> 8) & 3u;
    unsigned target = (code & 7u) | ((code >> 4) & 8u);
    if (operation == 3) {
        out->class = THUMB_branch_exchange;
    } else if (operation != 1 && target == 15) {
        out->class = THUMB_write_pc;
    }
    out->writes_sp = operation != 3 && operation != 1 && target == 13;
}

/* Miscellaneous 16-bit instructions (A5.2.5): 1011 xxxx. */
static inline void thumb_decode_misc(uint16_t code, struct thumb_instruction *out) {
    if ((code & 0xFE00u) == 0xB400u) {
        out->class = THUMB_push;
        out->registers = thumb_bits(code & 0x1FFu);
        out->writes_sp = true;
    } else if ((code & 0xFE00u) == 0xBC00u) {
        out->class = (code & 0x100u) ? THUMB_pop_pc : THUMB_pop;
        out->registers = thumb_bits(code & 0x1FFu);
        out->writes_sp = true;
    } else if ((code & 0xFF00u) == 0xB000u) {
        out->writes_sp = true; /* ADD SP, SUB SP */
    } else if (code == 0xBF20u || code == 0xBF30u) {
        out->class = THUMB_wait;
    }
}

/* The instruction at `code`, with the halfword after it. */
static inline struct thumb_instruction thumb_decode(uint16_t code, uint16_t next) {
    struct thumb_instruction out = {THUMB_alu, 0, 2, 0};
    unsigned top = code >> 12;
    if (code >= 0xE800u) {
        thumb_decode_wide(code, next, &out);
    } else if ((code & 0xFC00u) == 0x4400u) {
        thumb_decode_high(code, &out);
    } else if ((code & 0xFFC0u) == 0x4340u) {
        out.class = THUMB_multiply;
    } else if ((code & 0xF800u) == 0x4800u) {
        out.class = THUMB_load;
    } else if (top == 5) {
        out.class = (code >> 9 & 7u) <= 2u ? THUMB_store : THUMB_load; /* STR STRH STRB are 0, 1, 2 */
    } else if (top >= 6 && top <= 9) {
        out.class = (code & 0x0800u) ? THUMB_load : THUMB_store;
    } else if (top == 11) {
        thumb_decode_misc(code, &out);
    } else if (top == 12) {
        out.class = (code & 0x0800u) ? THUMB_load_multiple : THUMB_store_multiple;
        out.registers = thumb_bits(code & 0xFFu);
    } else if (top == 13) {
        out.class = (code & 0x0E00u) == 0x0E00u ? THUMB_branch : THUMB_branch_if; /* 1110 UDF, 1111 SVC */
    } else if (top == 14) {
        out.class = THUMB_branch;
    }
    return out;
}

/* CPSIE i, f, if and MSR PRIMASK (ARM DDI 0419, chapter on system instructions); BASEPRI, BASEPRI_MAX, FAULTMASK (DDI 0403). */
static inline bool thumb_unmasks(uint16_t code, uint16_t next) {
    return (code >= 0xB661u && code <= 0xB663u) || ((code & 0xFFF0u) == 0xF380u && (next & 0xFFu) >= 16 && (next & 0xFFu) <= 19);
}

enum thumb_access_kind { THUMB_NO_ACCESS, THUMB_READS, THUMB_WRITES };

enum { THUMB_SP = 13, THUMB_PC = 15 };

/* What an instruction touches: `units` of `bytes` bytes each, from base + index + offset upwards. */
struct thumb_access {
    uint8_t kind;   /* enum thumb_access_kind */
    uint8_t base;   /* a register; THUMB_PC: rounded down to a word, 4 bytes ahead */
    int8_t index;   /* a register, or -1 */
    uint8_t bytes;  /* 1, 2 or 4 */
    uint8_t units;  /* more than 1 for LDM, STM, PUSH, POP */
    int16_t offset; /* bytes */
    uint8_t shift;  /* of the index, to the left */
};

/* LDR, STR and their kin by register, and by immediate: tops 5 to 9 (A5.2.4). */
static inline void thumb_single_access(uint16_t code, unsigned top, struct thumb_access *out) {
    static const uint8_t bytes_by_register[] = {4, 2, 1, 1, 4, 2, 1, 2};
    unsigned immediate = (code >> 6) & 31u;
    out->base = (code >> 3) & 7u;
    if (top == 5) {
        out->index = (int8_t)immediate & 7;
        out->bytes = bytes_by_register[(code >> 9) & 7u];
    } else if (top == 9) {
        out->base = THUMB_SP;
        out->bytes = 4;
        out->offset = (int16_t)((code & 0xFFu) * 4u);
    } else {
        out->bytes = top == 6 ? 4 : top == 7 ? 1 : 2;
        out->offset = (int16_t)(immediate * out->bytes);
    }
}

static inline struct thumb_access thumb_access(uint16_t code, const struct thumb_instruction *instruction) {
    struct thumb_access out = {THUMB_READS, THUMB_SP, -1, 4, 1, 0, 0};
    switch (instruction->class) {
    case THUMB_store:
        out.kind = THUMB_WRITES;
        thumb_single_access(code, code >> 12, &out);
        break;
    case THUMB_load:
        if (code >> 12 == 4) {
            out.base = THUMB_PC;
            out.offset = (int16_t)((code & 0xFFu) * 4u);
        } else {
            thumb_single_access(code, code >> 12, &out);
        }
        break;
    case THUMB_load_multiple:
    case THUMB_store_multiple:
        out.kind = instruction->class == THUMB_load_multiple ? THUMB_READS : THUMB_WRITES;
        out.base = (code >> 8) & 7u;
        out.units = instruction->registers;
        break;
    case THUMB_push:
        out.kind = THUMB_WRITES;
        out.units = instruction->registers;
        out.offset = (int16_t)(-4 * instruction->registers);
        break;
    case THUMB_pop:
    case THUMB_pop_pc:
        out.units = instruction->registers;
        break;
    default:
        out.kind = THUMB_NO_ACCESS;
    }
    return out;
}

/* Cycles of one instruction, not taken if it is a conditional branch. */
static inline uint32_t thumb_cycles(const struct thumb_instruction *instruction, const uint32_t *cost) {
    return cost[instruction->class] + instruction->registers * cost[THUMB_per_register];
}

#endif
