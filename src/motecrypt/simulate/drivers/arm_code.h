/* SPDX-License-Identifier: GPL-2.0-only -- part of arm.c, which links Unicorn.
 * arm_code.h: code in memory changes, though no instruction of a core wrote it: the DMA or a function of the boot ROM
 * did. What was translated and measured of it is dropped, on both cores.
 */
#ifndef MOTECRYPT_ARM_CODE_H
#define MOTECRYPT_ARM_CODE_H

#include "arm_machine.h"

enum { CODE_PAGE = 0x1000, BLOCK_MAX_BYTES = 2048 /* of 512 instructions: the most that Unicorn translates together */ };

/* The measured block gives up its place, and its counts go to the profile. A core that runs it keeps a copy. */
static void drop_block(struct machine *m, struct block *block) {
    if (m->evict != NULL) {
        m->evict(m, block);
    }
    if (m->current == block) {
        m->before = *block;
        m->current = &m->before;
    }
    keep_other_current(m, block);
    *block = (struct block){0};
}

/* Whether code may run from the page. */
static bool is_code_page(const struct machine *m, uint32_t page) {
    if (page >> 28 == m->flash_base >> 28) { /* with its addresses without the cache */
        return host_pointer(m, page, CODE_PAGE) != NULL;
    }
    for (unsigned i = 0; i < m->ram_code_count; i++) {
        if (page - m->ram_code[i].begin < m->ram_code[i].bytes) {
            return true;
        }
    }
    return false;
}

/* After `bytes` at `address` were written. */
static void code_changed(void *context, uint32_t address, uint32_t bytes) {
    struct machine *m = context;
    uint64_t end = (uint64_t)address + bytes;
    for (uint64_t page = address & ~(CODE_PAGE - 1u); page < end; page += CODE_PAGE) {
        uint64_t first = most(page, address), last = least(page + CODE_PAGE, end);
        if (!is_code_page(m, (uint32_t)page)) {
            continue;
        }
        for (uint64_t at = most(first, BLOCK_MAX_BYTES) - BLOCK_MAX_BYTES; at < last; at += 2) {
            struct block *block = block_at(m, (uint32_t)at);
            if (block->address == (uint32_t)at && block->next > first && block->bytes != 0) {
                drop_block(m, block);
            }
        }
        for (unsigned i = 0; i < SIO_CORES; i++) {
            uc_engine *engine = i == m->core ? m->uc : m->cores[i].uc;
            if (engine != NULL) {
                uc_ctl_remove_cache(engine, first, last);
            }
        }
    }
}

#endif
