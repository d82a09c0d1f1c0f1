/* SPDX-License-Identifier: GPL-2.0-only -- part of arm.c, which links Unicorn.
 * arm_exception.h: a free run of a Cortex-M0+ or Cortex-M33 takes exceptions: it stops before the instruction at which one is due, puts
 * the registers on the stack as the core does, and returns likewise; while the core sleeps, time passes to what wakes it.
 * Which exception, and when the chip's next event is: arm_nvic.h and arm_rp2040_events.h.
 * Sources: ARM DDI 0419, B1.5.6 entry, B1.5.8 return, B1.5.17 and 18 WFE and WFI; ARM DDI 0484 (Cortex-M0+ TRM), 3.7.1:
 * 15 cycles from the interrupt to its handler's first instruction. No manual gives the cycles of a return: those of the
 * eight loads and of a jump are taken. Cortex-M33: the same cycles, for the manual (Arm 100230) gives none; all is in the
 * secure state, and with floating point in use the frame has its registers too (ARM DDI 0553, B3.19).
 */
#ifndef MOTECRYPT_ARM_EXCEPTION_H
#define MOTECRYPT_ARM_EXCEPTION_H

#include <stdbool.h>

#include "arm_cores.h"
#include "arm_free.h"

enum { ENTRY_CYCLES = 15, RETURN_CYCLES = 12, FRAME_WORDS = 8, FLOAT_WORDS = 18 /* S0 to S15, FPSCR, and one unused */ };

#define EXC_RETURN 0xFFFFFF80u
#define EXC_RETURN_NO_FLOAT 0x10u
#define CONTROL_PSP 2u
#define CONTROL_FLOAT 0xCu /* FPCA, SFPA */
#define XPSR_IT 0x0600FC00u
#define XPSR_KEPT (0xF80F0000u | XPSR_IT) /* flags, Q, GE */
#define CODE_YIELD 0xBF10u

static const int frame_ids[FRAME_WORDS] = {UC_ARM_REG_R0, UC_ARM_REG_R1,  UC_ARM_REG_R2, UC_ARM_REG_R3,
                                           UC_ARM_REG_R12, UC_ARM_REG_LR, UC_ARM_REG_PC, UC_ARM_REG_XPSR};

static inline struct nvic *core_nvic(struct machine *m) {
    return &m->chip.rp2040.nvic[m->core];
}

static void set_register(struct machine *m, int id, uint32_t value) {
    uc_reg_write(m->uc, id, &value);
}

static bool put_words(struct machine *m, uint32_t address, const uint32_t *words, unsigned count) {
    uint8_t *target = address >> 28 == 2 ? host_pointer(m, address, 4 * count) : NULL; /* not ROM, not flash */
    if (target != NULL) {
        memcpy(target, words, 4 * (size_t)count);
    }
    return target != NULL;
}

static bool get_words(const struct machine *m, uint32_t address, uint32_t *words, unsigned count) {
    const uint8_t *source = host_pointer(m, address, 4 * count);
    if (source != NULL) {
        memcpy(words, source, 4 * (size_t)count);
    }
    return source != NULL;
}

/* The core continues at `pc`; the block before is over. */
static void go_on_at(struct machine *m, uint32_t pc) {
    m->cores[m->core].at = pc & ~1u;
    m->before = (struct block){.address = pc & ~1u, .next = pc & ~1u};
    m->current = &m->before;
    m->attend_at = 0; /* the stack pointer has moved */
}

/* Entry to an exception and the return are events for the core itself (B1.5.6, B1.5.18). */
static void set_event(struct machine *m) {
    uint64_t *events = m->cores[m->core].events;
    events[1] = core_time(m);
    events[0] = least(events[0], core_time(m));
}

/* --- entry and return ------------------------------------------------------------------------------ */

/* The floating-point registers go to the stack, or come from there. */
static bool move_floats(struct machine *m, uint32_t address, bool out) {
    uint32_t words[FLOAT_WORDS] = {0};
    if (!out && !get_words(m, address, words, FLOAT_WORDS)) {
        return false;
    }
    for (int i = 0; i < 17; i++) {
        int id = i < 16 ? UC_ARM_REG_S0 + i : UC_ARM_REG_FPSCR;
        if (out) {
            uc_reg_read(m->uc, id, &words[i]);
        } else {
            uc_reg_write(m->uc, id, &words[i]);
        }
    }
    return !out || put_words(m, address, words, FLOAT_WORDS);
}

static void enter_exception(struct machine *m, uint32_t number) {
    struct nvic *nvic = core_nvic(m);
    uint32_t frame[FRAME_WORDS], handler, sp, control = register_value(m, UC_ARM_REG_CONTROL);
    bool in_thread = nvic->depth == 0, on_psp = in_thread && (control & CONTROL_PSP), has_float = (control & CONTROL_FLOAT) != 0;
    uint32_t vectors = *nvic_word(nvic, NVIC_VTOR);
    for (unsigned i = 0; i < FRAME_WORDS; i++) {
        frame[i] = register_value(m, frame_ids[i]);
    }
    frame[6] = m->cores[m->core].at;
    sp = register_value(m, UC_ARM_REG_SP);
    frame[7] = (frame[7] & ~0x200u) | (sp & 4u) << 7 | 1u << 24;
    sp = (sp & ~7u) - 4u * (FRAME_WORDS + (has_float ? FLOAT_WORDS : 0));
    if (!put_words(m, sp, frame, FRAME_WORDS) || (has_float && !move_floats(m, sp + 4u * FRAME_WORDS, true))) {
        finish(m, "fault", "exception %" PRIu32 " at 0x%" PRIx32 " finds no stack: stack pointer 0x%" PRIx32, number,
               m->cores[m->core].at, sp);
        return;
    }
    if (!get_words(m, vectors + 4 * number, &handler, 1) || (handler & 1u) == 0) {
        finish(m, "fault", "exception %" PRIu32 " at 0x%" PRIx32 " finds no handler in the table at 0x%" PRIx32, number,
               m->cores[m->core].at, vectors);
        return;
    }
    if (on_psp) {
        uint32_t main_sp = register_value(m, UC_ARM_REG_MSP);
        arm_profile_stack(m, sp, main_sp);
        arm_profile_interrupt(m, handler & ~1u, main_sp, main_sp);
    } else {
        arm_profile_interrupt(m, handler & ~1u, sp + 4u * FRAME_WORDS, sp);
    }
    set_register(m, UC_ARM_REG_SP, sp);
    if (on_psp || has_float) {
        set_register(m, UC_ARM_REG_CONTROL, control & ~(CONTROL_PSP | CONTROL_FLOAT));
    }
    if (frame[7] & XPSR_IT) {
        set_register(m, UC_ARM_REG_XPSR, frame[7] & ~XPSR_IT);
    }
    set_register(m, UC_ARM_REG_IPSR, number);
    set_register(m, UC_ARM_REG_LR, (in_thread ? (on_psp ? 0xFFFFFFFDu : 0xFFFFFFF9u) : 0xFFFFFFF1u) & ~(has_float ? EXC_RETURN_NO_FLOAT : 0u));
    nvic_enter(nvic, number);
    set_event(m);
    m->interrupts++;
    m->cycles += ENTRY_CYCLES;
    m->deepest_sp = (uint32_t)least(m->deepest_sp, on_psp ? m->deepest_sp : sp);
    go_on_at(m, handler);
}

static void return_from_exception(struct machine *m, uint32_t how) {
    struct nvic *nvic = core_nvic(m);
    uint32_t frame[FRAME_WORDS], sp, number, handler_sp = register_value(m, UC_ARM_REG_SP), frame_sp;
    if (nvic->depth == 0 || ((how & 0xFu) != 0x1u && (how & 0xFu) != 0x9u && (how & 0xFu) != 0xDu)) {
        finish(m, "fault", "jump to 0x%" PRIx32 ", which does not return from an exception here", how);
        return;
    }
    if (nvic->is_m33 && nvic_running_priority(nvic) >= 0) { /* ARM DDI 0553, R_KBNF: not after NMI, nor after a hard fault */
        set_register(m, UC_ARM_REG_FAULTMASK, 0);
    }
    nvic_leave(nvic);
    set_event(m);
    number = nvic->depth != 0 ? nvic->active[nvic->depth - 1] : 0;
    set_register(m, UC_ARM_REG_IPSR, number);
    set_register(m, UC_ARM_REG_CONTROL,
                 (register_value(m, UC_ARM_REG_CONTROL) & ~CONTROL_FLOAT) | ((how & 0xFu) == 0xDu ? CONTROL_PSP : 0u));
    stacks.has_several |= (how & 0xFu) == 0xDu && m->core == 0; /* thread code has its own */
    sp = frame_sp = register_value(m, UC_ARM_REG_SP);
    if (!get_words(m, sp, frame, FRAME_WORDS)) {
        finish(m, "fault", "the return from an exception finds no stack: stack pointer 0x%" PRIx32, sp);
        return;
    }
    if (core_nvic(m)->is_m33 && !(how & EXC_RETURN_NO_FLOAT)) {
        if (!move_floats(m, sp + 4u * FRAME_WORDS, false)) {
            finish(m, "fault", "the return from an exception finds no stack: stack pointer 0x%" PRIx32, sp);
            return;
        }
        set_register(m, UC_ARM_REG_CONTROL, register_value(m, UC_ARM_REG_CONTROL) | CONTROL_FLOAT);
        sp += 4u * FLOAT_WORDS;
    }
    sp += 4u * FRAME_WORDS + (frame[7] >> 9 & 1u) * 4u;
    for (unsigned i = 0; i < 6; i++) {
        set_register(m, frame_ids[i], frame[i]);
    }
    set_register(m, UC_ARM_REG_XPSR, (frame[7] & XPSR_KEPT) | 1u << 24 | number);
    set_register(m, UC_ARM_REG_SP, sp);
    m->cycles += RETURN_CYCLES;
    arm_profile_leave(m);
    if ((how & 0xFu) == 0xDu) {
        arm_profile_stack(m, handler_sp, frame_sp);
    }
    go_on_at(m, frame[6]);
}

/* --- when ------------------------------------------------------------------------------------------ */

/* What is due at `now` happens. Returns the time of the chip's next event. */
static uint64_t advance_chip(struct machine *m, uint64_t now) {
    uint64_t next;
    m->looks_at = most(now, 1);
    rp2040_advance(&m->chip.rp2040, now);
    next = rp2040_next_event(&m->chip.rp2040, now);
    m->looks_at = 0;
    for (unsigned i = 0; i < SIO_CORES; i++) {
        struct nvic *nvic = &m->chip.rp2040.nvic[i];
        struct core *core = &m->cores[i];
        if (nvic->sends_event) { /* for its own core alone */
            core->events[1] = now;
            core->events[0] = core->events[0] == NEVER ? now : core->events[0];
            nvic->sends_event = false;
        }
        core->is_called |= i != m->core && nvic_has_ready(nvic);
        if (i != m->core && core->sleeps && nvic_next(nvic, core->wakes_above) != 0) {
            core->pending = least(core->pending, now);
        }
    }
    return next;
}

/* Exceptions of this priority and above are masked now, by BASEPRI, FAULTMASK and, if `by_primask`, PRIMASK. */
static int priority_mask(struct machine *m, bool by_primask) {
    int base = 0;
    if (core_nvic(m)->is_m33) {
        if (register_value(m, UC_ARM_REG_FAULTMASK) & 1u) {
            return -1; /* all but NMI */
        }
        base = (int)(register_value(m, UC_ARM_REG_BASEPRI) & 0xF0u);
    }
    return by_primask && (register_value(m, UC_ARM_REG_PRIMASK) & 1u) ? 0 : base != 0 ? base : NVIC_LOWEST;
}

static uint32_t exception_now(struct machine *m) {
    return core_nvic(m)->depth == 0 && !nvic_has_ready(core_nvic(m)) ? 0 : nvic_next(core_nvic(m), priority_mask(m, true));
}

static bool wants_reset(struct machine *m) {
    if (core_nvic(m)->wants_reset) {
        m->chip.rp2040.watchdog.wants_reset = true;
    }
    return m->core == 0 && m->chip.rp2040.watchdog.wants_reset;
}

/* Ends the block's run before its first instruction; what was counted for it is taken back. */
static void stop_before(struct machine *m, uint32_t until) {
    struct core *mine = &m->cores[m->core];
    m->cycles -= m->current->cycles;
    m->instructions -= m->current->instructions;
    mine->at = m->current->address;
    mine->until = until;
    mine->stopped = true;
    m->before = (struct block){.address = mine->at, .next = mine->at};
    m->current = &m->before;
    uc_emu_stop(m->uc);
}

/* Where the instruction ends during which `cycle` passes, in the block that now begins; the last one of an IT block. */
static uint32_t boundary_at(const struct machine *m, uint64_t cycle) {
    uint64_t at = core_time(m) - m->current->cycles;
    struct walk walk = {.next = m->current->address};
    while ((at < cycle || walk.pipeline.left != 0) && walk_on(m, m->current, &walk)) {
        at += walk.cycles;
    }
    return walk.next;
}

static bool may_interrupt(struct machine *m) {
    return core_nvic(m)->enabled != 0 || (core_nvic(m)->systick.control & SYSTICK_INTERRUPTS) != 0;
}

/* A block begins, is counted, and by its end something is due. */
static void attend_core(struct machine *m) {
    const struct block *block = m->current;
    uint64_t begins = core_time(m) - block->cycles, next = advance_chip(m, begins);
    uint32_t boundary = next < core_time(m) && may_interrupt(m) ? boundary_at(m, next) : block->next;
    if (block->bytes == 0) { /* no instruction runs: the core sleeps, or continues elsewhere */
        m->event_at = next;
    } else if (wants_reset(m) || exception_now(m) != 0) {
        stop_before(m, UINT32_MAX);
    } else if (boundary < block->next) {
        stop_before(m, boundary);
    } else {
        m->event_at = next;
    }
    set_deadline(m);
}

/* Misses make time pass inside a block that was counted without them. If the chip's next event is due before the block's
 * end now, the block ends before the instruction at `pc`, and the rest is a block that begins there. */
static void flash_waited(struct machine *m, uint32_t pc) {
    struct core *mine = &m->cores[m->core];
    struct block *block = m->current;
    bool is_profiled = arm_profile.on && m->core == 0;
    m->misses_seen = m->cache.misses;
    set_deadline(m);
    if (core_time(m) <= m->event_at || !may_interrupt(m) || mine->stopped || m->ending != NULL ||
        pc - block->address >= block->bytes) {
        return;
    }
    block->runs -= is_profiled;
    if (pc != block->address) {
        m->cycles -= block->cycles;
        m->instructions -= block->instructions;
        keep_other_current(m, block);
        measure_block(m, block, block->address, pc - block->address);
        m->cycles += block->cycles;
        m->instructions += block->instructions;
        block->runs = is_profiled;
        m->event.is_due = m->event.is_due && block->sends_event;
        m->event.left = block->event_left;
        m->event.next = pc;
        mine->at = pc;
        mine->until = UINT32_MAX;
        mine->stopped = true;
        uc_emu_stop(m->uc);
    } else {
        m->event.is_due = false;
        stop_before(m, UINT32_MAX);
    }
}

/* For a core that sleeps: when an exception wakes it, or when to look again. WFE: one that is taken; WFI: one that would be
 * taken without PRIMASK (ARM DDI 0419, B1.5.18 and B1.5.19; DDI 0403, B1.5.18 and B1.5.19). */
static uint64_t core_wakes_at(struct machine *m, bool for_event) {
    uint64_t now = core_time(m), next = advance_chip(m, now);
    m->cores[m->core].wakes_above = priority_mask(m, for_event);
    if (nvic_next(core_nvic(m), m->cores[m->core].wakes_above) != 0 || wants_reset(m)) {
        return now;
    }
    m->event_at = next;
    return next == NEVER && free_may_hear(m) ? m->slice + (now - m->cycles) : next;
}

/* --- the loop around the engine -------------------------------------------------------------------- */

static void reset_chip(struct machine *m) {
    uint32_t words[2];
    free_say(m, core_nvic(m)->wants_reset ? "the firmware resets the chip" : "the watchdog resets the chip");
    if (m->cores[1].uc != NULL) {
        cores.is_held = false;
        reset_core1(m, false);
    }
    m->looks_at = most(core_time(m), 1);
    rp2040_restart(&m->chip.rp2040);
    m->looks_at = 0;
    if (get_words(m, m->vectors, words, 2)) {
        uint32_t vectors = m->vectors, *scratch = rp2040_register(&m->chip.rp2040, RP2040_WATCHDOG + WATCHDOG_SCRATCH);
        if (scratch[4] == WATCHDOG_BOOTS && scratch[5] == (scratch[7] ^ (0u - WATCHDOG_BOOTS))) {
            scratch[4] = vectors = 0; /* the ROM's own */
            words[0] = scratch[6];
            words[1] = scratch[7];
        }
        clear_special(m);
        set_register(m, UC_ARM_REG_SP, words[0]);
        *nvic_word(core_nvic(m), NVIC_VTOR) = vectors;
        go_on_at(m, words[1]);
    }
}

/* A block was stopped, or run to an address inside, or the core has slept. Takes what is due at m->cores[].at. */
static void take_exceptions(struct machine *m) {
    uint32_t number;
    if (m->event.is_due) {
        send_due_event(m, m->cores[m->core].at, 0);
    }
    m->event_at = advance_chip(m, core_time(m));
    if (wants_reset(m)) {
        reset_chip(m);
        m->event_at = 0;
    }
    number = exception_now(m);
    if (number != 0) {
        enter_exception(m, number);
    }
    set_deadline(m);
}

/* The engine has ended with `error`. True: it continues at m->cores[].at; else the run, or this core, has ended. */
static bool core_goes_on(struct machine *m, uc_err error) {
    struct core *mine = &m->cores[m->core];
    uint32_t pc = register_value(m, UC_ARM_REG_PC);
    if (mine->stopped) {
        mine->stopped = false;
        go_on_at(m, mine->at);
        if (mine->until != UINT32_MAX) { /* the first part of the block, up to an instruction inside */
            uc_ctl_remove_cache(m->uc, mine->at, mine->until + 2);
            set_deadline(m);
            return true;
        }
    } else if ((error == UC_ERR_FETCH_UNMAPPED || error == UC_ERR_OK) && pc >= EXC_RETURN) {
        return_from_exception(m, pc | 1u);
    } else if (error == UC_ERR_INSN_INVALID && m->current->next == pc && code_at(m, pc - 2) == CODE_YIELD) {
        go_on_at(m, pc);
    } else if (error == UC_ERR_OK && pc == mine->until) {
        go_on_at(m, pc);
    } else {
        return false;
    }
    mine->until = UINT32_MAX;
    if (m->ending == NULL) {
        take_exceptions(m);
    }
    return m->ending == NULL;
}

/* After a core has slept. */
static void core_wakes(struct machine *m, uint32_t pc) {
    go_on_at(m, pc);
    take_exceptions(m);
}

static void call_supervisor(struct machine *m, uint32_t pc) {
    struct core *mine = &m->cores[m->core];
    struct nvic *nvic = core_nvic(m);
    int mask = priority_mask(m, true), running = nvic_running_priority(nvic), now = running < mask ? running : mask;
    if (nvic_priority(nvic, EXCEPTION_SVC) < now) {
        nvic_pend(nvic, EXCEPTION_SVC);
    } else if (nvic_priority(nvic, EXCEPTION_HARD_FAULT) < now) { /* it may not be taken: ARM DDI 0419, B1.5.4 */
        nvic_pend(nvic, EXCEPTION_HARD_FAULT);
    } else {
        finish(m, "fault", "lockup: SVC before 0x%" PRIx32 ", where not even a hard fault can be taken", pc);
        return;
    }
    mine->stopped = true;
    mine->until = UINT32_MAX;
    mine->at = pc;
    uc_emu_stop(m->uc);
}

/* After a register has been written: the next event may be another one. */
static void chip_written(struct machine *m, const struct chip_window *window, uint32_t address) {
    if (m->attend != NULL && (window->kind != CHIP_IO_PORT || address - window->base - SIO_FIFO_STATUS < 12 ||
                               address - window->base - RP2350_DOORBELLS < 16)) {
        m->event_at = 0;
        set_deadline(m);
    }
}

static bool exceptions_begin(struct machine *m) {
    if (!free_run.on || free_run.bare || m->chip.model->kind != CHIP_RP2040) {
        return false;
    }
    m->attend = attend_core;
    m->goes_on = core_goes_on;
    m->wakes = core_wakes;
    m->wakes_at = core_wakes_at;
    m->svc = call_supervisor;
    m->flash_waited = flash_waited;
    *nvic_word(&m->chip.rp2040.nvic[0], NVIC_VTOR) = m->vectors;
    return true;
}

#endif
