/* prove.c: is there a sequence of N instructions that computes a kernel? All are tried.
 *
 *     prove KERNEL N CONSTANT...      KERNEL is 0 (double), 1 (mix) or 2 (sum); constants are hexadecimal
 *
 * A sequence is a list of values, each made by one instruction from x, the constants and earlier values. There
 * are as many registers as values, an instruction overwrites none, rotations take any amount and moves are
 * free. What real code does in N instructions is among these sequences, so none of N means no code of N either.
 *
 * The values of two inputs stand for all. What differs there differs; what is equal there is compared for more.
 * A value that is equal for both inputs to an earlier one is left out: in every sequence the earlier one would do
 * for these inputs. If any sequence is right, one that is right for these inputs is therefore left. A sequence
 * that is right for them and wrong for others is counted as "nearly"; the proof then needs other inputs.
 */
#include "machine.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define STEPS_MAX 6
#define VALUES_MAX 16
#define INPUTS 64

struct pair {
    uint32_t first, second;
};

struct step {
    uint8_t operation, a, b;
};

static const uint32_t inputs[2] = {0x5337c1f0, 0x5ba90e64};
static enum kernel kernel;
static int steps_wanted, constants;
static uint32_t constant[VALUES_MAX];
static struct pair value[VALUES_MAX];
static struct step step[STEPS_MAX];
static struct pair target;
static uint64_t tried, right, nearly;

enum { ROR_BY = OPERATIONS, BICS_BACK, SUBS_BACK };

static inline uint32_t one(uint8_t operation, uint32_t a, uint32_t b) {
    switch (operation) {
    case ROR_BY:
        return rotated(a, b);
    case BICS_BACK:
        return b & ~a;
    case SUBS_BACK:
        return b - a;
    case ANDS:
    case ORRS:
    case EORS:
    case BICS:
    case MULS:
        return value_of(operation, a, b, 0);
    default:
        return value_of(operation, 0, a, b);
    }
}

static int is_shift(uint8_t operation) {
    return operation == LSLS || operation == LSRS || operation == ASRS || operation == ROR_BY;
}

/* The sequence for one input. */
static uint32_t run(uint32_t x, int steps) {
    uint32_t values[VALUES_MAX] = {x};
    int count = 1 + constants;

    for (int i = 0; i < constants; i++)
        values[1 + i] = constant[i];
    for (int i = 0; i < steps; i++) {
        uint32_t b = is_shift(step[i].operation) ? step[i].b : values[step[i].b];
        values[count++] = one(step[i].operation, values[step[i].a], b);
    }
    return values[count - 1];
}

static void found(int steps) {
    uint32_t x = 1;

    for (int i = 0; i < INPUTS; i++) {
        x = x * 1664525 + 1013904223;
        if (run(x, steps) != target_of(kernel, x)) {
            nearly++;
            return;
        }
    }
    if (right++ < 8) {
        printf("right:");
        for (int i = 0; i < steps; i++)
            printf(" %d(%d,%d)", step[i].operation, step[i].a, step[i].b);
        printf("\n");
    }
}

/* --- the last step: what the step before it must have made */

#define NEEDED_MAX 128
#define HASHED 4096

struct need {
    struct pair value;
    uint8_t operation, operand;
};

static struct need needed[NEEDED_MAX];
static int needs;
static uint8_t hashed[HASHED];

static inline unsigned hash_of(uint32_t first) {
    return first * 2654435761u >> 20;
}

static void need(uint32_t first, uint32_t second, uint8_t operation, int operand) {
    needed[needs++] = (struct need){{first, second}, operation, (uint8_t)operand};
    hashed[hash_of(first)]++;
}

/* The values from which one reversible instruction makes the target, with any operand in `operands`. */
static void find_needs(uint32_t operands, int may_be_alone) {
    uint32_t t = target.first, u = target.second;

    for (int i = 0; i < needs; i++)
        hashed[hash_of(needed[i].value.first)] = 0;
    needs = 0;
    for (int w = 0; w < VALUES_MAX; w++)
        if (operands >> w & 1) {
            uint32_t p = value[w].first, q = value[w].second;
            need(t ^ p, u ^ q, EORS, w);
            need(t - p, u - q, ADDS, w);
            need(t + p, u + q, SUBS, w);
            need(p - t, q - u, SUBS_BACK, w);
        }
    if (!may_be_alone)
        return;
    need(~t, ~u, MVNS, 0);
    need(0 - t, 0 - u, RSBS, 0);
    need(swapped(t), swapped(u), REV, 0);
    need(rotated(swapped(t), 16), rotated(swapped(u), 16), REV16, 0);
    for (uint8_t by = 1; by < 32; by++)
        need(rotated(t, 32u - by), rotated(u, 32u - by), ROR_BY, by);
}

/* The other instructions that end in one value alone cannot make the target: it is odd for one input, its top
 * bit is set and the next is not, and its upper half is neither zeros nor ones. */
static int others_cannot_end(void) {
    uint32_t t = target.first, u = target.second;

    return (t & 1) && (t >> 30 == 2 || u >> 30 == 2) && t >> 16 != 0 && t >> 16 != 0xffff &&
           t >> 8 != 0xffffff;
}

static void end_with(int depth, uint8_t operation, uint8_t a, uint8_t b) {
    step[depth] = (struct step){operation, a, b};
    found(steps_wanted);
}

/* The value of the last step but one is made: is there an instruction that makes the target of it? */
static inline __attribute__((always_inline)) void close_with(int depth, struct pair made, uint32_t operands,
                                                             struct step by) {
    uint32_t t = target.first;
    uint8_t made_at = (uint8_t)(1 + constants + depth);

    tried++;
    if (hashed[hash_of(made.first)])
        for (int i = 0; i < needs; i++)
            if (needed[i].value.first == made.first && needed[i].value.second == made.second) {
                step[depth] = by;
                end_with(depth + 1, needed[i].operation, made_at, needed[i].operand);
            }
    for (uint32_t rest = operands; rest; rest &= rest - 1) {
        uint8_t w = (uint8_t)__builtin_ctz(rest);
        uint32_t p = value[w].first, q = value[w].second;
        uint8_t operation = (made.first & p) == t    ? ANDS
                            : (made.first | p) == t  ? ORRS
                            : (made.first & ~p) == t ? BICS
                            : (p & ~made.first) == t ? BICS_BACK
                            : made.first * p == t    ? MULS
                                                     : NOP;
        if (operation != NOP && one(operation, made.second, q) == target.second) {
            step[depth] = by;
            end_with(depth + 1, operation, made_at, w);
        }
    }
    if (made.first * made.first == t && made.second * made.second == target.second) {
        step[depth] = by;
        end_with(depth + 1, MULS, made_at, made_at);
    }
}

/* --- a last step but one that does not use the value before it
 *
 * The last step then uses both, so that one decides the other. All values that one instruction makes without the
 * newest value are kept in a pool, which serves for every newest value. */

#define POOL_MAX 4096
#define POOL_HASHED 65536

struct pooled {
    struct pair value;
    struct step by;
    uint32_t uses;
};

static struct pooled pool[POOL_MAX];
static int pooled;
static uint8_t in_pool[POOL_HASHED];

static inline unsigned pool_hash(uint32_t first) {
    return first * 2654435761u >> 16;
}

static void add_to_pool(uint8_t operation, uint8_t a, uint8_t b, struct pair p, struct pair q,
                        uint32_t uses) {
    struct pair made = {one(operation, p.first, q.first), one(operation, p.second, q.second)};

    if (pooled == POOL_MAX)
        exit(4);
    pool[pooled++] = (struct pooled){made, {operation, a, b}, uses};
    in_pool[pool_hash(made.first)] = 1;
}

static const uint8_t plain[] = {MVNS, RSBS, UXTB, UXTH, SXTB, SXTH, REV, REV16, REVSH};
static const uint8_t shifts[] = {LSLS, LSRS, ASRS, ROR_BY};
static const uint8_t pairs[] = {ANDS, ORRS, EORS, ADDS, MULS, BICS, SUBS, BICS_BACK, SUBS_BACK};

static void fill_pool(int count) {
    for (int i = 0; i < pooled; i++)
        in_pool[pool_hash(pool[i].value.first)] = 0;
    pooled = 0;
    for (uint8_t a = 0; a < count; a++) {
        for (unsigned i = 0; i < sizeof(plain); i++)
            add_to_pool(plain[i], a, 0, value[a], (struct pair){0, 0}, 1u << a);
        for (unsigned i = 0; i < sizeof(shifts); i++)
            for (uint8_t by = 1; by < 32; by++)
                add_to_pool(shifts[i], a, by, value[a], (struct pair){by, by}, 1u << a);
        for (uint8_t b = a; b < count; b++)
            for (unsigned i = 0; i < sizeof(pairs); i++)
                add_to_pool(pairs[i], a, b, value[a], value[b], 1u << a | 1u << b);
    }
}

/* Whether the pool has a value that makes the target with the newest one. */
static void close_from_pool(int depth, uint32_t unused) {
    int newest = constants + depth;
    uint32_t t = target.first, u = target.second, others = unused & ~(1u << newest);
    struct pair v = value[newest];
    uint32_t inverse = v.first;
    struct need wanted[5] = {
        {{t ^ v.first, u ^ v.second}, EORS, 0},
        {{t - v.first, u - v.second}, ADDS, 0},
        {{t + v.first, u + v.second}, SUBS, 0},
        {{v.first - t, v.second - u}, SUBS_BACK, 0},
        {{0, 0}, NOP, 0},
    };

    /* The target is odd for the first input, so a factor is odd there and has an inverse. */
    if (v.first & 1) {
        for (int i = 0; i < 4; i++)
            inverse *= 2 - v.first * inverse;
        wanted[4] = (struct need){{t * inverse, 0}, MULS, 0};
    }
    tried += (uint64_t)pooled;
    for (int k = 0; k < 5; k++) {
        if (wanted[k].operation == NOP || !in_pool[pool_hash(wanted[k].value.first)])
            continue;
        for (int i = 0; i < pooled; i++)
            if (pool[i].value.first == wanted[k].value.first && (others & ~pool[i].uses) == 0 &&
                one(wanted[k].operation, pool[i].value.second, v.second) == u) {
                step[depth] = pool[i].by;
                end_with(depth + 1, wanted[k].operation, (uint8_t)(newest + 1), (uint8_t)newest);
            }
    }
    if ((t & ~v.first) == 0 || (v.first & ~t) == 0 || (t & v.first) == 0)
        for (int i = 0; i < pooled; i++)
            for (unsigned k = 0; k < sizeof(pairs); k++)
                if (pairs[k] != EORS && pairs[k] != MULS && (others & ~pool[i].uses) == 0 &&
                    one(pairs[k], pool[i].value.first, v.first) == t &&
                    one(pairs[k], pool[i].value.second, v.second) == u) {
                    step[depth] = pool[i].by;
                    end_with(depth + 1, pairs[k], (uint8_t)(newest + 1), (uint8_t)newest);
                }
}

static void look(int depth, uint32_t unused);

/* A value made in step `depth`: go on with it. `unused` are the values that no step has used, without it. */
static inline __attribute__((always_inline)) void take(int depth, uint32_t unused, struct pair made,
                                                       uint8_t operation, uint8_t a, uint8_t b) {
    int count = 1 + constants + depth;

    if (depth + 2 == steps_wanted) {
        uint32_t operands = unused ? unused : (1u << count) - 1;
        close_with(depth, made, operands, (struct step){operation, a, b});
        return;
    }
    for (int i = 0; i < count; i++)
        if (value[i].first == made.first && value[i].second == made.second)
            return;
    step[depth] = (struct step){operation, a, b};
    value[count] = made;
    look(depth + 1, unused | 1u << count);
}

/* Steps that do not need each other come in one order: the operands of the later one are not below. */
static int ordered(int depth, uint8_t operation, uint8_t a, uint8_t b) {
    const struct step *before = &step[depth - 1];
    int newest = constants + depth, top = a;

    if (depth == 0)
        return 1;
    if (!is_shift(operation) && b > top)
        top = b;
    if (top == newest)
        return 1; /* it needs the one before */
    if (operation != before->operation)
        return operation > before->operation;
    return a != before->a ? a > before->a : b > before->b;
}

static void look(int depth, uint32_t unused) {
    int count = 1 + constants + depth, left = steps_wanted - depth;
    int open = __builtin_popcount(unused);

    /* Every value is used in the end: a step uses up two at most and makes one. */
    if (open > left + 1)
        return;
    int last_but_one = left == 2, newest = count - 1;
    if (left == 3 || (last_but_one && depth == 0))
        fill_pool(count);
    if (last_but_one) {
        find_needs((1u << count) - 1, 1);
        if (depth > 0)
            close_from_pool(depth, unused);
    }
    for (int a = 0; a < count; a++) {
        uint32_t after_a = unused & ~(1u << a);

        if (__builtin_popcount(after_a) <= left - 1 && (!last_but_one || depth == 0 || a == newest)) {
            for (unsigned i = 0; i < sizeof(plain); i++)
                if (ordered(depth, plain[i], (uint8_t)a, 0))
                    take(depth, after_a,
                         (struct pair){one(plain[i], value[a].first, 0), one(plain[i], value[a].second, 0)},
                         plain[i], (uint8_t)a, 0);
            for (unsigned i = 0; i < sizeof(shifts); i++)
                for (uint8_t by = 1; by < 32; by++)
                    if (ordered(depth, shifts[i], (uint8_t)a, by))
                        take(depth, after_a,
                             (struct pair){one(shifts[i], value[a].first, by),
                                           one(shifts[i], value[a].second, by)},
                             shifts[i], (uint8_t)a, by);
        }
        for (int b = last_but_one && depth > 0 ? newest : a; b < count; b++) {
            uint32_t after = after_a & ~(1u << b);

            if (__builtin_popcount(after) > left - 1)
                continue;
            for (unsigned i = 0; i < sizeof(pairs); i++)
                if (ordered(depth, pairs[i], (uint8_t)a, (uint8_t)b))
                    take(depth, after,
                         (struct pair){one(pairs[i], value[a].first, value[b].first),
                                       one(pairs[i], value[a].second, value[b].second)},
                         pairs[i], (uint8_t)a, (uint8_t)b);
        }
    }
}

int main(int count, char **words) {
    if (count < 3)
        return 2;
    kernel = (enum kernel)atoi(words[1]);
    steps_wanted = atoi(words[2]);
    constants = count - 3;
    if (kernel >= KERNELS || steps_wanted < 2 || steps_wanted > STEPS_MAX || constants > 6)
        return 2;
    value[0] = (struct pair){inputs[0], inputs[1]};
    for (int i = 0; i < constants; i++) {
        constant[i] = (uint32_t)strtoul(words[3 + i], NULL, 16);
        value[1 + i] = (struct pair){constant[i], constant[i]};
    }
    target = (struct pair){target_of(kernel, inputs[0]), target_of(kernel, inputs[1])};
    if (!others_cannot_end())
        return 3;
    look(0, 0);
    printf("tried %" PRIu64 " right %" PRIu64 " nearly %" PRIu64 "\n", tried, right, nearly);
    return 0;
}
