/* timing_harness.c: the instructions and timing rules of RISC-V cores without a core: the test gives codes and costs. */
#include <stdbool.h>

#include "riscv_timing.h"

#include "../drivers/harness.h"

static struct riscv_predictor predictor;
static struct riscv_fetch fetch;
static uint32_t regions[256], cost[RISCV_COST_COUNT];

static uint64_t sizes(const uint64_t *n) {
    memset(&predictor, 0x55, sizeof predictor);
    memset(regions, 0, sizeof regions);
    predictor.btb_entries = (uint32_t)n[0];
    predictor.bht_entries = (uint32_t)n[1];
    predictor.ras_entries = (uint32_t)n[2];
    predictor.region = predictor.return_count = 0;
    return 0;
}

static uint64_t begin(const uint64_t *n) {
    riscv_predictor_begin(&predictor, n[0] != 0);
    return 0;
}

/* Its address, its target; whether it is taken. */
static uint64_t branch(const uint64_t *n) {
    struct riscv_turn turn = {(uint32_t)n[0], (uint32_t)n[1], &regions[n[0] / 2 % 256]};
    return riscv_predict_branch(&predictor, &turn, n[2] != 0);
}

/* Its address, its target, the address after it; whether it calls, whether it returns. */
static uint64_t jump(const uint64_t *n) {
    struct riscv_turn turn = {(uint32_t)n[0], (uint32_t)n[1], &regions[n[0] / 2 % 256]};
    return riscv_predict_jump(&predictor, &turn, (uint32_t)n[2], n[3] != 0, n[4] != 0);
}

static uint64_t costs(const uint64_t *n) {
    memset(cost, 0, sizeof cost);
    for (unsigned i = 0; i + 1 < 16 && n[i + 1] != 0; i += 2) {
        cost[n[i]] = (uint32_t)n[i + 1];
    }
    return 0;
}

static uint64_t restart(const uint64_t *n) {
    riscv_fetch_restart(&fetch, (uint32_t)n[0], n[1], cost);
    return 0;
}

static uint64_t until(const uint64_t *n) {
    return riscv_fetch_until(&fetch, (uint32_t)n[0], n[1], cost);
}

static uint64_t late(const uint64_t *n) {
    (void)n;
    return riscv_results_come_late(cost);
}

static uint64_t divide(const uint64_t *n) {
    return riscv_divide_result((uint32_t)n[0], (uint32_t)n[1], n[2] != 0, cost);
}

/* The number of a cost by its place in the descriptor; its name's first letters. */
static uint64_t named(const uint64_t *n) {
    uint64_t text = 0;
    for (unsigned i = 0; i < 8; i++) {
        text = text << 8 | (uint8_t)riscv_cost_names[n[0]][i];
    }
    return text;
}

/* Both halves of a code, what the core has. The operation, rd, rs1, rs2 and bytes. */
static uint64_t decoded(const uint64_t *n) {
    struct riscv_instruction i = riscv_decode((uint16_t)n[0], (uint16_t)n[1], (unsigned)n[2]);
    return (uint64_t)i.bytes << 32 | (uint64_t)i.rs2 << 24 | (uint64_t)i.rs1 << 16 | (uint64_t)i.rd << 8 |
           i.operation;
}

static uint64_t immediate(const uint64_t *n) {
    return (uint32_t)riscv_decode((uint16_t)n[0], (uint16_t)n[1], (unsigned)n[2]).immediate;
}

static uint64_t has(const uint64_t *n) {
    struct riscv_instruction i = riscv_decode((uint16_t)n[0], (uint16_t)n[1], (unsigned)n[2]);
    return riscv_has(&i, (unsigned)n[2]);
}

int main(int argc, char **argv) {
    static const struct operation operations[] = {
        {"sizes", sizes},   {"begin", begin},     {"branch", branch},   {"jump", jump},
        {"costs", costs},   {"restart", restart}, {"until", until},     {"late", late},
        {"divide", divide}, {"named", named},     {"decoded", decoded}, {"immediate", immediate},
        {"has", has},
    };
    (void)argc;
    return SERVE(operations, argv);
}
