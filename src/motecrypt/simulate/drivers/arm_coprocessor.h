/* SPDX-License-Identifier: GPL-2.0-only -- part of arm.c, which links Unicorn.
 * arm_coprocessor.h: instructions for the coprocessors of RP2350's Cortex-M33 cores, in a free run: pins (number 0), double
 * precision (4, arm_double.h), redundancy (7: it never finds a fault). Each takes one cycle, as the core counts it.
 * Source: RP2350 datasheet, 3.6; encodings: ARM DDI 0553, C2.4 (CDP, MCR, MRC, MCRR, MRRC).
 */
#ifndef MOTECRYPT_ARM_COPROCESSOR_H
#define MOTECRYPT_ARM_COPROCESSOR_H

#include "arm_exception.h"

enum coprocessor_form { CP_NONE, CP_CDP, CP_MCR, CP_MRC, CP_MCRR, CP_MRRC };

/* One instruction. Registers are numbers; 15 as the target of MRC: the flags. */
struct coprocessor_call {
    enum coprocessor_form form;
    unsigned number, op1, op2, crm, rt, rt2;
    bool is_second; /* MRC2, MRRC2 and the like */
};

static inline struct coprocessor_call coprocessor_decode(uint16_t first, uint16_t second) {
    struct coprocessor_call call = {.number = second >> 8 & 15u, .crm = second & 15u, .rt = second >> 12 & 15u,
                                    .is_second = (first & 0x1000u) != 0};
    if ((first & 0xEFE0u) == 0xEC40u) {
        call.form = first & 0x10u ? CP_MRRC : CP_MCRR;
        call.op1 = second >> 4 & 15u;
        call.rt2 = first & 15u;
    } else if ((first & 0xEF00u) == 0xEE00u) {
        bool moves = (second & 0x10u) != 0;
        call.form = !moves ? CP_CDP : first & 0x10u ? CP_MRC : CP_MCR;
        call.op1 = moves ? first >> 5 & 7u : first >> 4 & 15u;
        call.op2 = second >> 5 & 7u;
    }
    return call;
}

/* ---- pins (3.6.1) ---- */

/* Operations 0 to 3: put, toggle, set, clear all bits; 4 to 7: one pin's, by its number; 8 to 11: one of both words. */
static void pins_change(uint32_t *words, unsigned operation, uint64_t bits) {
    uint64_t old = words[0] | (uint64_t)words[1] << 32;
    uint64_t now = operation == 0 ? bits : operation == 1 ? old ^ bits : operation == 2 ? old | bits : old & ~bits;
    words[0] = (uint32_t)now;
    words[1] = (uint32_t)(now >> 32);
}

static bool run_pins(struct machine *m, const struct coprocessor_call *call) {
    struct sio *sio = &m->chip.rp2040.sio;
    unsigned which = call->crm >> 2 & 1u, upper = call->crm & 1u, operation = call->op1 & 3u;
    uint32_t words[2] = {sio->gpio[0][which], sio->gpio[1][which]};
    uint32_t rt = register_value(m, register_ids[call->rt]), rt2 = register_value(m, register_ids[call->rt2]);
    uint64_t bits = 0;
    if (call->form == CP_MRC || call->form == CP_MRRC) {
        bool is_input = call->crm >= 8;
        for (unsigned i = 0; i < 2; i++) {
            words[i] = is_input ? sio->gpio[i][0] & sio->gpio[i][1] : words[i];
        }
        set_register(m, register_ids[call->rt], words[call->form == CP_MRC ? upper : 0]);
        if (call->form == CP_MRRC) {
            set_register(m, register_ids[call->rt2], words[1]);
        }
        return true;
    }
    if (call->op1 < 4) {
        uint64_t own = (uint64_t)rt << (upper ? 32 : 0), other = words[1 - upper];
        bits = call->form == CP_MCRR ? rt | (uint64_t)rt2 << 32
               : operation == 0      ? own | other << (upper ? 0 : 32) /* the other word stays */
                                     : own;
    } else if (call->op1 < 8) {
        uint64_t pin = UINT64_C(1) << (rt & 63u);
        bits = call->form == CP_MCRR && !(rt2 & 1u) ? 0 : pin;
        if (operation == 0) { /* puts one pin */
            operation = bits != 0 ? 2 : 3;
            bits = pin;
        }
    } else if (call->form == CP_MCRR && call->op1 < 12) {
        bits = (uint64_t)rt << (rt2 & 1u ? 32 : 0);
        if (operation == 0) {
            bits |= (uint64_t)words[1 - (rt2 & 1u)] << (rt2 & 1u ? 0 : 32);
        }
    } else {
        return false;
    }
    pins_change(words, operation, bits);
    sio->gpio[0][which] = words[0];
    sio->gpio[1][which] = words[1];
    return true;
}

/* ---- double precision (3.6.2) ---- */

static void set_flags(struct machine *m, uint32_t flags) {
    set_register(m, UC_ARM_REG_XPSR, (register_value(m, UC_ARM_REG_XPSR) & 0x0FFFFFFFu) | (flags & 0xF0000000u));
}

static bool run_double(struct machine *m, const struct coprocessor_call *call) {
    struct dcp *dcp = &m->chip.rp2040.rp2350.doubles[m->core];
    uint64_t bits = 0;
    uint32_t word = 0;
    bool is_known = true;
    if (call->form == CP_CDP) {
        dcp_step(dcp, call->op1, call->op2);
    } else if (call->form == CP_MCRR) {
        is_known = dcp_write(dcp, call->op1, call->crm, register_value(m, register_ids[call->rt]),
                             register_value(m, register_ids[call->rt2]));
    } else if (call->form == CP_MRRC) {
        is_known = dcp_read_two(dcp, call->is_second, call->op1, call->crm, &bits);
        set_register(m, register_ids[call->rt], (uint32_t)bits);
        set_register(m, register_ids[call->rt2], (uint32_t)(bits >> 32));
    } else {
        is_known = call->form == CP_MRC && dcp_read_one(dcp, call->is_second, call->crm, call->op2, &word);
        if (call->rt == 15) {
            set_flags(m, word);
        } else {
            set_register(m, register_ids[call->rt], word);
        }
    }
    return is_known;
}

/* ---- redundancy (3.6.3) ---- */

static bool run_redundancy(struct machine *m, const struct coprocessor_call *call) {
    if (call->form == CP_MRC && call->rt == 15) { /* the canary's seed is there: N */
        set_flags(m, 1u << 31);
    } else if (call->form == CP_MRC || call->form == CP_MRRC) {
        set_register(m, register_ids[call->rt], 0);
        if (call->form == CP_MRRC) {
            set_register(m, register_ids[call->rt2], 0);
        }
    }
    return true;
}

/* The IT block that the instruction is in, if any, moves to its next one (ARM DDI 0553, ITAdvance). */
static void advance_it(struct machine *m) {
    uint32_t xpsr = register_value(m, UC_ARM_REG_XPSR), state = (xpsr >> 8 & 0xFCu) | (xpsr >> 25 & 3u);
    if (state != 0) {
        state = (state & 7u) == 0 ? 0 : (state & 0xE0u) | (state << 1 & 0x1Fu);
        set_register(m, UC_ARM_REG_XPSR, (xpsr & ~XPSR_IT) | (state & 0xFCu) << 8 | (state & 3u) << 25);
    }
}

/* Unicorn has no such instruction: it is carried out here, and the core continues after it. One in an IT block whose
 * condition fails does not come here. */
static bool run_coprocessor(struct machine *m, uint32_t pc) {
    struct core *mine = &m->cores[m->core];
    struct coprocessor_call call = coprocessor_decode(code_at(m, pc), code_at(m, pc + 2));
    bool is_done = !m->chip.rp2040.is_rp2350 || call.form == CP_NONE ? false
                   : call.number == 0                                  ? run_pins(m, &call)
                   : call.number == 4                                  ? run_double(m, &call)
                   : call.number == 7                                  ? run_redundancy(m, &call)
                                                                       : false;
    if (is_done) {
        advance_it(m);
        mine->stopped = true;
        mine->until = UINT32_MAX;
        mine->at = pc + 4;
        uc_emu_stop(m->uc);
    } else if (m->chip.rp2040.is_rp2350 && call.form != CP_NONE) {
        finish(m, "fault", "an instruction for coprocessor %u at 0x%" PRIx32 ", which is not modelled", call.number, pc);
    }
    return is_done || m->ending != NULL;
}

#endif
