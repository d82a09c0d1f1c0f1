/* SPDX-License-Identifier: GPL-2.0-only -- part of arm.c, which links Unicorn.
 * arm_region.h: the timed region between two marks, and what is reported of it.
 */
#ifndef MOTECRYPT_ARM_REGION_H
#define MOTECRYPT_ARM_REGION_H

#include <inttypes.h>

#include "arm_fetch.h"
#include "arm_serving.h"
#include "arm_storage.h"

static void begin_region(struct machine *m, uint64_t cycles, uint64_t instructions) {
    if (m->cache_cold) {
        cache_flush(&m->cache);
    }
    if (m->flash.on) {
        fetch_begin_region(m);
    }
    m->in_region = true;
    m->begin_cycles = cycles;
    m->begin_instructions = instructions;
    m->begin_misses = m->cache.misses;
    m->begin_nor = m->nor;
    m->begin_sd = m->sd;
    m->begin_sp = m->deepest_sp = register_value(m, UC_ARM_REG_SP);
    m->digest = UINT64_C(0xCBF29CE484222325);
}

static void end_region(struct machine *m, uint64_t cycles, uint64_t instructions) {
    uint64_t core = cycles - m->begin_cycles;
    uint64_t misses = m->cache.misses - m->begin_misses;
    if (!m->in_region) {
        return;
    }
    m->in_region = 0;
    fprintf(m->pipe.events, "{\"event\":\"region\",\"cycles\":%" PRIu64 ",\"instructions\":%" PRIu64,
            core + misses * m->miss_cycles, instructions - m->begin_instructions);
    if (m->cache_on) {
        fprintf(m->pipe.events, ",\"core_cycles\":%" PRIu64 ",\"cache_misses\":%" PRIu64, core, misses);
    }
    if (m->label != 0) {
        fprintf(m->pipe.events, ",\"label\":%" PRIu32, m->label);
    }
    if (m->flash.on) {
        fetch_end_region(m);
    }
    storage_report(m);
    if (m->trace) {
        fprintf(m->pipe.events, ",\"stack\":%" PRIu32 ",\"trace\":\"%016" PRIx64 "\"",
                m->begin_sp - m->deepest_sp, m->digest);
    }
    fputs("}\n", m->pipe.events);
    if (m->dump != NULL) {
        fputs("end\n", m->dump);
        fflush(m->dump);
    }
}

static void on_mark(void *context, uint32_t value) {
    struct machine *m = context;
    uint32_t not_run;
    uint64_t cycles = m->cycles - ahead(m, &not_run);
    if (value & 1u) {
        m->label = (value >> 1) & 0x7Fu;
        begin_region(m, cycles, m->instructions - not_run);
    } else {
        end_region(m, cycles, m->instructions - not_run);
    }
}

#endif
