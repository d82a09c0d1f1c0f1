/* SPDX-License-Identifier: GPL-3.0-or-later -- part of the drivers that link libsimavr.
 * avr_lanes.h: bytes of an AVR in many rounds of a loop, and its arithmetic on them. It does not use the simulator.
 *
 * A byte is the same in all rounds, or one for each, or unknown in some bits. Flags are by the instruction set
 * manual (DS40002198); a test holds every operation to libsimavr's, with all operands.
 */
#ifndef MOTECRYPT_AVR_LANES_H
#define MOTECRYPT_AVR_LANES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum {
    LANES = 256, /* rounds side by side */
    ALL_BITS = 0xFF
};

/* Bits of SREG. */
enum { FLAG_C = 1, FLAG_Z = 2, FLAG_N = 4, FLAG_V = 8, FLAG_S = 16, FLAG_H = 32, FLAG_T = 64, FLAG_I = 128 };
enum {
    FLAGS_LOGIC = FLAG_Z | FLAG_N | FLAG_V | FLAG_S,
    FLAGS_SHIFT = FLAGS_LOGIC | FLAG_C,
    FLAGS_ADD = FLAGS_SHIFT | FLAG_H
};

/* A byte in every round: the same or, where it varies, one for each. */
struct lanes {
    bool varies;
    uint8_t unknown; /* bits that the round before left, differently each time */
    uint8_t same;
    uint8_t of[LANES];
};

/* The rounds that are worked out together. */
static struct {
    uint32_t alike; /* that have gone the same way so far */
    struct lanes flags;
} abreast;

/* --- values ---------------------------------------------------------------------------------------------- */

static inline void lanes_set(struct lanes *to, uint8_t value) {
    to->varies = false;
    to->unknown = 0;
    to->same = value;
}

static inline void lanes_copy(struct lanes *to, const struct lanes *from) {
    to->varies = from->varies;
    to->unknown = from->unknown;
    to->same = from->same;
    if (from->varies) {
        memcpy(to->of, from->of, LANES);
    }
}

/* All its lanes filled. */
static inline const uint8_t *lanes_spread(const struct lanes *from, uint8_t *room) {
    if (from->varies) {
        return from->of;
    }
    memset(room, from->same, LANES);
    return room;
}

/* What turns out to be the same in all rounds is one value again. */
static inline void lanes_settle(struct lanes *value) {
    if (value->varies && memcmp(value->of, value->of + 1, abreast.alike - 1) == 0) {
        lanes_set(value, value->of[0]);
    }
}

static uint8_t lane_of(const struct lanes *value, uint32_t round) {
    return value->varies ? value->of[round] : value->same;
}

/* Rounds in which a bit of `value` is not `wanted` go another way: they, and those after them, are not made. */
static bool lanes_need(const struct lanes *value, uint8_t bit, bool wanted) {
    if (value->unknown & bit) {
        return false;
    }
    if (!value->varies) {
        abreast.alike = ((value->same & bit) != 0) == wanted ? abreast.alike : 0;
    }
    for (uint32_t i = 0; value->varies && i < abreast.alike; i++) {
        if (((value->of[i] & bit) != 0) != wanted) {
            abreast.alike = i;
        }
    }
    return abreast.alike != 0;
}

/* Bits that any round leaves otherwise than it found them. */
static uint8_t lanes_changed(const struct lanes *value, uint8_t before) {
    uint8_t bits = value->unknown;
    if (!value->varies) {
        return (uint8_t)(bits | (value->same ^ before));
    }
    for (uint32_t i = 0; i < abreast.alike; i++) {
        bits |= (uint8_t)(value->of[i] ^ before);
    }
    return bits;
}

/* --- arithmetic ------------------------------------------------------------------------------------------ */

enum alu { ALU_ADD, ALU_ADC, ALU_SUB, ALU_SBC, ALU_AND, ALU_OR, ALU_EOR, ALU_COM, ALU_NEG, ALU_INC, ALU_DEC, ALU_ASR,
           ALU_LSR, ALU_ROR, ALU_SWAP };

static const struct {
    uint8_t uses, sets; /* flags */
} alu_flags[] = {
    [ALU_ADD] = {0, FLAGS_ADD},          [ALU_ADC] = {FLAG_C, FLAGS_ADD},          [ALU_SUB] = {0, FLAGS_ADD},
    [ALU_SBC] = {FLAG_C | FLAG_Z, FLAGS_ADD}, [ALU_AND] = {0, FLAGS_LOGIC},        [ALU_OR] = {0, FLAGS_LOGIC},
    [ALU_EOR] = {0, FLAGS_LOGIC},        [ALU_COM] = {0, FLAGS_SHIFT},             [ALU_NEG] = {0, FLAGS_ADD},
    [ALU_INC] = {0, FLAGS_LOGIC},        [ALU_DEC] = {0, FLAGS_LOGIC},             [ALU_ASR] = {0, FLAGS_SHIFT},
    [ALU_LSR] = {0, FLAGS_SHIFT},        [ALU_ROR] = {FLAG_C, FLAGS_SHIFT},        [ALU_SWAP] = {0, 0},
};

/* The result of one byte; `*sreg` before and after. */
static inline __attribute__((always_inline)) uint8_t alu_byte(enum alu kind, uint8_t d, uint8_t r, uint8_t *sreg) {
    uint8_t s = *sreg, carry_in = s & FLAG_C, result = 0, carry = 0, half = 0, over = 0, zero;
    switch (kind) {
    case ALU_ADD:
    case ALU_ADC:
        result = (uint8_t)(d + r + (kind == ALU_ADC ? carry_in : 0));
        carry = (uint8_t)((d & r) | (r & ~result) | (~result & d));
        half = carry >> 3 & 1;
        carry >>= 7;
        over = (uint8_t)((d & r & ~result) | (~d & ~r & result)) >> 7;
        break;
    case ALU_SUB:
    case ALU_SBC:
        result = (uint8_t)(d - r - (kind == ALU_SBC ? carry_in : 0));
        carry = (uint8_t)((~d & r) | (r & result) | (result & ~d));
        half = carry >> 3 & 1;
        carry >>= 7;
        over = (uint8_t)((d & ~r & ~result) | (~d & r & result)) >> 7;
        break;
    case ALU_NEG:
        result = (uint8_t)-d;
        carry = result != 0;
        half = (uint8_t)((result | d) >> 3 & 1);
        over = result == 0x80;
        break;
    case ALU_AND:
        result = d & r;
        break;
    case ALU_OR:
        result = d | r;
        break;
    case ALU_EOR:
        result = d ^ r;
        break;
    case ALU_COM:
        result = (uint8_t)~d;
        carry = 1;
        break;
    case ALU_INC:
        result = (uint8_t)(d + 1);
        over = result == 0x80;
        break;
    case ALU_DEC:
        result = (uint8_t)(d - 1);
        over = result == 0x7F;
        break;
    case ALU_ASR:
    case ALU_LSR:
    case ALU_ROR:
        carry = d & 1;
        result = (uint8_t)(d >> 1 | (kind == ALU_ASR ? d & 0x80 : kind == ALU_ROR ? carry_in << 7 : 0));
        over = (result >> 7) ^ carry;
        break;
    case ALU_SWAP:
        return (uint8_t)(d << 4 | d >> 4);
    }
    zero = result == 0 && (kind != ALU_SBC || (s & FLAG_Z));
    *sreg = (uint8_t)((s & ~alu_flags[kind].sets) |
                      (alu_flags[kind].sets & (carry | zero << 1 | (result >> 7) << 2 | over << 3 |
                                               ((result >> 7) ^ over) << 4 | half << 5)));
    return result;
}

#define ALU_LANES(kind)                                                                                                \
    case kind:                                                                                                         \
        for (uint32_t i = 0; i < LANES; i++) {                                                                         \
            uint8_t s = flags[i];                                                                                      \
            result->of[i] = alu_byte(kind, d[i], r[i], &s);                                                            \
            abreast.flags.of[i] = s;                                                                                    \
        }                                                                                                              \
        break

static __attribute__((noinline, optimize("O3"))) void alu_lanes(enum alu kind, struct lanes *result, const uint8_t *d, const uint8_t *r,
                                                const uint8_t *flags) {
    switch (kind) {
        ALU_LANES(ALU_ADD);
        ALU_LANES(ALU_ADC);
        ALU_LANES(ALU_SUB);
        ALU_LANES(ALU_SBC);
        ALU_LANES(ALU_AND);
        ALU_LANES(ALU_OR);
        ALU_LANES(ALU_EOR);
        ALU_LANES(ALU_COM);
        ALU_LANES(ALU_NEG);
        ALU_LANES(ALU_INC);
        ALU_LANES(ALU_DEC);
        ALU_LANES(ALU_ASR);
        ALU_LANES(ALU_LSR);
        ALU_LANES(ALU_ROR);
        ALU_LANES(ALU_SWAP);
    }
}

/* result = d op r. `result` may be one of the operands. */
static void lanes_alu(enum alu kind, struct lanes *result, const struct lanes *d, const struct lanes *r) {
    uint8_t uses = alu_flags[kind].uses, sets = alu_flags[kind].sets, s = abreast.flags.same;
    uint8_t room_d[LANES], room_r[LANES], room_s[LANES];
    if (d == r && (kind == ALU_EOR || kind == ALU_SUB)) { /* the result is 0 for every operand */
        static const struct lanes nothing = {0};
        d = r = &nothing;
    }
    if (d->unknown || r->unknown || (abreast.flags.unknown & uses)) {
        lanes_set(result, 0);
        result->unknown = ALL_BITS;
        abreast.flags.unknown |= sets;
        return;
    }
    if (!d->varies && !r->varies && !abreast.flags.varies) {
        lanes_set(result, alu_byte(kind, d->same, r->same, &s));
        abreast.flags.same = s;
    } else {
        alu_lanes(kind, result, lanes_spread(d, room_d), lanes_spread(r, room_r), lanes_spread(&abreast.flags, room_s));
        result->varies = abreast.flags.varies = true;
        result->unknown = 0;
        lanes_settle(result);
        if (memcmp(abreast.flags.of, abreast.flags.of + 1, abreast.alike - 1) == 0) {
            abreast.flags.varies = false;
            abreast.flags.same = abreast.flags.of[0];
        }
    }
    abreast.flags.unknown &= (uint8_t)~sets;
}

/* ADIW, SBIW: the word's flags are the high byte's, except Z; H stays. */
static void lanes_word(struct lanes *low, struct lanes *high, uint8_t number, bool subtracts) {
    struct lanes given, zero, half, first;
    lanes_set(&given, number);
    lanes_set(&zero, 0);
    lanes_copy(&half, &abreast.flags);
    lanes_alu(subtracts ? ALU_SUB : ALU_ADD, low, low, &given);
    lanes_copy(&first, &abreast.flags);
    lanes_alu(subtracts ? ALU_SBC : ALU_ADC, high, high, &zero);
    for (uint32_t i = 0; i < (abreast.flags.varies || half.varies || first.varies ? (uint32_t)LANES : 1u); i++) {
        uint8_t s = abreast.flags.varies ? abreast.flags.of[i] : abreast.flags.same;
        uint8_t f = first.varies ? first.of[i] : first.same, h = half.varies ? half.of[i] : half.same;
        s = (uint8_t)((s & ~(FLAG_H | FLAG_Z)) | (h & FLAG_H) | (s & f & FLAG_Z));
        abreast.flags.of[i] = s;
        abreast.flags.same = i == 0 ? s : abreast.flags.same;
    }
    abreast.flags.varies = abreast.flags.varies || half.varies || first.varies;
    abreast.flags.unknown = (uint8_t)((abreast.flags.unknown & ~FLAG_H) | (half.unknown & FLAG_H));
}

#endif
