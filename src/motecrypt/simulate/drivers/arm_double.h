/* SPDX-License-Identifier: MIT
 * arm_double.h: RP2350's coprocessor for double precision, operation by operation, not step by step: firmware writes two
 * numbers, has the steps of one operation done, and reads the result, and the instruction that reads it says which
 * operation that was. The result is the exact one, rounded to nearest, with numbers below the normal ones as 0; what
 * firmware reads in between is the operand's mantissa, and what it computes of it and writes back is not needed.
 * Fast sequences are less exact on the chip. One state for each core. Source: RP2350 datasheet, 3.6.2.
 */
#ifndef MOTECRYPT_ARM_DOUBLE_H
#define MOTECRYPT_ARM_DOUBLE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct dcp {
    double x, y;
    uint32_t flags; /* DCP_ENGAGED, DCP_TRUNCATES */
};

enum { DCP_ENGAGED = 1, DCP_TRUNCATES = 2 };

static inline double dcp_flushed(double value) {
    return fpclassify(value) == FP_SUBNORMAL ? copysign(0.0, value) : value;
}

static inline double dcp_double(uint64_t bits) {
    double value;
    memcpy(&value, &bits, 8);
    return dcp_flushed(value);
}

static inline uint64_t dcp_bits(double value) {
    uint64_t bits;
    value = isnan(value) ? (double)NAN : dcp_flushed(value);
    memcpy(&bits, &value, 8);
    return bits;
}

static inline double dcp_single(uint32_t bits) {
    float value;
    memcpy(&value, &bits, 4);
    return fpclassify(value) == FP_SUBNORMAL ? copysign(0.0, (double)value) : (double)value;
}

static inline uint32_t dcp_single_bits(double wide) {
    float value = isnan(wide) ? NAN : (float)wide;
    uint32_t bits;
    value = fpclassify(value) == FP_SUBNORMAL ? copysignf(0.0f, value) : value;
    memcpy(&bits, &value, 4);
    return bits;
}

/* N: less, Z and C: equal, C: greater, V: not to be compared. */
static inline uint32_t dcp_compare(const struct dcp *dcp) {
    return dcp->x < dcp->y ? 1u << 31 : dcp->x == dcp->y ? 3u << 29 : dcp->x > dcp->y ? 1u << 29 : 1u << 28;
}

/* N: below 0, Z: 0, C: infinite, V: no number. */
static inline uint32_t dcp_class(const struct dcp *dcp) {
    return (signbit(dcp->x) ? 1u << 31 : 0u) | (dcp->x == 0.0 ? 1u << 30 : 0u) | (isinf(dcp->x) ? 1u << 29 : 0u) |
           (isnan(dcp->x) ? 1u << 28 : 0u);
}

/* The operation that a read of the result is for: 0 sum, 1 difference, 2 product, 3 quotient, 4 root, 5 as it is. */
static inline double dcp_result(const struct dcp *dcp, unsigned operation) {
    switch (operation) {
    case 0:
        return dcp->x + dcp->y;
    case 1:
        return dcp->x - dcp->y;
    case 2:
        return dcp->x * dcp->y;
    case 3:
        return dcp->x / dcp->y;
    case 4:
        return sqrt(dcp->x);
    default:
        return dcp->x;
    }
}

/* Singles: sums, products and the like of two singles are exact enough in double precision to be rounded once. */
static inline uint32_t dcp_integer(const struct dcp *dcp, bool is_signed) {
    double whole = dcp->flags & DCP_TRUNCATES ? trunc(dcp->x) : nearbyint(dcp->x);
    double low = is_signed ? -2147483648.0 : 0.0, high = is_signed ? 2147483647.0 : 4294967295.0;
    whole = isnan(whole) ? 0.0 : whole < low ? low : whole > high ? high : whole;
    return is_signed ? (uint32_t)(int32_t)whole : (uint32_t)whole;
}

/* Writes two words: MCRR's opc1 and CRm. False: not modelled. */
static inline bool dcp_write(struct dcp *dcp, unsigned op1, unsigned crm, uint32_t low, uint32_t high) {
    uint64_t bits = low | (uint64_t)high << 32;
    dcp->flags |= DCP_ENGAGED;
    switch (op1 << 4 | crm) {
    case 0x00: /* WXMD, WYMD, WEFD: a state that was read before (RXMD, RYMD, REFD) */
        memcpy(&dcp->x, &bits, 8);
        return true;
    case 0x01:
        memcpy(&dcp->y, &bits, 8);
        return true;
    case 0x02:
        dcp->flags = low;
        return true;
    case 0x10: /* WXUP */
    case 0x80: /* WXDC: to an integer */
        dcp->x = dcp_double(bits);
        return true;
    case 0x11: /* WYUP */
        dcp->y = dcp_double(bits);
        return true;
    case 0x12: /* WXYU: two singles */
        dcp->x = dcp_single(low);
        dcp->y = dcp_single(high);
        return true;
    case 0x92: /* WXFC: a single, to an integer */
        dcp->x = dcp_single(low);
        return true;
    case 0x60: /* WXUC, WXIC: an integer */
    case 0x70:
        dcp->x = op1 == 7 ? (double)(int32_t)low : (double)low;
        dcp->y = 0.0;
        return true;
    default: /* WXMS, WXMO and the four that give a mantissa: what the core computed */
        return crm == 0 && op1 >= 2 && op1 <= 12;
    }
}

/* Reads two words: MRRC's. `peeks`: the coprocessor stays engaged. */
static inline bool dcp_read_two(struct dcp *dcp, bool peeks, unsigned op1, unsigned crm, uint64_t *bits) {
    bool is_result = crm == 0 && (op1 & 1u), is_state = op1 == 0 && crm >= 8 && crm <= 10;
    if (is_result) {
        *bits = dcp_bits(dcp_result(dcp, op1 / 2));
    } else if (is_state) {
        memcpy(bits, crm == 9 ? &dcp->y : &dcp->x, 8);
        *bits = crm == 10 ? dcp->flags : *bits;
    } else { /* mantissas: RXMS, RYMS, RXYH, RYMR, RXMQ */
        uint64_t x = (dcp_bits(dcp->x) & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52;
        uint64_t y = (dcp_bits(dcp->y) & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52;
        *bits = crm == 4 ? x : crm == 5 || op1 == 2 ? y : x >> 21 << 32 | y >> 21;
    }
    if ((is_result && !peeks) || (is_state && crm == 10)) {
        dcp->flags &= ~(uint32_t)DCP_ENGAGED;
    }
    return !(peeks && crm == 10) && (is_result || is_state || crm == 1 || crm == 4 || crm == 5);
}

/* Reads one word: MRC's. */
static inline bool dcp_read_one(struct dcp *dcp, bool peeks, unsigned crm, unsigned op2, uint32_t *word) {
    bool is_engaged = (dcp->flags & DCP_ENGAGED) != 0;
    if (!peeks) {
        dcp->flags &= ~(uint32_t)DCP_ENGAGED;
    }
    if (crm == 0 && op2 == 0) {
        *word = dcp_class(dcp);
    } else if (crm == 0 && op2 == 1) { /* PCMP: N says that it is engaged */
        *word = peeks ? (is_engaged ? 1u << 31 : 0u) : dcp_compare(dcp);
    } else if (crm == 2 && op2 <= 5) {
        *word = dcp_single_bits(dcp_result(dcp, op2));
    } else if (crm == 3 && op2 <= 1) {
        *word = dcp_integer(dcp, op2 == 0);
    } else {
        return false;
    }
    return true;
}

/* A step: CDP's. Only how an integer is rounded matters: NTDC truncates, NRDC does not. */
static inline void dcp_step(struct dcp *dcp, unsigned op1, unsigned op2) {
    if (op1 == 8 && (op2 == 2 || op2 == 3)) {
        dcp->flags = op2 == 2 ? dcp->flags | DCP_TRUNCATES : dcp->flags & ~(uint32_t)DCP_TRUNCATES;
    }
}

#endif
