/* machine.h: the instructions of ARMv6-M that the searches use, on registers of many inputs at once.
 *
 * An instruction is applied to LANES inputs, so that a compiler can use the computer's vectors. Left out are
 * instructions that read or keep flags (ADCS, SBCS), branches, and immediate operands of MOVS, ADDS and SUBS.
 */
#ifndef SEARCH_MACHINE_H
#define SEARCH_MACHINE_H

#include <stdint.h>

enum operation {
    NOP, /* nothing: a place that is free */
    MOVS,
    MVNS,
    RSBS,
    UXTB,
    UXTH,
    SXTB,
    SXTH,
    REV,
    REV16,
    REVSH, /* up to here: d = f(a) */
    ANDS,
    ORRS,
    EORS,
    BICS,
    MULS,
    RORS,
    LSLS_BY,
    LSRS_BY, /* up to here: d = f(d, a) */
    ADDS,
    SUBS, /* d = f(a, b) */
    LSLS,
    LSRS,
    ASRS, /* d = f(a, immediate in b) */
    MOV_HIGH,
    ADD_HIGH, /* d = a, d = d + a, where a is a high register */
    OPERATIONS
};

struct instruction {
    uint8_t operation, d, a, b;
};

static inline uint32_t rotated(uint32_t x, uint32_t right) {
    right &= 31;
    return right ? x >> right | x << (32 - right) : x;
}

static inline uint32_t swapped(uint32_t x) {
    return __builtin_bswap32(x);
}

/* d: the old value of the destination; a, b: the operands; b is the number where the operand is immediate. */
static inline __attribute__((always_inline)) uint32_t value_of(uint8_t operation, uint32_t d, uint32_t a,
                                                               uint32_t b) {
    switch (operation) {
    case MOVS:
    case MOV_HIGH:
        return a;
    case MVNS:
        return ~a;
    case RSBS:
        return 0 - a;
    case UXTB:
        return (uint8_t)a;
    case UXTH:
        return (uint16_t)a;
    case SXTB:
        return (uint32_t)(int32_t)(int8_t)a;
    case SXTH:
        return (uint32_t)(int32_t)(int16_t)a;
    case REV:
        return swapped(a);
    case REV16:
        return rotated(swapped(a), 16);
    case REVSH:
        return (uint32_t)(int32_t)(int16_t)(swapped(a) >> 16);
    case ANDS:
        return d & a;
    case ORRS:
        return d | a;
    case EORS:
        return d ^ a;
    case BICS:
        return d & ~a;
    case MULS:
        return d * a;
    case RORS:
        return rotated(d, a & 0xff);
    case LSLS_BY:
        return (a & 0xff) < 32 ? d << (a & 0xff) : 0;
    case LSRS_BY:
        return (a & 0xff) < 32 ? d >> (a & 0xff) : 0;
    case ADDS:
        return a + b;
    case SUBS:
        return a - b;
    case LSLS:
        return a << b;
    case LSRS:
        return a >> b;
    case ASRS:
        return (uint32_t)((int32_t)a >> b);
    case ADD_HIGH:
        return d + a;
    default:
        return d;
    }
}

/* --- what the kernels compute */

static inline uint32_t doubled(uint32_t x) {
    return (x & 0x7f7f7f7f) << 1 ^ (x >> 7 & 0x01010101) * 0x1b;
}

static inline uint32_t mixed(uint32_t x) {
    uint32_t next = rotated(x, 8);
    return doubled(x ^ next) ^ next ^ rotated(x, 16) ^ rotated(x, 24);
}

/* The sum of the four bytes in each of them: known to take four instructions, a check of the searches. */
static inline uint32_t summed(uint32_t x) {
    uint32_t pairs = x ^ rotated(x, 8);

    return pairs ^ rotated(pairs, 16);
}

enum kernel { DOUBLE, MIX, SUM, KERNELS };

static inline uint32_t target_of(enum kernel kernel, uint32_t x) {
    return kernel == DOUBLE ? doubled(x) : kernel == MIX ? mixed(x) : summed(x);
}

#endif
