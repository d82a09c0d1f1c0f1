/* SPDX-License-Identifier: MIT
 * riscv_decode.h: a RISC-V instruction's operation, registers and immediate, for cores with registers of 32
 * bits; a compressed instruction is decoded to the one that it abbreviates. It names instructions that a core
 * lacks. It does not execute anything and contains no cycles. Sources: The RISC-V Instruction Set Manual,
 * volume I, 20191213 (RV32I, RV32E, M, A, C, Zicsr); the "xw" instructions of WCH's QingKe V2, which WCH does
 * not document, as users of the chip have found them (github.com/jnk0le/random, "ch32v003 (qkv2)").
 */
#ifndef MOTECRYPT_RISCV_DECODE_H
#define MOTECRYPT_RISCV_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Every operation with its mnemonic and the extension that it belongs to. */
/* clang-format off */
#define RISCV_OPERATIONS(X)                                                                                  \
    X(LUI, "lui", I) X(AUIPC, "auipc", I) X(JAL, "jal", I) X(JALR, "jalr", I)                                \
    X(BEQ, "beq", I) X(BNE, "bne", I) X(BLT, "blt", I) X(BGE, "bge", I) X(BLTU, "bltu", I)                   \
    X(BGEU, "bgeu", I)                                                                                       \
    X(LB, "lb", I) X(LH, "lh", I) X(LW, "lw", I) X(LBU, "lbu", I) X(LHU, "lhu", I)                           \
    X(SB, "sb", I) X(SH, "sh", I) X(SW, "sw", I)                                                             \
    X(ADDI, "addi", I) X(SLTI, "slti", I) X(SLTIU, "sltiu", I) X(XORI, "xori", I) X(ORI, "ori", I)           \
    X(ANDI, "andi", I) X(SLLI, "slli", I) X(SRLI, "srli", I) X(SRAI, "srai", I)                              \
    X(ADD, "add", I) X(SUB, "sub", I) X(SLL, "sll", I) X(SLT, "slt", I) X(SLTU, "sltu", I)                   \
    X(XOR, "xor", I) X(SRL, "srl", I) X(SRA, "sra", I) X(OR, "or", I) X(AND, "and", I)                       \
    X(FENCE, "fence", I) X(FENCE_I, "fence.i", I) X(ECALL, "ecall", I) X(EBREAK, "ebreak", I)                \
    X(MRET, "mret", I) X(WFI, "wfi", I)                                                                      \
    X(CSRRW, "csrrw", I) X(CSRRS, "csrrs", I) X(CSRRC, "csrrc", I)                                           \
    X(CSRRWI, "csrrwi", I) X(CSRRSI, "csrrsi", I) X(CSRRCI, "csrrci", I)                                     \
    X(MUL, "mul", M) X(MULH, "mulh", M) X(MULHSU, "mulhsu", M) X(MULHU, "mulhu", M)                          \
    X(DIV, "div", M) X(DIVU, "divu", M) X(REM, "rem", M) X(REMU, "remu", M)                                  \
    X(LR_W, "lr.w", A) X(SC_W, "sc.w", A) X(AMOSWAP, "amoswap.w", A) X(AMOADD, "amoadd.w", A)                \
    X(AMOXOR, "amoxor.w", A) X(AMOAND, "amoand.w", A) X(AMOOR, "amoor.w", A) X(AMOMIN, "amomin.w", A)        \
    X(AMOMAX, "amomax.w", A) X(AMOMINU, "amominu.w", A) X(AMOMAXU, "amomaxu.w", A)                           \
    X(FLOAT, "a floating-point instruction", F) X(VECTOR, "a vector instruction", V)                         \
    X(BITS, "an instruction of the B extension", B)
/* clang-format on */

enum riscv_operation {
    RISCV_UNKNOWN, /* not decoded yet, or of no instruction */
#define X(name, text, extension) RISCV_##name,
    RISCV_OPERATIONS(X)
#undef X
        RISCV_OPERATION_COUNT
};

/* Bits of what a core has. RISCV_E: only sixteen registers. RISCV_XW: WCH's loads and stores of 16 bits. */
enum {
    RISCV_I = 1 << 0,
    RISCV_M = 1 << 1,
    RISCV_A = 1 << 2,
    RISCV_C = 1 << 3,
    RISCV_E = 1 << 4,
    RISCV_XW = 1 << 5,
    RISCV_F = 1 << 6,
    RISCV_V = 1 << 7,
    RISCV_B = 1 << 8
};

enum { RISCV_X0 = 0, RISCV_RA = 1, RISCV_SP = 2, RISCV_T0 = 5, RISCV_SINK = 32, RISCV_REGISTERS = 33 };

struct riscv_instruction {
    uint8_t operation; /* enum riscv_operation */
    uint8_t rd;        /* RISCV_SINK where nothing is written */
    uint8_t rs1, rs2;  /* 0 where nothing is read */
    uint8_t bytes;     /* 2 or 4 */
    int32_t immediate; /* of instructions on CSRs: its number, and from bit 12 on the number to write */
};

static inline const char *riscv_name(uint8_t operation) {
    static const char *const names[RISCV_OPERATION_COUNT] = {"an unknown instruction",
#define X(name, text, extension) text,
                                                             RISCV_OPERATIONS(X)
#undef X
    };
    return names[operation];
}

static inline unsigned riscv_extension(uint8_t operation) {
    static const uint16_t extensions[RISCV_OPERATION_COUNT] = {0,
#define X(name, text, extension) RISCV_##extension,
                                                               RISCV_OPERATIONS(X)
#undef X
    };
    return extensions[operation];
}

/* Bits [high:low] of a code. */
static inline uint32_t riscv_bits(uint32_t code, unsigned high, unsigned low) {
    return (code >> low) & ((1u << (high - low + 1)) - 1);
}

static inline int32_t riscv_signed(uint32_t value, unsigned bits) {
    uint32_t sign = 1u << (bits - 1);
    return (int32_t)((value ^ sign) - sign);
}

static inline bool riscv_is_branch(uint8_t operation) {
    return operation >= RISCV_BEQ && operation <= RISCV_BGEU;
}

static inline bool riscv_is_load(uint8_t operation) {
    return operation >= RISCV_LB && operation <= RISCV_LHU;
}

static inline bool riscv_is_store(uint8_t operation) {
    return operation >= RISCV_SB && operation <= RISCV_SW;
}

static inline bool riscv_is_atomic(uint8_t operation) {
    return operation >= RISCV_LR_W && operation <= RISCV_AMOMAXU;
}

/* Bytes that a load, store or atomic operation accesses. */
static inline uint32_t riscv_access_bytes(uint8_t operation) {
    switch (operation) {
    case RISCV_LB:
    case RISCV_LBU:
    case RISCV_SB:
        return 1;
    case RISCV_LH:
    case RISCV_LHU:
    case RISCV_SH:
        return 2;
    default:
        return 4;
    }
}

/* ---- 32 bits ---- */

static inline uint8_t riscv_system(uint32_t code) {
    static const uint8_t with_csr[] = {0, RISCV_CSRRW,  RISCV_CSRRS,  RISCV_CSRRC,
                                       0, RISCV_CSRRWI, RISCV_CSRRSI, RISCV_CSRRCI};
    uint32_t function = riscv_bits(code, 14, 12);
    if (function != 0) {
        return with_csr[function];
    }
    switch (code) {
    case 0x00000073u:
        return RISCV_ECALL;
    case 0x00100073u:
        return RISCV_EBREAK;
    case 0x30200073u:
        return RISCV_MRET;
    case 0x10500073u:
        return RISCV_WFI;
    default:
        return RISCV_UNKNOWN;
    }
}

static inline uint8_t riscv_atomic(uint32_t code) {
    switch (riscv_bits(code, 14, 12) == 2 ? riscv_bits(code, 31, 27) : 0x1Fu) {
    case 0x02:
        return riscv_bits(code, 24, 20) == 0 ? RISCV_LR_W : RISCV_UNKNOWN;
    case 0x03:
        return RISCV_SC_W;
    case 0x01:
        return RISCV_AMOSWAP;
    case 0x00:
        return RISCV_AMOADD;
    case 0x04:
        return RISCV_AMOXOR;
    case 0x0C:
        return RISCV_AMOAND;
    case 0x08:
        return RISCV_AMOOR;
    case 0x10:
        return RISCV_AMOMIN;
    case 0x14:
        return RISCV_AMOMAX;
    case 0x18:
        return RISCV_AMOMINU;
    case 0x1C:
        return RISCV_AMOMAXU;
    default:
        return RISCV_UNKNOWN;
    }
}

/* Operations with two registers. All others at these places are of extensions that no core here has. */
static inline uint8_t riscv_two_registers(uint32_t code) {
    static const uint8_t plain[] = {RISCV_ADD, RISCV_SLL, RISCV_SLT, RISCV_SLTU,
                                    RISCV_XOR, RISCV_SRL, RISCV_OR,  RISCV_AND};
    uint32_t function = riscv_bits(code, 14, 12);
    switch (riscv_bits(code, 31, 25)) {
    case 0x00:
        return plain[function];
    case 0x01:
        return (uint8_t)(RISCV_MUL + function);
    case 0x20:
        return function == 0 ? RISCV_SUB : function == 5 ? RISCV_SRA : RISCV_BITS;
    default:
        return RISCV_BITS;
    }
}

static inline uint8_t riscv_with_immediate(uint32_t code) {
    static const uint8_t plain[] = {RISCV_ADDI, RISCV_SLLI, RISCV_SLTI, RISCV_SLTIU,
                                    RISCV_XORI, RISCV_SRLI, RISCV_ORI,  RISCV_ANDI};
    uint32_t function = riscv_bits(code, 14, 12), high = riscv_bits(code, 31, 25);
    if (function == 1) {
        return high == 0 ? RISCV_SLLI : RISCV_BITS;
    }
    if (function == 5) {
        return high == 0 ? RISCV_SRLI : high == 0x20 ? RISCV_SRAI : RISCV_BITS;
    }
    return plain[function];
}

static inline int32_t riscv_branch_offset(uint32_t code) {
    return riscv_signed(riscv_bits(code, 31, 31) << 12 | riscv_bits(code, 7, 7) << 11 |
                            riscv_bits(code, 30, 25) << 5 | riscv_bits(code, 11, 8) << 1,
                        13);
}

static inline int32_t riscv_jump_offset(uint32_t code) {
    return riscv_signed(riscv_bits(code, 31, 31) << 20 | riscv_bits(code, 19, 12) << 12 |
                            riscv_bits(code, 20, 20) << 11 | riscv_bits(code, 30, 21) << 1,
                        21);
}

static inline struct riscv_instruction riscv_decode_word(uint32_t code) {
    static const uint8_t branches[] = {RISCV_BEQ, RISCV_BNE, 0,          0,
                                       RISCV_BLT, RISCV_BGE, RISCV_BLTU, RISCV_BGEU};
    static const uint8_t loads[] = {RISCV_LB, RISCV_LH, RISCV_LW, 0, RISCV_LBU, RISCV_LHU, 0, 0};
    static const uint8_t stores[] = {RISCV_SB, RISCV_SH, RISCV_SW, 0, 0, 0, 0, 0};
    uint32_t function = riscv_bits(code, 14, 12);
    uint8_t rd = (uint8_t)riscv_bits(code, 11, 7), rs1 = (uint8_t)riscv_bits(code, 19, 15);
    uint8_t rs2 = (uint8_t)riscv_bits(code, 24, 20);
    int32_t low12 = (int32_t)code >> 20;
    struct riscv_instruction i = {.bytes = 4, .rd = rd ? rd : RISCV_SINK, .rs1 = rs1, .immediate = low12};
    switch (riscv_bits(code, 6, 0)) {
    case 0x37:
    case 0x17:
        i.operation = code & 0x20u ? RISCV_LUI : RISCV_AUIPC;
        i.rs1 = 0;
        i.immediate = (int32_t)(code & 0xFFFFF000u);
        break;
    case 0x6F:
        i.operation = RISCV_JAL;
        i.rs1 = 0;
        i.immediate = riscv_jump_offset(code);
        break;
    case 0x67:
        i.operation = function == 0 ? RISCV_JALR : RISCV_UNKNOWN;
        break;
    case 0x63:
        i.operation = branches[function];
        i.rs2 = rs2;
        i.rd = RISCV_SINK;
        i.immediate = riscv_branch_offset(code);
        break;
    case 0x03:
        i.operation = loads[function];
        break;
    case 0x23:
        i.operation = stores[function];
        i.rs2 = rs2;
        i.rd = RISCV_SINK;
        i.immediate = (low12 & ~31) | (int32_t)riscv_bits(code, 11, 7);
        break;
    case 0x13:
        i.operation = riscv_with_immediate(code);
        i.immediate = function == 1 || function == 5 ? rs2 : low12;
        break;
    case 0x33:
        i.operation = riscv_two_registers(code);
        i.rs2 = rs2;
        break;
    case 0x0F:
        i.operation = function == 1 ? RISCV_FENCE_I : RISCV_FENCE;
        i.rs1 = 0;
        i.rd = RISCV_SINK;
        break;
    case 0x73:
        i.operation = riscv_system(code);
        i.immediate = low12 & 0xFFF;
        if (function >= 4) { /* a number in the place of rs1 */
            i.immediate |= rs1 << 12;
            i.rs1 = 0;
        }
        break;
    case 0x2F:
        i.operation = riscv_atomic(code);
        i.rs2 = rs2;
        i.immediate = 0;
        break;
    case 0x07:
    case 0x27:
    case 0x43:
    case 0x47:
    case 0x4B:
    case 0x4F:
    case 0x53:
        i.operation = RISCV_FLOAT;
        break;
    case 0x57:
        i.operation = RISCV_VECTOR;
        break;
    default:
        break;
    }
    return i;
}

/* ---- 16 bits: each abbreviates one of 32 bits ---- */

static inline struct riscv_instruction riscv_short(uint8_t operation, uint32_t rd, uint32_t rs1, uint32_t rs2,
                                                   int32_t immediate) {
    return (struct riscv_instruction){
        operation, (uint8_t)(rd ? rd : RISCV_SINK), (uint8_t)rs1, (uint8_t)rs2, 2, immediate};
}

/* WCH's loads and stores of bytes and halfwords; they take the places of floating-point loads and stores. */
static inline struct riscv_instruction riscv_decode_xw(uint32_t code) {
    uint32_t data = 8 + riscv_bits(code, 4, 2), base = 8 + riscv_bits(code, 9, 7);
    bool is_half = (code & 3u) == 2, is_store = code >> 13 == 5;
    uint32_t offset = riscv_bits(code, 6, 5) << 1;
    offset |=
        is_half ? riscv_bits(code, 12, 10) << 3 : riscv_bits(code, 11, 10) << 3 | riscv_bits(code, 12, 12);
    if (is_store) {
        return riscv_short(is_half ? RISCV_SH : RISCV_SB, 0, base, data, (int32_t)offset);
    }
    return riscv_short(is_half ? RISCV_LHU : RISCV_LBU, data, base, 0, (int32_t)offset);
}

static inline struct riscv_instruction riscv_decode_short0(uint32_t code) {
    uint32_t data = 8 + riscv_bits(code, 4, 2), base = 8 + riscv_bits(code, 9, 7);
    uint32_t word = riscv_bits(code, 12, 10) << 3 | riscv_bits(code, 6, 6) << 2 | riscv_bits(code, 5, 5) << 6;
    uint32_t add = riscv_bits(code, 12, 11) << 4 | riscv_bits(code, 10, 7) << 6 |
                   riscv_bits(code, 6, 6) << 2 | riscv_bits(code, 5, 5) << 3;
    switch (code >> 13) {
    case 0:
        return riscv_short(add ? RISCV_ADDI : RISCV_UNKNOWN, data, RISCV_SP, 0, (int32_t)add);
    case 2:
        return riscv_short(RISCV_LW, data, base, 0, (int32_t)word);
    case 6:
        return riscv_short(RISCV_SW, 0, base, data, (int32_t)word);
    case 4:
        return riscv_short(RISCV_UNKNOWN, 0, 0, 0, 0);
    default:
        return riscv_short(RISCV_FLOAT, 0, 0, 0, 0);
    }
}

static inline struct riscv_instruction riscv_decode_arithmetic(uint32_t code, int32_t small) {
    static const uint8_t registers[] = {RISCV_SUB, RISCV_XOR, RISCV_OR, RISCV_AND};
    uint32_t rd = 8 + riscv_bits(code, 9, 7), rs2 = 8 + riscv_bits(code, 4, 2);
    switch (riscv_bits(code, 11, 10)) {
    case 0:
    case 1:
        if (small < 0) { /* a shift by 32 or more */
            return riscv_short(RISCV_UNKNOWN, 0, 0, 0, 0);
        }
        return riscv_short(code & 0x400u ? RISCV_SRAI : RISCV_SRLI, rd, rd, 0, small);
    case 2:
        return riscv_short(RISCV_ANDI, rd, rd, 0, small);
    default:
        if (code & 0x1000u) {
            return riscv_short(RISCV_UNKNOWN, 0, 0, 0, 0);
        }
        return riscv_short(registers[riscv_bits(code, 6, 5)], rd, rd, rs2, 0);
    }
}

static inline int32_t riscv_short_jump(uint32_t code) {
    return riscv_signed(riscv_bits(code, 12, 12) << 11 | riscv_bits(code, 11, 11) << 4 |
                            riscv_bits(code, 10, 9) << 8 | riscv_bits(code, 8, 8) << 10 |
                            riscv_bits(code, 7, 7) << 6 | riscv_bits(code, 6, 6) << 7 |
                            riscv_bits(code, 5, 3) << 1 | riscv_bits(code, 2, 2) << 5,
                        12);
}

static inline int32_t riscv_short_branch(uint32_t code) {
    return riscv_signed(riscv_bits(code, 12, 12) << 8 | riscv_bits(code, 11, 10) << 3 |
                            riscv_bits(code, 6, 5) << 6 | riscv_bits(code, 4, 3) << 1 |
                            riscv_bits(code, 2, 2) << 5,
                        9);
}

static inline struct riscv_instruction riscv_decode_short1(uint32_t code) {
    uint32_t rd = riscv_bits(code, 11, 7), base = 8 + riscv_bits(code, 9, 7);
    int32_t small = riscv_signed(riscv_bits(code, 12, 12) << 5 | riscv_bits(code, 6, 2), 6);
    int32_t stack = riscv_signed(riscv_bits(code, 12, 12) << 9 | riscv_bits(code, 6, 6) << 4 |
                                     riscv_bits(code, 5, 5) << 6 | riscv_bits(code, 4, 3) << 7 |
                                     riscv_bits(code, 2, 2) << 5,
                                 10);
    switch (code >> 13) {
    case 0:
        return riscv_short(RISCV_ADDI, rd, rd, 0, small);
    case 1:
        return riscv_short(RISCV_JAL, RISCV_RA, 0, 0, riscv_short_jump(code));
    case 2:
        return riscv_short(RISCV_ADDI, rd, 0, 0, small);
    case 3:
        if (rd == RISCV_SP) {
            return riscv_short(stack ? RISCV_ADDI : RISCV_UNKNOWN, RISCV_SP, RISCV_SP, 0, stack);
        }
        return riscv_short(small ? RISCV_LUI : RISCV_UNKNOWN, rd, 0, 0, (int32_t)((uint32_t)small << 12));
    case 4:
        return riscv_decode_arithmetic(code, small);
    case 5:
        return riscv_short(RISCV_JAL, 0, 0, 0, riscv_short_jump(code));
    default:
        return riscv_short(code >> 13 == 6 ? RISCV_BEQ : RISCV_BNE, 0, base, 0, riscv_short_branch(code));
    }
}

static inline struct riscv_instruction riscv_decode_short2(uint32_t code) {
    uint32_t rd = riscv_bits(code, 11, 7), rs2 = riscv_bits(code, 6, 2);
    uint32_t load = riscv_bits(code, 12, 12) << 5 | riscv_bits(code, 6, 4) << 2 | riscv_bits(code, 3, 2) << 6;
    uint32_t store = riscv_bits(code, 12, 9) << 2 | riscv_bits(code, 8, 7) << 6;
    bool high = (code & 0x1000u) != 0;
    switch (code >> 13) {
    case 0:
        return riscv_short(high ? RISCV_UNKNOWN : RISCV_SLLI, rd, rd, 0, (int32_t)rs2);
    case 2:
        return riscv_short(rd ? RISCV_LW : RISCV_UNKNOWN, rd, RISCV_SP, 0, (int32_t)load);
    case 4:
        if (rs2 != 0) {
            return riscv_short(RISCV_ADD, rd, high ? rd : 0, rs2, 0);
        }
        if (rd == 0) {
            return riscv_short(high ? RISCV_EBREAK : RISCV_UNKNOWN, 0, 0, 0, 0);
        }
        return riscv_short(RISCV_JALR, high ? RISCV_RA : 0, rd, 0, 0);
    case 6:
        return riscv_short(RISCV_SW, 0, RISCV_SP, rs2, (int32_t)store);
    default:
        return riscv_short(RISCV_FLOAT, 0, 0, 0, 0);
    }
}

/* The instruction whose first halfword is `code`, followed by `next`. With RISCV_XW in `core`, WCH's. */
static inline struct riscv_instruction riscv_decode(uint16_t code, uint16_t next, unsigned core) {
    bool of_xw = (core & RISCV_XW) && (code & 1u) == 0 && (code >> 13 == 1 || code >> 13 == 5);
    if ((code & 3u) == 3) {
        return riscv_decode_word(code | (uint32_t)next << 16);
    }
    return of_xw              ? riscv_decode_xw(code)
           : (code & 3u) == 0 ? riscv_decode_short0(code)
           : (code & 3u) == 1 ? riscv_decode_short1(code)
                              : riscv_decode_short2(code);
}

/* Whether a core has an instruction: the extension and, of an RV32E, the registers. */
static inline bool riscv_has(const struct riscv_instruction *i, unsigned core) {
    bool fits = !(core & RISCV_E) || ((i->rd < 16 || i->rd == RISCV_SINK) && i->rs1 < 16 && i->rs2 < 16);
    return i->operation != RISCV_UNKNOWN && (riscv_extension(i->operation) & core) != 0 && fits &&
           (i->bytes == 4 || (core & RISCV_C));
}

#endif
