/* SPDX-License-Identifier: MIT
 * arm_rom_float.h: the floating-point functions of RP2040's boot ROM, computed by this machine: what they give for
 * arguments in registers. As the datasheet says of the ROM's: numbers that are not normal count as 0, not-a-number is not
 * propagated, and conversions to integers round down and end at the type's limits. Sines and the like may differ from the
 * ROM's in their last bits. Source: RP2040 datasheet, 2.8.3.2.
 */
#ifndef MOTECRYPT_ARM_ROM_FLOAT_H
#define MOTECRYPT_ARM_ROM_FLOAT_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum rom_float { /* in the order of both tables */
    ROM_ADD, ROM_SUB, ROM_MUL, ROM_DIV, ROM_COMPARE, ROM_COMPARE_FLAGS, ROM_SQRT, ROM_TO_INT, ROM_TO_FIX, ROM_TO_UINT,
    ROM_TO_UFIX, ROM_FROM_INT, ROM_FROM_FIX, ROM_FROM_UINT, ROM_FROM_UFIX, ROM_COS, ROM_SIN, ROM_TAN, ROM_SINCOS, ROM_EXP,
    ROM_LN, ROM_COMPARE_BASIC, ROM_ATAN2, ROM_FROM_INT64, ROM_FROM_FIX64, ROM_FROM_UINT64, ROM_FROM_UFIX64, ROM_TO_INT64,
    ROM_TO_FIX64, ROM_TO_UINT64, ROM_TO_UFIX64, ROM_CONVERT, ROM_FLOATS
};

/* Cycles of each, single and double: no manual gives them exactly; these are of the size that the SDK's guide prints. */
static const uint16_t rom_float_cycles[ROM_FLOATS][2] = {
    {70, 95},   {80, 100},  {60, 140},  {75, 185},  {40, 45},    {40, 45},  {65, 170},  {35, 50},
    {40, 60},   {35, 50},   {40, 60},   {40, 55},   {45, 60},    {40, 55},  {45, 60},   {600, 1700},
    {600, 1700}, {700, 1900}, {650, 1800}, {500, 1400}, {600, 1600}, {40, 45}, {550, 1900}, {65, 75},
    {65, 75},   {60, 70},   {60, 70},   {60, 75},   {60, 75},    {50, 65},  {50, 65},   {35, 40},
};

/* Registers r0 to r3 before and after; `flags` are N, Z, C of a comparison. */
struct rom_call {
    uint32_t r[4], flags;
    bool sets_flags;
};

static inline double rom_flushed(double value, bool is_double) {
    double least_normal = is_double ? 0x1p-1022 : 0x1p-126;
    return fabs(value) < least_normal ? copysign(0.0, value) : value;
}

static inline double rom_number(const uint32_t *words, bool is_double) {
    uint64_t both = (uint64_t)words[1] << 32 | words[0];
    double wide;
    float narrow;
    if (is_double) {
        memcpy(&wide, &both, sizeof wide);
        return rom_flushed(wide, true);
    }
    memcpy(&narrow, words, sizeof narrow);
    return rom_flushed((double)narrow, false);
}

static inline void rom_give(uint32_t *words, double value, bool is_double) {
    uint64_t both;
    float narrow = (float)value;
    if (is_double) {
        value = rom_flushed(value, true);
        memcpy(&both, &value, sizeof both);
        words[0] = (uint32_t)both;
        words[1] = (uint32_t)(both >> 32);
        return;
    }
    narrow = (float)rom_flushed((double)narrow, false);
    memcpy(words, &narrow, sizeof narrow);
}

/* Rounded down, and at most the limits of the type. */
static inline uint64_t rom_integer(double value, bool is_signed, unsigned bits) {
    double scale = ldexp(1.0, (int)bits - (is_signed ? 1 : 0)), low = is_signed ? -scale : 0.0;
    value = floor(value);
    if (!(value < scale)) {
        return UINT64_MAX >> (64 - bits + is_signed);
    }
    return value <= low ? (is_signed ? ~((UINT64_C(1) << (bits - 1)) - 1) : 0)
                        : is_signed ? (uint64_t)(int64_t)value : (uint64_t)value;
}

/* One operation in the type's own precision. A single one of two exact numbers in double is right after rounding again. */
static inline double rom_two(enum rom_float what, double a, double b) {
    switch (what) {
    case ROM_ADD:
        return a + b;
    case ROM_SUB:
        return a - b;
    case ROM_MUL:
        return a * b;
    case ROM_DIV:
        return a / b;
    default:
        return atan2(a, b);
    }
}

static inline double rom_one(enum rom_float what, double a) {
    switch (what) {
    case ROM_SQRT:
        return a < 0.0 ? -INFINITY : sqrt(a); /* sqrt(-0) is -0 */
    case ROM_COS:
        return cos(a);
    case ROM_SIN:
        return sin(a);
    case ROM_TAN:
        return tan(a);
    case ROM_EXP:
        return exp(a);
    default:
        return a < 0.0 ? -INFINITY : log(a); /* which log(0) is too */
    }
}

static inline void rom_compare(struct rom_call *call, double a, double b) {
    call->r[0] = a < b ? UINT32_MAX : a > b ? 1u : 0u;
    call->flags = (a < b ? 1u << 31 : 0u) | (a == b ? 1u << 30 : 0u) | (a >= b ? 1u << 29 : 0u);
}

/* From an integer, or a fixed-point number with a count of bits behind the point. */
static inline void rom_from(struct rom_call *call, bool is_double, bool is_signed, bool is_wide, bool is_fixed) {
    uint64_t wide = (uint64_t)call->r[1] << 32 | call->r[0];
    uint64_t bits = is_wide ? wide : is_signed ? (uint64_t)(int64_t)(int32_t)call->r[0] : call->r[0];
    int point = is_fixed ? (int)call->r[is_wide ? 2 : 1] : 0;
    if (is_double) {
        rom_give(call->r, ldexp(is_signed ? (double)(int64_t)bits : (double)bits, -point), true);
    } else {
        rom_give(call->r, ldexp((double)(is_signed ? (float)(int64_t)bits : (float)bits), -point), false);
    }
}

static inline void rom_to(struct rom_call *call, bool is_double, bool is_signed, bool is_wide, bool is_fixed) {
    int point = is_fixed ? (int)call->r[is_double ? 2 : 1] : 0;
    uint64_t value = rom_integer(ldexp(rom_number(call->r, is_double), point), is_signed, is_wide ? 64 : 32);
    call->r[0] = (uint32_t)value;
    if (is_wide) {
        call->r[1] = (uint32_t)(value >> 32);
    }
}

static inline void rom_float_call(struct rom_call *call, enum rom_float what, bool is_double) {
    double a = rom_number(call->r, is_double), b = rom_number(call->r + (is_double ? 2 : 1), is_double);
    switch (what) {
    case ROM_ADD:
    case ROM_SUB:
    case ROM_MUL:
    case ROM_DIV:
    case ROM_ATAN2:
        rom_give(call->r, rom_two(what, a, b), is_double);
        break;
    case ROM_COMPARE_FLAGS:
        call->sets_flags = true; /* and keeps r0 */
        what = (enum rom_float)call->r[0];
        rom_compare(call, a, b);
        call->r[0] = (uint32_t)what;
        break;
    case ROM_COMPARE:
    case ROM_COMPARE_BASIC:
        rom_compare(call, a, b);
        break;
    case ROM_TO_INT:
    case ROM_TO_FIX:
    case ROM_TO_UINT:
    case ROM_TO_UFIX:
        rom_to(call, is_double, what < ROM_TO_UINT, false, what == ROM_TO_FIX || what == ROM_TO_UFIX);
        break;
    case ROM_TO_INT64:
    case ROM_TO_FIX64:
    case ROM_TO_UINT64:
    case ROM_TO_UFIX64:
        rom_to(call, is_double, what < ROM_TO_UINT64, true, what == ROM_TO_FIX64 || what == ROM_TO_UFIX64);
        break;
    case ROM_FROM_INT:
    case ROM_FROM_FIX:
    case ROM_FROM_UINT:
    case ROM_FROM_UFIX:
        rom_from(call, is_double, what < ROM_FROM_UINT, false, what == ROM_FROM_FIX || what == ROM_FROM_UFIX);
        break;
    case ROM_FROM_INT64:
    case ROM_FROM_FIX64:
    case ROM_FROM_UINT64:
    case ROM_FROM_UFIX64:
        rom_from(call, is_double, what < ROM_FROM_UINT64, true, what == ROM_FROM_FIX64 || what == ROM_FROM_UFIX64);
        break;
    case ROM_SINCOS:
        rom_give(call->r, sin(a), is_double);
        rom_give(call->r + (is_double ? 2 : 1), cos(a), is_double);
        break;
    case ROM_CONVERT: /* to the other type */
        rom_give(call->r, a, !is_double);
        break;
    default:
        rom_give(call->r, rom_one(what, a), is_double);
    }
}

#endif
