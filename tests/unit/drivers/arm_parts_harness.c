/* arm_parts_harness.c: the parts of the ARM driver that do not use Unicorn: instructions, the flash cache,
 * storage, pipes. */
#include "arm_cache.h"
#include "arm_sd.h"
#include "arm_m33.h"
#include "arm_uses.h"

#include "harness.h"

static struct cache cache;
static struct sd sd;

/* class, registers, bytes, writes_sp, and what it touches */
static uint64_t decode(const uint64_t *n) {
    struct thumb_instruction i = thumb_decode((uint16_t)n[0], (uint16_t)n[1]);
    struct thumb_access a = thumb_access((uint16_t)n[0], &i);
    if (a.kind == THUMB_NO_ACCESS) {
        a = (struct thumb_access){0, 0, 0, 0, 0, 0};
    }
    return (uint64_t)i.class << 56 | (uint64_t)i.registers << 48 | (uint64_t)i.bytes << 44 |
           (uint64_t)(i.writes_sp != 0) << 40 | (uint64_t)a.kind << 36 | (uint64_t)a.base << 32 |
           (uint64_t)(uint8_t)a.index << 24 | (uint64_t)(a.bytes << 4 | a.units) << 16 | (uint16_t)a.offset;
}

/* Of an instruction of ARMv7-M: class, registers moved, bytes, whether SP is written; then masks of registers written and
 * of those of its address; then what it touches. */
static uint64_t wide(const uint64_t *n) {
    struct thumb2_instruction i = thumb2_decode((uint16_t)n[0], (uint16_t)n[1]);
    return i.common.class | (uint64_t)i.common.registers << 8 | (uint64_t)i.common.bytes << 16 |
           (uint64_t)(i.common.writes_sp != 0) << 24 | (uint64_t)i.written << 32 | (uint64_t)i.address << 48;
}

static uint64_t touches(const uint64_t *n) {
    struct thumb_access a = thumb2_decode((uint16_t)n[0], (uint16_t)n[1]).access;
    return a.kind == THUMB_NO_ACCESS
               ? 0
               : (uint64_t)a.kind | (uint64_t)a.base << 8 | (uint64_t)(uint8_t)a.index << 16 |
                     (uint64_t)a.bytes << 24 | (uint64_t)a.units << 32 | (uint64_t)(uint16_t)a.offset << 40 |
                     (uint64_t)a.shift << 56;
}

static uint64_t dsp(const uint64_t *n) {
    return thumb2_needs_dsp((uint16_t)n[0], (uint16_t)n[1]);
}

/* Registers and flags: what is read, from bit 32 on what is written; 0 of an instruction that is not known. */
static uint64_t uses(const uint64_t *n) {
    struct thumb_instruction i = thumb_decode((uint16_t)n[0], 0);
    struct thumb_uses out = {0, 0};
    return thumb_uses((uint16_t)n[0], &i, &out) ? 1u | out.reads << 1 | (uint64_t)out.writes << 32 : 0;
}

/* What a Cortex-M33 waits for before it issues one of 16 bits; bit 16: it sets flags. */
static uint64_t waits(const uint64_t *n) {
    return m33_narrow_reads((uint16_t)n[0]) | (uint64_t)m33_narrow_sets_flags((uint16_t)n[0]) << 16;
}

/* Of a table of costs that are 1, 10, 100 ... : which ones an instruction has. */
static uint64_t cycles(const uint64_t *n) {
    uint32_t cost[THUMB_CLASS_COUNT];
    struct thumb_instruction i = thumb_decode((uint16_t)n[0], (uint16_t)n[1]);
    for (uint32_t c = 0; c < THUMB_CLASS_COUNT; c++) {
        cost[c] = 100 + c;
    }
    return thumb_cycles(&i, cost);
}

static uint64_t geometry(const uint64_t *n) {
    return (uint64_t)(int64_t)cache_init(&cache, (uint32_t)n[0], (uint32_t)n[1], (uint32_t)n[2]);
}

static uint64_t look_up(const uint64_t *n) {
    return cache_access(&cache, (uint32_t)n[0]);
}

static uint64_t flush(const uint64_t *n) {
    (void)n;
    cache_flush(&cache);
    return cache.accesses << 32 | cache.misses;
}

/* blocks, read cycles, write cycles; blocks that are there, where it only says that it has so many */
static uint64_t card(const uint64_t *n) {
    free(sd.data);
    memset(&sd, 0, sizeof sd);
    sd.data = calloc(n[3] ? n[3] : n[0] + 1, SD_BLOCK);
    sd.blocks = (uint32_t)n[0];
    sd.read_cycles = n[1];
    sd.write_cycles = n[2];
    return 0;
}

static uint64_t chosen(const uint64_t *n) {
    sd_select(&sd, (int)n[0]);
    return 0;
}

static uint64_t exchange(const uint64_t *n) {
    return sd_byte(&sd, (uint8_t)n[0], n[1]);
}

static uint64_t peek(const uint64_t *n) {
    return sd_read_register(&sd, (uint32_t)n[0], n[1]);
}

static uint64_t poke(const uint64_t *n) {
    sd_write_register(&sd, (uint32_t)n[0], (uint32_t)n[1], n[2]);
    return 0;
}

static uint64_t content(const uint64_t *n) {
    return sd.data[n[0]];
}

static uint64_t counted(const uint64_t *n) {
    return n[0] == 0 ? sd.reads : n[0] == 1 ? sd.writes : sd.busy_cycles;
}

int main(int argc, char **argv) {
    static const struct operation operations[] = {
        {"decode", decode}, {"cycles", cycles}, {"geometry", geometry}, {"look_up", look_up},
        {"flush", flush},   {"card", card},     {"chosen", chosen},     {"exchange", exchange},
        {"peek", peek},     {"poke", poke},     {"content", content},   {"counted", counted},
        {"uses", uses},     {"wide", wide},     {"touches", touches},   {"dsp", dsp},
        {"waits", waits},
    };
    (void)argc;
    return SERVE(operations, argv);
}
