/* SPDX-License-Identifier: MIT
 * arm_thumb2.h: the instructions of ARMv7-M (Thumb-2), as far as a cycle model needs them: class, registers
 * written, registers of the address, and what is accessed. 16-bit instructions that ARMv6-M has, too, are
 * decoded by arm_thumb.h. It contains no cycle figures.
 * Encodings: ARM DDI 0403 (ARMv7-M Architecture Reference Manual), chapter A5.
 */
#ifndef MOTECRYPT_ARM_THUMB2_H
#define MOTECRYPT_ARM_THUMB2_H

#include <stddef.h>

#include "arm_thumb.h"
#include "bounds.h"

/* Classes beyond those of ARMv6-M. */
enum thumb2_class {
    THUMB2_multiply_accumulate = THUMB_CLASS_COUNT, /* MLA, MLS, and DSP multiplications that accumulate */
    THUMB2_multiply_long,                           /* SMULL, UMULL */
    THUMB2_multiply_long_accumulate,                /* SMLAL, UMLAL, UMAAL and their kin */
    THUMB2_divide,                                  /* SDIV, UDIV */
    THUMB2_store_indexed,                           /* a store to base + register */
    THUMB2_load_pc,                                 /* LDR PC, LDM with PC */
    THUMB2_table_branch,                            /* TBB, TBH */
    THUMB2_compare_branch,                          /* CBZ, CBNZ */
    THUMB2_if_then,                                 /* IT */
    THUMB2_nop,
    THUMB2_float /* the floating-point unit, and other coprocessors */
};

/* How the fields of a 32-bit encoding are read. */
enum thumb2_form {
    FORM_NONE,     /* writes no register */
    FORM_RD,       /* the destination is in bits 11 to 8 of the second halfword */
    FORM_COMPARES, /* the same; none where it is 15 and the instruction sets flags: TST, TEQ, CMN, CMP */
    FORM_LONG,     /* two destinations: bits 15 to 12 and 11 to 8 */
    FORM_SINGLE,   /* LDR, STR and their kin */
    FORM_DUAL,     /* LDRD, STRD */
    FORM_MULTIPLE, /* LDM, STM */
    FORM_EXCLUSIVE,
    FORM_TABLE /* TBB, TBH */
};

struct thumb2_row {
    uint32_t mask, value; /* of both halfwords, the first one high */
    uint8_t class, form;
    const char *name;
};

/* The first row that fits counts. */
static const struct thumb2_row thumb2_rows[] = {
    /* load and store, several registers, exclusive, table branches: A5.3.5, A5.3.6 */
    {0xFFF0FFF0u, 0xE8D0F000u, THUMB2_table_branch, FORM_TABLE, "TBB"},
    {0xFFF0FFF0u, 0xE8D0F010u, THUMB2_table_branch, FORM_TABLE, "TBH"},
    {0xFFF00000u, 0xE8400000u, THUMB_store, FORM_EXCLUSIVE, "STREX"},
    {0xFFF00000u, 0xE8500000u, THUMB_load, FORM_EXCLUSIVE, "LDREX"},
    {0xFFF00FE0u, 0xE8C00F40u, THUMB_store, FORM_EXCLUSIVE, "STREXB or STREXH"},
    {0xFFF00FE0u, 0xE8D00F40u, THUMB_load, FORM_EXCLUSIVE, "LDREXB or LDREXH"},
    {0xFFF00F80u, 0xE8C00F80u, THUMB_store, FORM_EXCLUSIVE, "STL or STLEX"}, /* ARMv8-M: DDI 0553, C2.3 */
    {0xFFF00F80u, 0xE8D00F80u, THUMB_load, FORM_EXCLUSIVE, "LDA or LDAEX"},
    {0xFE500000u, 0xE8400000u, THUMB_store_multiple, FORM_DUAL, "STRD"},
    {0xFE500000u, 0xE8500000u, THUMB_load_multiple, FORM_DUAL, "LDRD"},
    {0xFFD08000u, 0xE8908000u, THUMB2_load_pc, FORM_MULTIPLE, "LDM"},
    {0xFFD08000u, 0xE9108000u, THUMB2_load_pc, FORM_MULTIPLE, "LDMDB"},
    {0xFFD00000u, 0xE8800000u, THUMB_store_multiple, FORM_MULTIPLE, "STM"},
    {0xFFD00000u, 0xE8900000u, THUMB_load_multiple, FORM_MULTIPLE, "LDM"},
    {0xFFD00000u, 0xE9000000u, THUMB_store_multiple, FORM_MULTIPLE, "STMDB"},
    {0xFFD00000u, 0xE9100000u, THUMB_load_multiple, FORM_MULTIPLE, "LDMDB"},
    /* data processing with a shifted register: A5.3.11; the first operand of MOV and MVN is 15 */
    {0xFFEF0000u, 0xEA4F0000u, THUMB_alu, FORM_RD, "MOV"},
    {0xFFEF0000u, 0xEA6F0000u, THUMB_alu, FORM_RD, "MVN"},
    {0xFFE00000u, 0xEA000000u, THUMB_alu, FORM_COMPARES, "AND or TST"},
    {0xFFE00000u, 0xEA200000u, THUMB_alu, FORM_RD, "BIC"},
    {0xFFE00000u, 0xEA400000u, THUMB_alu, FORM_RD, "ORR"},
    {0xFFE00000u, 0xEA600000u, THUMB_alu, FORM_RD, "ORN"},
    {0xFFE00000u, 0xEA800000u, THUMB_alu, FORM_COMPARES, "EOR or TEQ"},
    {0xFFE00000u, 0xEAC00000u, THUMB_alu, FORM_RD, "PKHBT or PKHTB"},
    {0xFFE00000u, 0xEB000000u, THUMB_alu, FORM_COMPARES, "ADD or CMN"},
    {0xFFE00000u, 0xEB400000u, THUMB_alu, FORM_RD, "ADC"},
    {0xFFE00000u, 0xEB600000u, THUMB_alu, FORM_RD, "SBC"},
    {0xFFE00000u, 0xEBA00000u, THUMB_alu, FORM_COMPARES, "SUB or CMP"},
    {0xFFE00000u, 0xEBC00000u, THUMB_alu, FORM_RD, "RSB"},
    {0xEC000000u, 0xEC000000u, THUMB2_float, FORM_NONE, "a floating-point or coprocessor instruction"},
    /* branches and control: A5.3.4 */
    {0xFFE0D000u, 0xF3808000u, THUMB_special, FORM_NONE, "MSR"},
    {0xFFE0D000u, 0xF3E08000u, THUMB_special, FORM_RD, "MRS"},
    {0xFFF0D0FFu, 0xF3A08000u, THUMB2_nop, FORM_NONE, "NOP"},
    {0xFFF0D0FEu, 0xF3A08002u, THUMB_wait, FORM_NONE, "WFE or WFI"},
    {0xFFF0D000u, 0xF3A08000u, THUMB_alu, FORM_NONE, "a hint"},
    {0xFFF0D0F0u, 0xF3B08060u, THUMB_barrier, FORM_NONE, "ISB"},
    {0xFFF0D000u, 0xF3B08000u, THUMB_alu, FORM_NONE, "DMB, DSB or CLREX"},
    {0xFFF0F000u, 0xF7F0A000u, THUMB_alu, FORM_NONE, "UDF"},
    {0xF800D000u, 0xF0008000u, THUMB_branch_if, FORM_NONE, "B<cond>"},
    {0xF800D000u, 0xF0009000u, THUMB_branch, FORM_NONE, "B"},
    {0xF800D000u, 0xF000D000u, THUMB_branch_link, FORM_NONE, "BL"},
    /* data processing with a number: A5.3.1, A5.3.3 */
    {0xFBEF8000u, 0xF04F0000u, THUMB_alu, FORM_RD, "MOV"},
    {0xFBEF8000u, 0xF06F0000u, THUMB_alu, FORM_RD, "MVN"},
    {0xFBE08000u, 0xF0000000u, THUMB_alu, FORM_COMPARES, "AND or TST"},
    {0xFBE08000u, 0xF0200000u, THUMB_alu, FORM_RD, "BIC"},
    {0xFBE08000u, 0xF0400000u, THUMB_alu, FORM_RD, "ORR"},
    {0xFBE08000u, 0xF0600000u, THUMB_alu, FORM_RD, "ORN"},
    {0xFBE08000u, 0xF0800000u, THUMB_alu, FORM_COMPARES, "EOR or TEQ"},
    {0xFBE08000u, 0xF1000000u, THUMB_alu, FORM_COMPARES, "ADD or CMN"},
    {0xFBE08000u, 0xF1400000u, THUMB_alu, FORM_RD, "ADC"},
    {0xFBE08000u, 0xF1600000u, THUMB_alu, FORM_RD, "SBC"},
    {0xFBE08000u, 0xF1A00000u, THUMB_alu, FORM_COMPARES, "SUB or CMP"},
    {0xFBE08000u, 0xF1C00000u, THUMB_alu, FORM_RD, "RSB"},
    {0xFBF08000u, 0xF2000000u, THUMB_alu, FORM_RD, "ADDW"},
    {0xFBF08000u, 0xF2400000u, THUMB_alu, FORM_RD, "MOVW"},
    {0xFBF08000u, 0xF2A00000u, THUMB_alu, FORM_RD, "SUBW"},
    {0xFBF08000u, 0xF2C00000u, THUMB_alu, FORM_RD, "MOVT"},
    {0xFBD08000u, 0xF3000000u, THUMB_alu, FORM_RD, "SSAT"},
    {0xFBF08000u, 0xF3400000u, THUMB_alu, FORM_RD, "SBFX"},
    {0xFBF08000u, 0xF3600000u, THUMB_alu, FORM_RD, "BFI or BFC"},
    {0xFBD08000u, 0xF3800000u, THUMB_alu, FORM_RD, "USAT"},
    {0xFBF08000u, 0xF3C00000u, THUMB_alu, FORM_RD, "UBFX"},
    /* load and store, one register: A5.3.7 to A5.3.10; preloads have the target 15 */
    {0xFE70F000u, 0xF810F000u, THUMB_alu, FORM_NONE, "PLD or PLI"},
    {0xFE70F000u, 0xF830F000u, THUMB_alu, FORM_NONE, "a hint"},
    {0xFF70F000u, 0xF850F000u, THUMB2_load_pc, FORM_SINGLE, "LDR"},
    {0xFFF00FC0u, 0xF8000000u, THUMB2_store_indexed, FORM_SINGLE, "STRB"},
    {0xFFF00FC0u, 0xF8200000u, THUMB2_store_indexed, FORM_SINGLE, "STRH"},
    {0xFFF00FC0u, 0xF8400000u, THUMB2_store_indexed, FORM_SINGLE, "STR"},
    {0xFF700000u, 0xF8000000u, THUMB_store, FORM_SINGLE, "STRB"},
    {0xFF700000u, 0xF8200000u, THUMB_store, FORM_SINGLE, "STRH"},
    {0xFF700000u, 0xF8400000u, THUMB_store, FORM_SINGLE, "STR"},
    {0xFE700000u, 0xF8100000u, THUMB_load, FORM_SINGLE, "LDRB or LDRSB"},
    {0xFE700000u, 0xF8300000u, THUMB_load, FORM_SINGLE, "LDRH or LDRSH"},
    {0xFF700000u, 0xF8500000u, THUMB_load, FORM_SINGLE, "LDR"},
    /* data processing of registers: A5.3.12; multiplications: A5.3.16, A5.3.17 */
    {0xFF80F0F0u, 0xFA00F000u, THUMB_alu, FORM_RD, "LSL, LSR, ASR or ROR"},
    {0xFF80F080u, 0xFA00F080u, THUMB_alu, FORM_RD, "SXTB, UXTB or one of their kin"},
    {0xFFC0F0C0u, 0xFA80F080u, THUMB_alu, FORM_RD, "QADD, REV, RBIT, SEL, CLZ or one of their kin"},
    {0xFF80F080u, 0xFA80F000u, THUMB_alu, FORM_RD, "a parallel addition or subtraction"},
    {0xFFF0F0F0u, 0xFB00F000u, THUMB_multiply, FORM_RD, "MUL"},
    {0xFFF0F0F0u, 0xFB90F0F0u, THUMB2_divide, FORM_RD, "SDIV"},
    {0xFFF0F0F0u, 0xFBB0F0F0u, THUMB2_divide, FORM_RD, "UDIV"},
    {0xFF80F000u, 0xFB00F000u, THUMB_multiply, FORM_RD, "a DSP multiplication"},
    {0xFFF000E0u, 0xFB000000u, THUMB2_multiply_accumulate, FORM_RD, "MLA or MLS"},
    {0xFF800000u, 0xFB000000u, THUMB2_multiply_accumulate, FORM_RD, "a DSP multiplication"},
    {0xFFC00000u, 0xFBC00000u, THUMB2_multiply_long_accumulate, FORM_LONG, "UMLAL, SMLAL or one of their kin"},
    {0xFF800000u, 0xFB800000u, THUMB2_multiply_long, FORM_LONG, "UMULL or SMULL"},
};

enum { THUMB_NARROW_LAST = 0xE7FF }; /* a first halfword above it begins a 32-bit instruction */

/* The row of a 32-bit encoding; NULL: none of ARMv7-M. */
static inline const struct thumb2_row *thumb2_row_of(uint16_t first, uint16_t second) {
    uint32_t code = (uint32_t)first << 16 | second;
    for (size_t i = 0; first > THUMB_NARROW_LAST && i < COUNT_OF(thumb2_rows); i++) {
        if ((code & thumb2_rows[i].mask) == thumb2_rows[i].value) {
            return &thumb2_rows[i];
        }
    }
    return NULL;
}

/* An instruction with the registers that decide on its cycles: bit n is register n. */
struct thumb2_instruction {
    struct thumb_instruction common;
    struct thumb_access access;
    uint16_t address; /* registers that its address is made of */
    uint16_t written;
};

static inline uint16_t thumb2_bit(unsigned number) {
    return (uint16_t)(1u << (number & 15u));
}

/* LDR, STR and their kin: a number of 12 bits; of 8 bits, before or after, with or without a new base; a register. */
static inline void thumb2_single(uint16_t first, uint16_t second, struct thumb2_instruction *out) {
    unsigned base = first & 15u, target = second >> 12;
    bool is_load = out->common.class != THUMB_store && out->common.class != THUMB2_store_indexed;
    out->access = (struct thumb_access){.kind = is_load ? THUMB_READS : THUMB_WRITES,
                                        .base = (uint8_t)base,
                                        .index = -1,
                                        .bytes = (uint8_t)(1u << (first >> 5 & 3u)),
                                        .units = 1};
    out->address = thumb2_bit(base);
    out->written = is_load ? thumb2_bit(target) : 0;
    if (base == 15) { /* a literal */
        out->access.offset = (int16_t)((first & 0x80u) ? (second & 0xFFFu) : -(int)(second & 0xFFFu));
        out->address = 0;
    } else if (first & 0x80u) {
        out->access.offset = (int16_t)(second & 0xFFFu);
    } else if (second & 0x800u) {
        int offset = (second & 0x200u) ? second & 0xFF : -(second & 0xFF);
        out->access.offset = (int16_t)((second & 0x400u) ? offset : 0); /* else the old base is the address */
        out->written |= (second & 0x100u) ? thumb2_bit(base) : 0;
    } else {
        out->access.index = (int8_t)(second & 15u);
        out->access.shift = second >> 4 & 3u;
        out->address |= thumb2_bit(second);
    }
    out->common.writes_sp = out->written >> THUMB_SP & 1u;
}

static inline void thumb2_dual(uint16_t first, uint16_t second, struct thumb2_instruction *out) {
    unsigned base = first & 15u;
    int offset = (second & 0xFF) * ((first & 0x80u) ? 4 : -4);
    bool is_load = (first & 0x10u) != 0;
    out->common.registers = 2;
    out->access = (struct thumb_access){.kind = is_load ? THUMB_READS : THUMB_WRITES,
                                        .base = (uint8_t)base,
                                        .index = -1,
                                        .bytes = 4,
                                        .units = 2,
                                        .offset = (int16_t)((first & 0x100u) ? offset : 0)};
    out->address = base == 15 ? 0 : thumb2_bit(base);
    out->written = is_load ? thumb2_bit(second >> 12) | thumb2_bit(second >> 8) : 0;
    out->written |= (first & 0x20u) ? thumb2_bit(base) : 0;
    out->common.writes_sp = out->written >> THUMB_SP & 1u;
}

static inline void thumb2_multiple(uint16_t first, uint16_t second, struct thumb2_instruction *out) {
    unsigned base = first & 15u, count = thumb_bits(second);
    bool is_load = (first & 0x10u) != 0;
    out->common.registers = (uint8_t)count;
    out->access = (struct thumb_access){.kind = is_load ? THUMB_READS : THUMB_WRITES,
                                        .base = (uint8_t)base,
                                        .index = -1,
                                        .bytes = 4,
                                        .units = (uint8_t)count,
                                        .offset = (int16_t)((first & 0x100u) ? -4 * (int)count : 0)};
    out->address = thumb2_bit(base);
    out->written = (uint16_t)((is_load ? second : 0) | ((first & 0x20u) ? thumb2_bit(base) : 0));
    out->common.writes_sp = out->written >> THUMB_SP & 1u;
}

static inline void thumb2_decode_wide(uint16_t first, uint16_t second, struct thumb2_instruction *out) {
    const struct thumb2_row *row = thumb2_row_of(first, second);
    unsigned target = second >> 8 & 15u, base = first & 15u;
    out->common.bytes = 4;
    if (row == NULL) {
        return;
    }
    out->common.class = row->class;
    switch (row->form) {
    case FORM_COMPARES:
        out->written = target == 15 && (first & 0x10u) ? 0 : thumb2_bit(target);
        break;
    case FORM_RD:
        out->written = thumb2_bit(target);
        break;
    case FORM_LONG:
        out->written = thumb2_bit(target) | thumb2_bit(second >> 12);
        break;
    case FORM_SINGLE:
        thumb2_single(first, second, out);
        return;
    case FORM_DUAL:
        thumb2_dual(first, second, out);
        return;
    case FORM_MULTIPLE:
        thumb2_multiple(first, second, out);
        return;
    case FORM_EXCLUSIVE:
        out->access = (struct thumb_access){.kind = row->class == THUMB_load ? THUMB_READS : THUMB_WRITES,
                                            .base = (uint8_t)base,
                                            .index = -1,
                                            .bytes = first & 0x80u ? (uint8_t)(1u << (second >> 4 & 3u)) : 4,
                                            .units = 1,
                                            .offset = (int16_t)(first & 0x80u ? 0 : (second & 0xFF) * 4)};
        out->address = thumb2_bit(base);
        out->written = row->class == THUMB_load ? thumb2_bit(second >> 12)
                       : first & 0x80u          ? thumb2_bit(second)
                                                : thumb2_bit(second >> 8);
        break;
    case FORM_TABLE:
        out->access = (struct thumb_access){.kind = THUMB_READS,
                                            .base = (uint8_t)base,
                                            .index = (int8_t)(second & 15u),
                                            .bytes = second & 0x10u ? 2 : 1,
                                            .units = 1,
                                            .shift = second >> 4 & 1u};
        out->address = base == 15 ? thumb2_bit(second) : thumb2_bit(base) | thumb2_bit(second);
        break;
    default:
        out->common.writes_sp = row->class == THUMB_special && (first & 0xFFE0u) == 0xF380u; /* MSR */
        return;
    }
    out->common.writes_sp = out->written >> THUMB_SP & 1u;
}

/* The register that a 16-bit instruction of class alu or multiply writes. */
static inline uint16_t thumb2_narrow_target(uint16_t code) {
    unsigned operation = code >> 6 & 15u;
    if (code < 0x2000u) {
        return thumb2_bit(code & 7u);
    }
    if (code < 0x4000u) {
        return (code & 0xF800u) == 0x2800u ? 0 : thumb2_bit(code >> 8 & 7u); /* CMP writes none */
    }
    if (code < 0x4400u) {
        return operation == 8 || operation == 10 || operation == 11 ? 0 : thumb2_bit(code & 7u); /* TST CMP CMN */
    }
    if (code < 0x4800u) {
        return (code & 0x0300u) == 0x0100u ? 0 : thumb2_bit((code & 7u) | (code >> 4 & 8u));
    }
    if (code >> 12 == 10) {
        return thumb2_bit(code >> 8 & 7u); /* ADR, ADD from SP */
    }
    return (code & 0xFF00u) == 0xB000u                                  ? thumb2_bit(THUMB_SP)
           : (code & 0xFF00u) == 0xB200u || (code & 0xFF00u) == 0xBA00u ? thumb2_bit(code & 7u)
                                                                        : 0;
}

static inline void thumb2_decode_narrow(uint16_t code, struct thumb2_instruction *out) {
    if ((code & 0xF500u) == 0xB100u) {
        out->common = (struct thumb_instruction){.class = THUMB2_compare_branch, .bytes = 2};
        return;
    }
    if ((code & 0xFF00u) == 0xBF00u && (code & 0xFu) != 0) {
        out->common = (struct thumb_instruction){.class = THUMB2_if_then, .bytes = 2};
        return;
    }
    out->common = thumb_decode(code, 0);
    out->access = thumb_access(code, &out->common);
    if (out->access.kind == THUMB_NO_ACCESS) {
        out->common.class = code == 0xBF00u ? THUMB2_nop : out->common.class;
        out->written = thumb2_narrow_target(code);
        return;
    }
    out->address = out->access.base == THUMB_PC ? 0 : thumb2_bit(out->access.base);
    if (out->access.index >= 0) {
        out->address |= thumb2_bit((unsigned)out->access.index);
        out->common.class = out->common.class == THUMB_store ? THUMB2_store_indexed : out->common.class;
    }
    switch (out->common.class) {
    case THUMB_load:
        out->written = thumb2_bit(code >> 12 == 4 || code >> 12 == 9 ? code >> 8 & 7u : code & 7u);
        break;
    case THUMB_load_multiple:
    case THUMB_store_multiple:
        out->written = thumb2_bit(out->access.base);
        out->written |= out->common.class == THUMB_load_multiple ? code & 0xFFu : 0;
        break;
    case THUMB_push:
    case THUMB_pop:
    case THUMB_pop_pc:
        out->written = thumb2_bit(THUMB_SP);
        out->written |= out->common.class == THUMB_push ? 0 : code & 0xFFu;
        break;
    default:
        break;
    }
}

/* The instruction at `code`, with the halfword after it. */
static inline struct thumb2_instruction thumb2_decode(uint16_t code, uint16_t next) {
    struct thumb2_instruction out = {.common = {.class = THUMB_alu, .bytes = 2}};
    if (code > THUMB_NARROW_LAST) {
        thumb2_decode_wide(code, next, &out);
    } else {
        thumb2_decode_narrow(code, &out);
    }
    return out;
}

/* Instructions of the DSP extension that Unicorn carries out on a core without it: multiplications of 32 bits but MUL,
 * MLA, MLS, SMULL, UMULL, SMLAL and UMLAL (A5.3.16, A5.3.17), extensions that add (A5.3.12), SSAT16 and USAT16 (A5.3.3). */
static inline bool thumb2_needs_dsp(uint16_t first, uint16_t second) {
    return (first & 0xFF80u) == 0xFB00u   ? (first & 0x70u) != 0
           : (first & 0xFFC0u) == 0xFBC0u ? (second & 0xF0u) != 0
           : (first & 0xFF80u) == 0xFA00u ? (second & 0xF080u) == 0xF080u && ((first & 15u) != 15u || (first & 0x60u) == 0x20u)
                                          : (first & 0xFF70u) == 0xF320u && (second & 0xF0C0u) == 0;
}

/* The name of an instruction that ARMv6-M lacks; NULL: it has it, or no ARMv7-M has it. */
static inline const char *thumb2_only_name(uint16_t code, uint16_t next) {
    const struct thumb2_row *row = thumb2_row_of(code, next);
    if ((code & 0xF500u) == 0xB100u) {
        return (code & 0x0800u) ? "CBNZ" : "CBZ";
    }
    if ((code & 0xFF00u) == 0xBF00u && (code & 0xFu) != 0) {
        return "IT";
    }
    return row != NULL ? row->name : NULL;
}

#endif
