/* SPDX-License-Identifier: MIT
 * riscv_timing.h: when a single-issue, in-order RISC-V core issues each instruction: results that come late,
 * a branch predictor, and a fetch unit whose memory needs several cycles for a word. It contains no figures:
 * those are the costs of the device's descriptor (device.toml, [simulator.cycles]). It executes nothing.
 * Sources of the rules: SiFive FE310-G002 Manual v19p05, 3.2 and 3.3 (result latencies, interlocks,
 * predictor); github.com/jnk0le/random, "ch32v003 (qkv2)" (measured cycles of loads, branches and fetches of
 * QingKe V2).
 */
#ifndef MOTECRYPT_RISCV_TIMING_H
#define MOTECRYPT_RISCV_TIMING_H

#include <string.h>

#include "bounds.h"
#include "riscv_decode.h"

#define RISCV_COSTS(X)                                                                                       \
    X(alu) /* until the next instruction may issue; so for all without `_result` */                          \
    X(load)                                                                                                  \
    X(load_word_result)   /* how much later the loaded word can be used; so for all with `_result` */        \
    X(load_narrow_result) /* of bytes and halfwords */                                                       \
    X(store)                                                                                                 \
    X(multiply)                                                                                              \
    X(multiply_result)                                                                                       \
    X(divide)                                                                                                \
    X(divide_least_result) /* the quotient is 0 */                                                           \
    X(divide_most_result)  /* the quotient has 32 bits */                                                    \
    X(csr)                                                                                                   \
    X(csr_result)                                                                                            \
    X(atomic)                                                                                                \
    X(atomic_result)                                                                                         \
    X(fence)                                                                                                 \
    X(branch)        /* not taken; where there is a predictor: predicted */                                  \
    X(branch_taken)  /* without a predictor, so for the next two */                                          \
    X(jump)          /* JAL */                                                                               \
    X(jump_register) /* JALR */                                                                              \
    X(mispredicted)  /* more, where the predictor is wrong */                                                \
    X(fetch_word)    /* until the memory gives four bytes of code; 0: code is always there in time */        \
    X(fetch_ahead)   /* words that are fetched before they are needed */

enum riscv_cost {
#define X(name) RISCV_COST_##name,
    RISCV_COSTS(X)
#undef X
        RISCV_COST_COUNT
};

static const char *const riscv_cost_names[RISCV_COST_COUNT] = {
#define X(name) #name,
    RISCV_COSTS(X)
#undef X
};

/* ---- the branch predictor ---- */

enum { RISCV_BTB_MAX = 64, RISCV_BHT_MAX = 1024, RISCV_RAS_MAX = 16, RISCV_UNTRAINED = 0xFF };

/* Targets of taken branches (BTB), a direction for each conditional one (BHT), return addresses (RAS). The
 * sizes are the manual's. It names neither the replacement nor the counters: first in, first out, and
 * counters of two bits that the address and the last directions select, as in the public Rocket core from
 * which the E31 comes.
 *
 * A timed region begins with a predictor that has seen the code before, as published figures are of repeated
 * runs. It is in the same state each time, so that equal code takes equal cycles: a jump or branch that the
 * region meets for the first time is in the BTB, and a branch backwards without a trained counter is expected
 * to be taken. */
struct riscv_predictor {
    uint32_t btb_entries, bht_entries, ras_entries; /* btb_entries is 0: there is no predictor */
    uint32_t pc[RISCV_BTB_MAX], target[RISCV_BTB_MAX];
    uint32_t next_entry, history;
    uint8_t counters[RISCV_BHT_MAX];
    uint32_t returns[RISCV_RAS_MAX];
    uint32_t return_count;
    uint32_t region; /* the how manyth timed region; 0: before any */
};

/* A jump or branch in its place. `region`: in which it was last met. */
struct riscv_turn {
    uint32_t pc, target;
    uint32_t *region;
};

static inline void riscv_predictor_begin(struct riscv_predictor *p, bool is_region) {
    p->next_entry = p->history = 0;
    memset(p->pc, 0xFF, sizeof p->pc); /* no instruction is at an odd address */
    memset(p->counters, is_region ? RISCV_UNTRAINED : 0, sizeof p->counters);
    p->region += is_region;
}

static inline int riscv_predictor_find(const struct riscv_predictor *p, uint32_t pc) {
    for (uint32_t i = 0; i < p->btb_entries; i++) {
        if (p->pc[i] == pc) {
            return (int)i;
        }
    }
    return -1;
}

static inline void riscv_predictor_learn(struct riscv_predictor *p, int entry,
                                         const struct riscv_turn *turn) {
    if (entry < 0) {
        entry = (int)p->next_entry;
        p->next_entry = (p->next_entry + 1) % p->btb_entries;
    }
    p->pc[entry] = turn->pc;
    p->target[entry] = turn->target;
}

/* The entry of a jump or branch, or -1. */
static inline int riscv_predictor_meet(struct riscv_predictor *p, const struct riscv_turn *turn) {
    int entry = riscv_predictor_find(p, turn->pc);
    if (entry < 0 && *turn->region != p->region) {
        entry = (int)p->next_entry;
        riscv_predictor_learn(p, -1, turn);
    }
    *turn->region = p->region;
    return entry;
}

/* A conditional branch. Returns whether it was predicted wrongly. */
static inline bool riscv_predict_branch(struct riscv_predictor *p, const struct riscv_turn *turn,
                                        bool taken) {
    int entry = riscv_predictor_meet(p, turn);
    uint8_t *counter = &p->counters[((turn->pc >> 2) ^ p->history) % p->bht_entries];
    bool predicted;
    if (entry < 0) { /* without a target it is not predicted as taken */
        if (taken) {
            *counter = 2;
            riscv_predictor_learn(p, -1, turn);
        }
        return taken;
    }
    if (*counter == RISCV_UNTRAINED) {
        *counter = turn->target < turn->pc ? 2 : 1;
    }
    predicted = *counter >= 2;
    if (taken && *counter < 3) {
        ++*counter;
    } else if (!taken && *counter > 0) {
        --*counter;
    }
    p->history = (p->history << 1 | taken) % p->bht_entries;
    return predicted != taken;
}

/* A jump that is always taken. `next`: the address after it. Returns whether its target was not predicted. */
static inline bool riscv_predict_jump(struct riscv_predictor *p, const struct riscv_turn *turn, uint32_t next,
                                      bool is_call, bool is_return) {
    int entry = riscv_predictor_meet(p, turn);
    bool right = entry >= 0 && p->target[entry] == turn->target;
    if (is_return && p->return_count > 0) {
        p->return_count--;
        right = entry >= 0 && p->returns[p->return_count % p->ras_entries] == turn->target;
    }
    if (is_call) {
        p->returns[p->return_count % p->ras_entries] = next;
        p->return_count++;
    }
    if (entry < 0 || p->target[entry] != turn->target) {
        riscv_predictor_learn(p, entry, turn);
    }
    return !right;
}

/* ---- the fetch unit ---- */

enum { RISCV_FETCH_RING = 8 }; /* more than fetch_ahead */

/* Words of code come from the memory one after the other, some ahead of the instructions that need them. */
struct riscv_fetch {
    uint32_t word; /* the last one that was fetched or is coming: address / 4 */
    uint64_t at;   /* when it is there */
    uint64_t
        taken_up[RISCV_FETCH_RING]; /* when a word's first instruction issued, which makes room for another */
};

/* A branch to `word` has issued, and the next instruction would issue at `now`, at the earliest, if its word
 * were there after one cycle. */
static inline void riscv_fetch_restart(struct riscv_fetch *f, uint32_t word, uint64_t now,
                                       const uint32_t *cost) {
    f->word = word - 1;
    f->at = now - 1;
    for (unsigned i = 0; i < RISCV_FETCH_RING; i++) {
        f->taken_up[i] = 0;
    }
    (void)cost;
}

/* When the instruction whose last byte is in `word` can issue, if it were ready at `now`. */
static inline uint64_t riscv_fetch_until(struct riscv_fetch *f, uint32_t word, uint64_t now,
                                         const uint32_t *cost) {
    while ((int32_t)(word - f->word) > 0) {
        uint32_t ahead = cost[RISCV_COST_fetch_ahead];
        uint64_t room;
        f->word++;
        room = f->taken_up[(f->word - ahead) % RISCV_FETCH_RING];
        f->at = most(f->at, ahead == 0 ? now : room) + cost[RISCV_COST_fetch_word];
    }
    now = most(now, f->at);
    f->taken_up[word % RISCV_FETCH_RING] = now;
    return now;
}

/* Whether any result comes later than the next instruction may issue: else none waits for one. */
static inline bool riscv_results_come_late(const uint32_t *cost) {
    return (cost[RISCV_COST_load_word_result] | cost[RISCV_COST_load_narrow_result] |
            cost[RISCV_COST_multiply_result] | cost[RISCV_COST_divide_least_result] |
            cost[RISCV_COST_divide_most_result] | cost[RISCV_COST_csr_result] |
            cost[RISCV_COST_atomic_result]) != 0;
}

/* ---- division ---- */

/* By how many bits the quotient has: "between 2 and 33 cycles, depending on the operand values", a bit in a
 * cycle. */
static inline uint32_t riscv_divide_result(uint32_t dividend, uint32_t divisor, bool is_signed,
                                           const uint32_t *cost) {
    uint32_t least_cycles = cost[RISCV_COST_divide_least_result];
    uint32_t range = cost[RISCV_COST_divide_most_result] - least_cycles, bits;
    if (is_signed) {
        dividend = (int32_t)dividend < 0 ? 0u - dividend : dividend;
        divisor = (int32_t)divisor < 0 ? 0u - divisor : divisor;
    }
    if (divisor == 0) {
        return least_cycles + range;
    }
    bits = dividend < divisor ? 0 : (uint32_t)(__builtin_clz(divisor) - __builtin_clz(dividend)) + 1u;
    return least_cycles + (uint32_t)least(range, bits);
}

#endif
