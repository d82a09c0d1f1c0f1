/* SPDX-License-Identifier: GPL-2.0-only -- part of arm.c, which links Unicorn.
 * arm_fetch.h: what a core waits for a flash with wait states (arm_flash.h), block by block. The hooks here
 * are around those that count a block's own cycles; a device without wait states has none of them.
 */
#ifndef MOTECRYPT_ARM_FETCH_H
#define MOTECRYPT_ARM_FETCH_H

#include "arm_serving.h"

/* A line of a block after the first: when the core asks for it and needs it, in cycles after the block's
 * beginning, and what it waited for it when the block last ran. */
struct fetch_line {
    uint16_t asks, needs, waited;
};

struct fetch_plan {
    uint32_t address, bytes, count;
    struct fetch_line *lines;
};

/* The reads of a block that may be unaligned, with the instructions that do them. */
struct fetch_read {
    uint32_t at, next;
    struct thumb_access access;
};

struct fetch_reads {
    uint32_t address, bytes, count;
    struct fetch_read *reads;
};

enum { FETCH_REGIONS = 8 };
enum { FETCH_PLACES = 256, FETCH_PLACE_BITS = 18 /* 12 MB */, FETCH_MANY_PAGES = 100000 }; /* of the engine's table of pages */
#define FLASH_DATA UINT64_C(0x100000000) /* beyond what a core can address */

static struct {
    struct fetch_plan *plans; /* one for each slot of blocks */
    struct fetch_reads *reads; /* likewise */
    uc_cb_hookcode_t count;
    struct flash_state kept[FETCH_REGIONS]; /* as each region of the firmware has left it */
    uint32_t key[FETCH_REGIONS], keys;
    uint32_t region; /* the key of the one that runs */
    uint64_t begin_waited;
    uint64_t data_run;  /* instructions counted with the block that last read data: names its run */
    uint32_t data_end;  /* of those data */
    uint32_t data_from; /* the instructions before this address have read theirs */
    uint64_t pages;     /* that the engine has asked for */
    bool counted;       /* what the current block waits is among the cycles */
} fetch;

/* An instruction needs the lines that it is in when it begins, and asks for those its core reads early. */
static __attribute__((noinline)) void plan_fetch(struct machine *m, struct fetch_plan *plan,
                                                 const struct block *block) {
    uint32_t line = 1u << m->flash.line_shift, ahead = m->flash.figure[FLASH_core_ahead_bytes];
    uint32_t boundary = (block->address | (line - 1u)) + 1u, most_lines = block->bytes / line + 2;
    uint32_t asks = 0, needs = 0, cycles = 0;
    struct walk walk = {.next = block->address};
    free(plan->lines);
    *plan =
        (struct fetch_plan){block->address, block->bytes, 0, calloc(most_lines, sizeof(struct fetch_line))};
    while (plan->lines != NULL && walk_on(m, block, &walk)) {
        while (boundary + asks * line < walk.next + ahead && boundary + asks * line < block->next) {
            plan->lines[asks++].asks = (uint16_t)least(cycles, UINT16_MAX);
        }
        while (boundary + needs * line < walk.next) {
            plan->lines[needs++].needs = (uint16_t)least(cycles, UINT16_MAX);
        }
        cycles += walk.cycles;
    }
    plan->count = needs;
}

/* The cycles that a block waits for its code. `runs_on`: it follows the block before without a jump. */
static inline uint32_t fetch_block(struct machine *m, const struct block *block, bool runs_on) {
    struct fetch_plan *plan = &fetch.plans[(block->address >> 1) & (BLOCK_SLOTS - 1)];
    uint32_t line = block->address >> m->flash.line_shift;
    uint64_t begun = m->cycles - block->cycles;
    uint64_t asked = begun - least(begun, m->flash.figure[FLASH_core_ahead_bytes] / 4u);
    uint32_t waited = runs_on ? flash_fetch(&m->flash, line, asked, begun)
                              : flash_jump(&m->flash, block->address, block->splits != 0, begun);
    if (plan->address != block->address || plan->bytes != block->bytes) {
        plan_fetch(m, plan, block);
    }
    for (uint32_t i = 0; i < plan->count; i++) {
        struct fetch_line *each = &plan->lines[i];
        uint64_t late = begun + waited;
        each->waited = (uint16_t)flash_fetch(&m->flash, line + 1 + i, late + each->asks, late + each->needs);
        waited += each->waited;
    }
    return waited;
}

/* What the current block waits after `pc`: its waiting was counted as a whole. */
static uint32_t waits_ahead(const struct machine *m, uint32_t pc) {
    const struct fetch_plan *plan = &fetch.plans[(m->current->address >> 1) & (BLOCK_SLOTS - 1)];
    uint32_t first = m->current->address >> m->flash.line_shift, at = pc >> m->flash.line_shift, waited = 0;
    for (uint32_t i = at - first; fetch.counted && i < plan->count; i++) {
        waited += plan->lines[i].waited;
    }
    return waited;
}

static inline void wait_for_flash(struct machine *m, uint32_t pc, uint32_t cycles) {
    m->cycles += cycles;
    m->flash.waited += cycles;
    if (m->spent != NULL && cycles != 0) {
        m->spent(m, pc, cycles);
    }
}

static void on_block_fetched(uc_engine *uc, uint64_t address, uint32_t bytes, void *user) {
    struct machine *m = user;
    bool runs_on = m->current->next == (uint32_t)address && !m->current->always_taken;
    fetch.counted = false;
    fetch.count(uc, address, bytes, user);
    if ((uint32_t)address - m->flash_base < FLASH_WINDOW) {
        wait_for_flash(m, (uint32_t)address, fetch_block(m, m->current, runs_on));
        fetch.counted = true;
    } else {
        m->flash.state.current = FLASH_NO_LINE;
    }
}

/* ---- data: pages of the flash are read as registers are, at addresses of their own ---- */

static __attribute__((noinline)) void note_reads(const struct machine *m, struct fetch_reads *reads,
                                                 const struct block *block) {
    struct walk walk = {.next = block->address};
    free(reads->reads);
    *reads = (struct fetch_reads){block->address, block->bytes, 0, calloc(block->instructions, sizeof *reads->reads)};
    while (reads->reads != NULL && reads->count < block->instructions && walk_on(m, block, &walk)) {
        if (walk.access.kind == THUMB_READS && walk.access.bytes > 1) {
            reads->reads[reads->count++] = (struct fetch_read){walk.at, walk.next, walk.access};
        }
    }
}

static inline const struct fetch_reads *reads_of(const struct machine *m, const struct block *block) {
    struct fetch_reads *reads = &fetch.reads[(block->address >> 1) & (BLOCK_SLOTS - 1)];
    if (reads->address != block->address || reads->bytes != block->bytes) {
        note_reads(m, reads, block);
    }
    return reads;
}

/* Whether the read that is being served is the second half of an unaligned one, which the engine asks for as
 * two aligned ones, and where that begins. Without a trace, the registers are still as before the instruction: it
 * is the first one from `data_from` on whose operands give the address. */
static __attribute__((noinline)) bool is_second_half(const struct machine *m, uint32_t address, uint32_t bytes,
                                                     uint32_t *begin) {
    const struct fetch_reads *reads;
    *begin = split_read.begin;
    if (split_read.is_known) {
        return (*begin & (bytes - 1u)) != 0 && address - *begin < bytes;
    }
    reads = reads_of(m, m->current);
    for (uint32_t i = 0; i < reads->count; i++) {
        const struct fetch_read *read = &reads->reads[i];
        if (read->access.bytes == bytes && read->at >= fetch.data_from) {
            bool is_aligned;
            uint32_t length;
            *begin = access_address(m, &read->access, read->at);
            is_aligned = (*begin & (bytes - 1u)) == 0;
            length = is_aligned ? read->access.units * bytes : bytes;
            if (address - *begin < length) {
                fetch.data_from = address - *begin + bytes < length ? read->at : read->next;
                return !is_aligned;
            }
        }
    }
    return false;
}

/* An unaligned read is a halfword or byte after the other on the bus, a word at an odd address a byte, a halfword and a
 * byte (DDI 0439, 3.3.2): what those after the first wait. */
static uint32_t read_rest(struct machine *m, uint32_t begin, uint32_t bytes, uint64_t begun) {
    uint32_t waited = 0;
    if (bytes == 4 && (begin & 1u) != 0) {
        waited = flash_read(&m->flash, begin + 1, begun);
    }
    return waited + flash_read(&m->flash, begin + bytes - 1, begun);
}

static uint64_t read_flash_data(uc_engine *uc, uint64_t offset, unsigned bytes, void *user) {
    struct machine *m = user;
    uint32_t address = m->flash_base + (uint32_t)offset, begin = 0, waits;
    uint64_t value = 0, begun = m->cycles - m->current->cycles;
    bool same_run = m->instructions == fetch.data_run;
    bool follows = same_run && address == fetch.data_end && bytes > 1 && m->has_pipeline;
    (void)uc;
    fetch.data_from = same_run ? fetch.data_from : 0;
    memcpy(&value, m->memories[0].data + offset, bytes);
    fetch.data_end = address + bytes;
    fetch.data_run = m->instructions;
    waits = follows && is_second_half(m, address, bytes, &begin) ? read_rest(m, begin, bytes, begun)
                                                                 : flash_read(&m->flash, address, begun);
    wait_for_flash(m, m->current->address, waits);
    return value;
}

static bool is_ram_code(const struct machine *m, uint32_t address) {
    for (unsigned i = 0; i < m->ram_code_count; i++) {
        if (address - m->ram_code[i].begin < m->ram_code[i].bytes) {
            return true;
        }
    }
    return false;
}

/* The bits of a page's number in which pages of the flash and of RAM differ, up to the lowest such bit. */
static uint32_t page_bits(const struct machine *m) {
    uint64_t differ = m->memories[0].base ^ m->memories[1].base, largest = most(m->memories[0].bytes, m->memories[1].bytes);
    uint32_t page = 1024, bit = 0;
    uc_ctl_get_page_size(m->uc, &page);
    while (bit < 31 && ((differ >> bit & 1u) == 0 || UINT64_C(1) << bit < largest)) {
        bit++;
    }
    return bit + 1 - (uint32_t)__builtin_ctz(page);
}

/* The engine finds pages by the low bits of their numbers, 256 at first. Where a table in the flash and the stack want one
 * place there, most accesses would bring the page of the other one in again, which takes longer than all else. The engine
 * doubles its places when they are flushed and had been used: a page in turns as data and as code counts as another
 * use each time. Where it does not do so, only time is lost. */
static __attribute__((noinline)) void part_pages(struct machine *m) {
    uint32_t bits = page_bits(m);
    uint64_t unused;
    for (uint32_t places = FETCH_PLACES; places < 1u << bits && bits <= FETCH_PLACE_BITS; places *= 2) {
        for (uint32_t i = 0; i < places; i += 2) {
            uc_vmem_translate(m->uc, m->flash_base, UC_PROT_READ, &unused);
            uc_vmem_translate(m->uc, m->flash_base, UC_PROT_EXEC, &unused);
        }
        uc_ctl_flush_tlb(m->uc);
    }
}

/* What the engine takes a page for. A hook on memory would slow down every access; stores to a page that may
 * have code are slow as well. */
static bool on_page(uc_engine *uc, uint64_t address, uc_mem_type type, uc_tlb_entry *entry, void *user) {
    struct machine *m = user;
    uint32_t code = is_ram_code(m, (uint32_t)address) ? UC_PROT_EXEC : 0;
    (void)uc;
    if (++fetch.pages == FETCH_MANY_PAGES) {
        part_pages(m);
    }
    entry->paddr = address;
    if ((uint32_t)address - m->flash_base >= m->memories[0].bytes) {
        entry->perms = type == UC_MEM_FETCH ? UC_PROT_EXEC : UC_PROT_READ | UC_PROT_WRITE | code;
    } else if (type == UC_MEM_READ) {
        entry->paddr = FLASH_DATA + address;
        entry->perms = UC_PROT_READ;
    } else {
        entry->perms = type == UC_MEM_FETCH ? UC_PROT_EXEC : UC_PROT_WRITE;
    }
    return true;
}

/* False: the engine cannot. */
static bool fetch_hook_data(struct machine *m) {
    uc_hook hook;
    return uc_ctl_tlb_mode(m->uc, UC_TLB_VIRTUAL) == UC_ERR_OK &&
           uc_mmio_map(m->uc, FLASH_DATA + m->flash_base, m->memories[0].bytes, read_flash_data, m, NULL,
                       NULL) == UC_ERR_OK &&
           uc_hook_add(m->uc, &hook, UC_HOOK_TLB_FILL, (void *)(uintptr_t)on_page, m, 1, 0) == UC_ERR_OK;
}

/* `count`: the hook that counts a block's own cycles. False: there is no memory. */
static bool fetch_count_with(struct machine *m, uc_cb_hookcode_t count) {
    m->waits_ahead = waits_ahead;
    fetch.count = count;
    fetch.plans = calloc(BLOCK_SLOTS, sizeof *fetch.plans);
    fetch.reads = calloc(BLOCK_SLOTS, sizeof *fetch.reads);
    return fetch.plans != NULL && fetch.reads != NULL;
}

/* ---- regions ---- */

/* A region begins with the caches as the one before of the same place has left them: as in a loop of its
 * calls. Nothing else of what was before reaches into it: what is read ahead, and a buffer of one line. */
static void fetch_begin_region(struct machine *m) {
    struct flash_state *state = &m->flash.state;
    fetch.region = register_value(m, UC_ARM_REG_LR) ^ m->label << 1;
    for (uint32_t i = 0; i < fetch.keys; i++) {
        if (fetch.key[i] == fetch.region) {
            flash_copy_state(state, &fetch.kept[i]);
        }
    }
    if (m->cache_cold || m->flash.figure[FLASH_code_lines] == 0) {
        flash_forget(&m->flash);
    }
    state->current = serving_pc(m) >> m->flash.line_shift;
    state->next = FLASH_NO_LINE;
    state->next_at = state->free_at = state->taken_at = 0;
    fetch.begin_waited = m->flash.waited - waits_ahead(m, serving_pc(m));
}

static void fetch_end_region(const struct machine *m) {
    uint32_t i = 0;
    while (i < fetch.keys && fetch.key[i] != fetch.region) {
        i++;
    }
    if (i < FETCH_REGIONS) {
        fetch.keys = i == fetch.keys ? i + 1 : fetch.keys;
        fetch.key[i] = fetch.region;
        flash_copy_state(&fetch.kept[i], &m->flash.state);
    }
    fprintf(m->pipe.events, ",\"wait_cycles\":%" PRIu64,
            m->flash.waited - waits_ahead(m, serving_pc(m)) - fetch.begin_waited);
}

#endif
