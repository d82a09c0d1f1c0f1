/* SPDX-License-Identifier: GPL-2.0-only -- part of arm.c, which links Unicorn.
 * arm_cores.h: two cores in lock-step by cycles. Each has an engine of its own over the same memories, and a stack of
 * its own to run on; the one whose time is less runs. What they do to each other is exact: an access to a register, and
 * an event, happen in the order of their cycles, those of core 0 first at the same cycle. Blocks of code begin in that
 * order too; within a block, accesses to memory are not ordered against those of the other core's block.
 *
 * The second engine is made when firmware first calls core 1; until then it sleeps in the boot ROM at no cost.
 */
#ifndef MOTECRYPT_ARM_CORES_H
#define MOTECRYPT_ARM_CORES_H

#include <ucontext.h>

#include "arm_machine.h"
#include "arm_rom_core1.h"
#include "arm_watch.h"

enum { CORES_STACK_BYTES = 1 << 20 };

#define PSM_FORCE_OFF 0x40010004u /* RP2040 datasheet, 2.13.5: FRCE_OFF */
#define PSM_FORCE_OFF_RP2350 0x40018004u
#define PSM_CORE1 (1u << 16)
#define ARM_WFE 0xBF20u
#define ARM_WFI 0xBF30u

static struct {
    void (*connect)(struct machine *m); /* gives the running core's engine its registers and hooks */
    struct machine *machine;
    void *stack; /* that core 1 runs on */
    ucontext_t begin, unused;
    uint32_t pc;  /* where core 1 begins */
    bool is_held; /* core 1, in reset */
} cores;

/* Most of an access is its list, which is short. */
static inline void copy_access(struct access *to, const struct access *from) {
    memcpy(to, from, offsetof(struct access, served));
    to->served_count = from->served_count;
    for (uint32_t i = 0; i < from->served_count; i++) {
        to->served[i] = from->served[i];
    }
}

static inline void keep_core(struct machine *m, struct core *core) {
    core->uc = m->uc;
    core->cycles = m->cycles;
    core->instructions = m->instructions;
    core->misses = m->cache.misses;
    core->current = m->current;
    if (m->current == &m->before) {
        core->before = m->before;
        core->current = &core->before;
    }
    copy_access(&core->access, &m->access);
    core->event = m->event;
    core->attend_at = m->attend_at;
    core->sp = m->sp;
    core->deepest_sp = m->deepest_sp;
    core->sp_may_move = m->sp_may_move;
}

static inline void bring_core(struct machine *m, unsigned number) {
    struct core *core = &m->cores[number];
    m->core = m->chip.rp2040.core = number;
    m->uc = core->uc;
    m->cycles = core->cycles;
    m->instructions = core->instructions;
    m->cache.misses = core->misses;
    m->current = core->current;
    if (core->current == &core->before) {
        m->before = core->before;
        m->current = &m->before;
    }
    copy_access(&m->access, &core->access);
    m->event = core->event;
    m->attend_at = core->attend_at;
    m->sp = core->sp;
    m->deepest_sp = core->deepest_sp;
    m->sp_may_move = core->sp_may_move;
    core->current = NULL; /* no slot is kept for it meanwhile */
    m->event_at = core->is_called ? 0 : m->event_at;
    core->is_called = false;
}

/* The other core runs, until it is this one's turn again. */
static __attribute__((noinline)) void switch_core(struct machine *m) {
    struct core *mine = &m->cores[m->core], *other = other_core(m);
    uint64_t slice = m->slice + m->cache.misses * m->miss_cycles;
    mine->is_resumable = true;
    keep_core(m, mine);
    bring_core(m, 1 - m->core);
    m->slice = slice - m->cache.misses * m->miss_cycles;
    set_deadline(m);
    if (_setjmp(mine->resume) == 0) {
        if (!other->is_resumable) {
            other->is_resumable = true;
            setcontext(&cores.begin);
        }
        _longjmp(other->resume, 1);
    }
}

/* Returns when the running core may act at `time`: the other will do nothing before. At the same time, core 0 is first. */
static void wait_for_turn(struct machine *m, uint64_t time) {
    struct core *mine = &m->cores[m->core], *other = other_core(m);
    mine->pending = time;
    while (m->ending == NULL && other->pending != NEVER && other->pending + (m->core == 0) <= mine->pending) {
        switch_core(m);
    }
    if (m->ending != NULL || mine->begins_anew) {
        uc_emu_stop(m->uc);
    }
}

/* A hook on blocks has counted the current one, which the other core's turn may precede. */
static void give_way(struct machine *m) {
    wait_for_turn(m, core_time(m) - m->current->cycles);
}

/* Before an access to a register takes effect: in the order of the cycles of both cores' accesses. */
static inline void order_access(struct machine *m) {
    if (other_runs(m)) {
        wait_for_turn(m, board_cycles(m));
    }
}

/* ---- sleep ---- */

/* Whether the running core's event register is set now, which clears it. */
static bool take_event(struct machine *m) {
    uint64_t *events = m->cores[m->core].events;
    if (events[0] > core_time(m)) {
        return false;
    }
    events[0] = events[1] > core_time(m) ? events[1] : NEVER;
    return true;
}

/* Time passes for a core that sleeps, up to `until` or to the end of a slice. */
static void pass_time(struct machine *m, uint64_t until) {
    uint64_t waited = m->cache.misses * m->miss_cycles;
    m->cycles = most(m->cycles, least(until - waited, m->slice));
    if (m->cycles >= m->slice) {
        meet_deadline(m, m->current->next);
    }
}

/* WFE or WFI. Returns false if nothing can wake the core. */
static bool sleep_core(struct machine *m, bool for_event) {
    struct core *mine = &m->cores[m->core], *other = other_core(m);
    bool can_wake = true;
    if (m->event.is_due) {
        send_due_event(m, m->current->next, 0);
    }
    while (m->ending == NULL && !mine->begins_anew && !(for_event && take_event(m))) {
        uint64_t wakes = for_event ? mine->events[0] : NEVER;
        wakes = m->wakes_at != NULL ? least(wakes, m->wakes_at(m, for_event)) : wakes;
        if (wakes <= core_time(m)) {
            break;
        }
        mine->waits_for_event = for_event;
        mine->sleeps = true;
        mine->pending = wakes;
        if (other->pending != NEVER && other->pending + (m->core == 0) <= wakes) {
            switch_core(m);
        } else if (wakes == NEVER) {
            can_wake = false;
            break;
        } else {
            pass_time(m, wakes);
        }
    }
    mine->sleeps = mine->waits_for_event = false;
    return can_wake;
}

/* Runs the present core from an address until its engine ends for another reason than sleep or an exception. */
static uc_err run_core(struct machine *m, uint32_t pc) {
    struct core *mine = &m->cores[m->core];
    mine->until = UINT32_MAX;
    for (;;) {
        uc_err error = uc_emu_start(m->uc, pc | 1u, mine->until, 0, 0);
        uint16_t code;
        if (m->ending != NULL || mine->begins_anew) {
            return error;
        }
        if (m->goes_on != NULL && m->goes_on(m, error)) {
            pc = mine->at;
            continue;
        }
        pc = register_value(m, UC_ARM_REG_PC);
        code = code_at(m, pc - 2);
        if (m->ending != NULL || m->current->next != pc || (code != ARM_WFE && code != ARM_WFI)) {
            return error;
        }
        if (!sleep_core(m, code == ARM_WFE) || m->ending != NULL || mine->begins_anew) {
            return UC_ERR_OK;
        }
        if (m->wakes != NULL) {
            m->wakes(m, pc);
            pc = mine->at;
        }
        if (m->ending != NULL) {
            return UC_ERR_OK;
        }
    }
}

/* Ends the run as the running core's engine has ended. */
static void end_core(struct machine *m, uc_err error) {
    uint32_t pc = register_value(m, UC_ARM_REG_PC);
    if (error == UC_ERR_INSN_INVALID) {
        if ((register_value(m, UC_ARM_REG_XPSR) >> 24 & 1u) != 0) {
            end_undefined(m, pc);
        } else {
            finish(m, "fault", "jump to an even address (ARM state) at 0x%" PRIx32, pc);
        }
    }
    finish(m, "fault", "%s at 0x%" PRIx32,
           error == UC_ERR_OK ? "the firmware sleeps, and nothing can wake it" : uc_strerror(error), pc);
}

/* What a reset clears in the core that runs: masks, flags and an IT block; the floating-point unit is unused, and so takes its default modes. */
static void clear_special(struct machine *m) {
    static const int special[] = {UC_ARM_REG_PRIMASK, UC_ARM_REG_CONTROL, UC_ARM_REG_IPSR,
                                  UC_ARM_REG_BASEPRI, UC_ARM_REG_FAULTMASK}; /* ARMv6-M has three */
    const uint32_t none = 0, thumb = 1u << 24;
    for (unsigned i = 0; i < (m->is_m33 ? COUNT_OF(special) : 3); i++) {
        uc_reg_write(m->uc, special[i], &none);
    }
    uc_reg_write(m->uc, UC_ARM_REG_XPSR, &thumb);
}

/* ---- core 1 ---- */

static void run_core1(void) {
    struct machine *m = cores.machine;
    struct core *mine = &m->cores[1];
    for (;;) {
        uc_err error = UC_ERR_OK;
        bool is_awake = cores.pc != ROM_CORE1 + ROM_CORE1_WAIT || sleep_core(m, true);
        if (is_awake && m->ending == NULL) {
            error = run_core(m, cores.pc);
        }
        if (m->ending == NULL && !mine->begins_anew) {
            end_core(m, error);
        }
        while (m->ending != NULL) { /* core 0 reports it */
            mine->pending = NEVER;
            switch_core(m);
        }
        mine->begins_anew = false;
        clear_special(m);
        cores.pc = ROM_CORE1;
    }
}

static void map_memories(struct machine *m, uc_engine *engine) {
    uc_mem_region *regions = NULL;
    uint32_t count = 0;
    if (host_pointer(m, ROM_CORE1, 2) == NULL && m->memory_count < MEMORIES) {
        static uint8_t rom[ROM_BYTES];
        rom_put_core1(rom);
        m->memories[m->memory_count++] = (struct memory){0, ROM_BYTES, rom};
        uc_mem_map_ptr(engine, 0, ROM_BYTES, UC_PROT_READ | UC_PROT_EXEC, rom);
    }
    uc_mem_regions(m->uc, &regions, &count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t bytes = (uint32_t)(regions[i].end - regions[i].begin + 1);
        uint8_t *data = host_pointer(m, (uint32_t)regions[i].begin, bytes);
        if (data != NULL) {
            uc_mem_map_ptr(engine, regions[i].begin, bytes, regions[i].perms, data);
        }
    }
    uc_free(regions);
}

/* Core 0 calls core 1 for the first time, which sleeps in the boot ROM and waits for an event. */
static void open_core1(struct machine *m) {
    struct core *second = &m->cores[1];
    uc_engine *first = m->uc;
    const uint32_t sio = 0xD0000000u;
    cores.stack = malloc(CORES_STACK_BYTES);
    if (cores.stack == NULL || uc_open(UC_ARCH_ARM, UC_MODE_THUMB, &second->uc) != UC_ERR_OK ||
        uc_ctl_set_cpu_model(second->uc, m->cpu) != UC_ERR_OK) {
        finish(m, "fault", "no memory for a second core");
        return;
    }
    map_memories(m, second->uc);
    cores.machine = m;
    cores.pc = ROM_CORE1 + ROM_CORE1_WAIT;
    m->give_way = give_way;
    m->uc = second->uc;
    cores.connect(m);
    m->uc = first;
    second->cycles = m->cycles - (core_time(m) - board_cycles(m));
    uc_reg_write(second->uc, UC_ARM_REG_R4, &sio); /* as the ROM has left it */
    second->misses = m->cache.misses;
    second->current = &second->before;
    second->deepest_sp = UINT32_MAX;
    second->waits_for_event = true;
    second->events[0] = second->events[1] = NEVER; /* the ROM has looked at those before */
    getcontext(&cores.begin);
    cores.begin.uc_stack.ss_sp = cores.stack;
    cores.begin.uc_stack.ss_size = CORES_STACK_BYTES;
    cores.begin.uc_link = &cores.unused;
    makecontext(&cores.begin, run_core1, 0);
    set_deadline(m);
}

/* Core 1 is held in reset, or begins again in the boot ROM. */
static void reset_core1(struct machine *m, bool is_held) {
    struct core *second = &m->cores[1];
    if (m->core == 1) {
        finish(m, "fault", "core 1 resets itself, which is not modelled");
        return;
    }
    if (second->uc == NULL) {
        open_core1(m);
    }
    if (m->ending == NULL) {
        m->chip.rp2040.nvic[1] = (struct nvic){.is_m33 = m->is_m33};
        m->chip.rp2040.rp2350.doubles[1] = (struct dcp){0};
        systick_reset(&m->chip.rp2040.nvic[1].systick, rp2040_clocks(&m->chip.rp2040, 1).reference);
        second->begins_anew = true;
        second->waits_for_event = second->event.is_due = false;
        second->events[0] = second->events[1] = NEVER;
        second->pending = is_held ? NEVER : board_cycles(m);
        second->cycles = most(second->cycles, core_time(m) - second->misses * m->miss_cycles);
        set_deadline(m);
    }
}

/* After a register has been written: what it does to the other core. */
static void after_write(struct machine *m, const struct chip_window *window, uint32_t address) {
    struct core *other = other_core(m);
    if (m->chip.model->kind != CHIP_RP2040) {
        return;
    }
    if (window->kind == CHIP_IO_PORT && address - window->base == SIO_FIFO_WRITE && m->core == 0 && other->uc == NULL) {
        open_core1(m);
    } else if (window->kind == CHIP_PERIPHERAL && (address & ~0x3000u) == (m->chip.rp2040.is_rp2350 ? PSM_FORCE_OFF_RP2350 : PSM_FORCE_OFF)) {
        bool is_held = (*rp2040_register(&m->chip.rp2040, PSM_FORCE_OFF) & PSM_CORE1) != 0;
        if (is_held != cores.is_held) {
            cores.is_held = is_held;
            reset_core1(m, is_held);
        }
    } else if (other->sleeps && m->wakes_at != NULL && !cores.is_held) { /* it looks again whether it is woken */
        other->pending = least(other->pending, board_cycles(m));
        set_deadline(m);
    }
}

/* Before the first instruction. `connect` gives the engine of the running core its registers and hooks. */
static void cores_begin(struct machine *m, void (*connect)(struct machine *m)) {
    cores.connect = connect;
    for (unsigned i = 0; i < SIO_CORES; i++) {
        m->cores[i].pending = m->cores[i].events[0] = m->cores[i].events[1] = NEVER;
    }
}

#endif
