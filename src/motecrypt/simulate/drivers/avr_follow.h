/* SPDX-License-Identifier: GPL-3.0-or-later -- part of the drivers that link libsimavr.
 * avr_follow.h: follows a recorded instruction in many rounds of a loop (avr_rounds.h): which bytes it reads and
 * writes, and whether all rounds take the recorded path. It does not write to the chip.
 */
#ifndef MOTECRYPT_AVR_FOLLOW_H
#define MOTECRYPT_AVR_FOLLOW_H

#include <simavr/sim_avr.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "avr_guard.h"
#include "avr_lanes.h"
#include "avr_timer_model.h"
#include "avr_wait.h"

enum {
    ROUND_BYTES = 64, /* of memory that a round changes */
    SREG_ADDRESS = 0x5F
};

struct round_step {
    avr_flashaddr_t pc;
    uint16_t sp; /* after it */
    uint32_t at; /* cycles from the round's beginning */
};

struct round_byte {
    uint16_t address;
    uint8_t unknown_before;
    struct lanes value;
};

static struct {
    avr_t *avr;
    bool counts; /* a timer's count is read: rounds that are not followed may go another way */
    uint64_t first, period;
    uint16_t stack;
    struct lanes registers[REGISTERS];
    struct round_byte bytes[ROUND_BYTES];
    uint32_t byte_count;
} follow;

/* --- memory ---------------------------------------------------------------------------------------------- */

static struct round_byte *follow_byte_at(uint32_t address) {
    for (uint32_t i = 0; i < follow.byte_count; i++) {
        if (follow.bytes[i].address == address) {
            return &follow.bytes[i];
        }
    }
    return NULL;
}

/* Its place among the bytes that the rounds change; NULL where there are too many. */
static struct round_byte *follow_byte_for(uint32_t address) {
    struct round_byte *byte = follow_byte_at(address);
    if (byte == NULL && follow.byte_count < ROUND_BYTES) {
        byte = &follow.bytes[follow.byte_count++];
        byte->address = (uint16_t)address;
        byte->unknown_before = 0;
        lanes_set(&byte->value, follow.avr->data[address]);
    }
    return byte;
}

static bool follow_store(uint32_t address, const struct lanes *value) {
    const avr_t *avr = follow.avr;
    struct round_byte *byte;
    if (address == SREG_ADDRESS) {
        if ((value->unknown & FLAG_I) || !lanes_need(value, FLAG_I, lane_of(value, 0) & FLAG_I)) {
            return false;
        }
        lanes_copy(&abreast.flags, value);
        return true;
    }
    if (address <= avr->ioend || address > avr->ramend) {
        return false;
    }
    byte = follow_byte_for(address);
    if (byte != NULL) {
        lanes_copy(&byte->value, value);
    }
    return byte != NULL;
}

/* A timer's count, in each round at its own cycle. What happens to the timer on the way, nobody sees: no event is to come. */
static bool follow_count(struct timer *t, uint64_t at, struct lanes *value) {
    struct round_byte *high = t->model->r_tcnth ? follow_byte_for(t->model->r_tcnth) : NULL;
    struct timer copy = *t;
    uint64_t next = 0;
    if (t->outside || (t->model->r_tcnth && high == NULL)) {
        return false;
    }
    follow.counts = value->varies = true;
    value->unknown = 0;
    memset(value->of, 0, LANES);
    for (uint32_t i = 0; i < abreast.alike; i++) {
        uint64_t cycle = at + i * follow.period;
        uint32_t count;
        if (i == 0 || cycle >= next) {
            timer_follow(follow.avr, &copy, cycle);
            next = copy.divider ? timer_next(&copy) : UINT64_MAX;
        }
        count = timer_count(&copy, cycle);
        value->of[i] = (uint8_t)count;
        if (high != NULL) {
            high->value.of[i] = (uint8_t)(count >> 8);
        }
    }
    lanes_settle(value);
    if (high != NULL) {
        high->value.varies = true;
        high->value.unknown = 0;
        lanes_settle(&high->value);
    }
    return true;
}

static bool follow_load(uint32_t address, uint64_t at, struct lanes *value) {
    const struct round_byte *byte;
    if (address < REGISTERS) {
        lanes_copy(value, &follow.registers[address]);
        return true;
    }
    if (address == SREG_ADDRESS) {
        lanes_copy(value, &abreast.flags);
        return true;
    }
    if (address == R_SPL || address == R_SPH) {
        lanes_set(value, (uint8_t)(address == R_SPL ? follow.stack : follow.stack >> 8));
        return true;
    }
    for (int i = 0; i < TIMERS_MAX && timers[i].model != NULL; i++) {
        if (timers[i].model->r_tcnt == address) {
            return follow_count(&timers[i], at, value);
        }
    }
    byte = follow_byte_at(address);
    if (byte != NULL) {
        lanes_copy(value, &byte->value);
        return true;
    }
    if (!wait_holds_still(follow.avr, address)) {
        return false;
    }
    lanes_set(value, follow.avr->data[address]);
    return true;
}

/* --- one instruction ------------------------------------------------------------------------------------- */

static bool follow_pointer(unsigned low, uint32_t *address) {
    const struct lanes *a = &follow.registers[low], *b = &follow.registers[low + 1];
    *address = (uint32_t)(a->same | b->same << 8);
    return !a->varies && !b->varies && !a->unknown && !b->unknown;
}

static void follow_set_pointer(unsigned low, uint32_t address) {
    lanes_set(&follow.registers[low], (uint8_t)address);
    lanes_set(&follow.registers[low + 1], (uint8_t)(address >> 8));
}

static bool follow_push(const struct lanes *value) {
    return follow_store(follow.stack--, value);
}

static bool follow_pop(struct lanes *value) {
    return follow.stack >= follow.avr->ioend && follow_load(++follow.stack, 0, value);
}

static bool follow_calls(avr_flashaddr_t back) {
    struct lanes byte;
    back >>= 1;
    for (int i = 0; i < follow.avr->address_size; i++, back >>= 8) {
        lanes_set(&byte, (uint8_t)back);
        if (!follow_push(&byte)) {
            return false;
        }
    }
    return true;
}

/* Whether all rounds return to where the recorded one did. */
static bool follow_returns(avr_flashaddr_t next) {
    struct lanes byte;
    avr_flashaddr_t back = 0;
    for (int i = 0; i < follow.avr->address_size; i++) {
        if (!follow_pop(&byte) || byte.varies || byte.unknown) {
            return false;
        }
        back = back << 8 | byte.same;
    }
    return back << 1 == next;
}

/* LD and ST by X, Y, Z, with their steps; PUSH and POP; LDS and STS; LPM. */
static bool follow_moves(avr_flashaddr_t pc, uint16_t op, uint64_t at) {
    struct lanes *d = &follow.registers[op >> 4 & 31];
    bool stores = op & 0x0200;
    unsigned kind = op & 15, low = kind >= 12 ? R_XL : kind >= 8 ? R_YL : R_ZL;
    uint32_t address;
    switch (kind) {
    case 0:
        address = opcode_at(follow.avr, pc + 2);
        return stores ? follow_store(address, d) : follow_load(address, at, d);
    case 15:
        return stores ? follow_push(d) : follow_pop(d);
    case 4:
    case 5: /* LPM Z, Z+ */
        if (stores || !follow_pointer(R_ZL, &address) || address > follow.avr->flashend) {
            return false;
        }
        lanes_set(d, follow.avr->flash[address]);
        if (kind == 5) {
            follow_set_pointer(R_ZL, address + 1);
        }
        return true;
    case 1:
    case 2:
    case 9:
    case 10:
    case 12:
    case 13:
    case 14:
        if (!follow_pointer(low, &address)) {
            return false;
        }
        address -= (kind & 3) == 2;
        if ((kind & 3) == 2 || (kind & 3) == 1) {
            follow_set_pointer(low, address + ((kind & 3) == 1));
        }
        address &= 0xFFFF;
        return stores ? follow_store(address, d) : follow_load(address, at, d);
    default:
        return false;
    }
}

/* 1001 010x: one operand, flags, jumps and calls. */
static bool follow_one_operand(avr_flashaddr_t pc, uint16_t op, avr_flashaddr_t next) {
    static const int8_t kinds[16] = {ALU_COM, ALU_NEG, ALU_SWAP, ALU_INC, -1, ALU_ASR, ALU_LSR, ALU_ROR,
                                     -1,      -1,      ALU_DEC,  -1,      -1, -1,      -1,      -1};
    struct lanes *d = &follow.registers[op >> 4 & 31];
    uint32_t address;
    if (kinds[op & 15] >= 0) {
        struct lanes none = {0};
        lanes_alu((enum alu)kinds[op & 15], d, d, &none);
        return true;
    }
    if ((op & 0xFF0F) == 0x9408) { /* BSET, BCLR */
        uint8_t bit = (uint8_t)(1u << (op >> 4 & 7)), value = op & 0x80 ? 0 : bit;
        for (uint32_t i = 0; abreast.flags.varies && i < LANES; i++) {
            abreast.flags.of[i] = (uint8_t)((abreast.flags.of[i] & ~bit) | value);
        }
        abreast.flags.same = (uint8_t)((abreast.flags.same & ~bit) | value);
        abreast.flags.unknown &= (uint8_t)~bit;
        return true;
    }
    if (op == 0x9508) { /* RET */
        return follow_returns(next);
    }
    if (op == 0x9409 || op == 0x9509) { /* IJMP, ICALL */
        return follow_pointer(R_ZL, &address) && 2 * address == next && (op == 0x9409 || follow_calls(pc + 2));
    }
    if ((op & 0xFE0C) == 0x940C) { /* JMP, CALL */
        return !(op & 2) || follow_calls(pc + 4);
    }
    return false;
}

/* CPSE, SBRC, SBRS, SBIC, SBIS, with a value whose bit decides. */
static bool follow_skips(avr_flashaddr_t pc, avr_flashaddr_t next, const struct lanes *value, uint8_t bit, bool if_set) {
    bool skipped = next != pc + 2;
    return lanes_need(value, bit, skipped == if_set);
}

static bool follow_compares_skip(avr_flashaddr_t pc, uint16_t op, avr_flashaddr_t next) {
    struct lanes flags, difference;
    bool skipped;
    const struct lanes *d = &follow.registers[op >> 4 & 31];
    const struct lanes *r = &follow.registers[(op & 15) | (op >> 5 & 16)];
    lanes_copy(&flags, &abreast.flags);
    lanes_alu(ALU_SUB, &difference, d, r);
    skipped = follow_skips(pc, next, &abreast.flags, FLAG_Z, true);
    lanes_copy(&abreast.flags, &flags);
    return skipped;
}

static bool follow_two_operands(avr_flashaddr_t pc, uint16_t op, avr_flashaddr_t next) {
    struct lanes *d = &follow.registers[op >> 4 & 31], unused;
    const struct lanes *r = &follow.registers[(op & 15) | (op >> 5 & 16)];
    switch (op >> 10) {
    case 0x01:
        lanes_alu(ALU_SBC, &unused, d, r);
        return true;
    case 0x02:
        lanes_alu(ALU_SBC, d, d, r);
        return true;
    case 0x03:
        lanes_alu(ALU_ADD, d, d, r);
        return true;
    case 0x04:
        return follow_compares_skip(pc, op, next);
    case 0x05:
        lanes_alu(ALU_SUB, &unused, d, r);
        return true;
    case 0x06:
        lanes_alu(ALU_SUB, d, d, r);
        return true;
    case 0x07:
        lanes_alu(ALU_ADC, d, d, r);
        return true;
    case 0x08:
        lanes_alu(ALU_AND, d, d, r);
        return true;
    case 0x09:
        lanes_alu(ALU_EOR, d, d, r);
        return true;
    case 0x0A:
        lanes_alu(ALU_OR, d, d, r);
        return true;
    case 0x0B:
        lanes_copy(d, r);
        return true;
    default:
        return false;
    }
}

static bool follow_immediate(uint16_t op) {
    struct lanes number, unused;
    struct lanes *d = &follow.registers[16 + (op >> 4 & 15)];
    lanes_set(&number, (uint8_t)((op >> 4 & 0xF0) | (op & 15)));
    switch (op >> 12) {
    case 3:
        lanes_alu(ALU_SUB, &unused, d, &number);
        return true;
    case 4:
        lanes_alu(ALU_SBC, d, d, &number);
        return true;
    case 5:
        lanes_alu(ALU_SUB, d, d, &number);
        return true;
    case 6:
        lanes_alu(ALU_OR, d, d, &number);
        return true;
    case 7:
        lanes_alu(ALU_AND, d, d, &number);
        return true;
    default: /* LDI */
        lanes_copy(d, &number);
        return true;
    }
}

/* Follows the recorded instruction in all rounds; whether that can be done. */
static bool follow_step(const struct round_step *step) {
    avr_t *avr = follow.avr;
    avr_flashaddr_t pc = step->pc, next = step[1].pc;
    uint16_t op = opcode_at(avr, pc);
    uint64_t at = follow.first + step->at + code_access_cycles(op) - 1; /* when it reads a register of the chip */
    struct lanes *d = &follow.registers[op >> 4 & 31], value;
    uint32_t address;
    if (op == 0) {
        return true;
    }
    if ((op & 0xFF00) == 0x0100) { /* MOVW */
        lanes_copy(&follow.registers[op >> 3 & 30], &follow.registers[op << 1 & 30]);
        lanes_copy(&follow.registers[(op >> 3 & 30) + 1], &follow.registers[(op << 1 & 30) + 1]);
        return true;
    }
    if (op < 0x3000) {
        return op >= 0x0400 && follow_two_operands(pc, op, next);
    }
    if (op < 0x8000 || (op & 0xF000) == 0xE000) {
        return follow_immediate(op);
    }
    if ((op & 0xD000) == 0x8000) { /* LDD, STD */
        if (!follow_pointer(op & 8 ? R_YL : R_ZL, &address)) {
            return false;
        }
        address = (address + ((op >> 8 & 0x20) | (op >> 7 & 0x18) | (op & 7))) & 0xFFFF;
        return op & 0x0200 ? follow_store(address, d) : follow_load(address, at, d);
    }
    switch (op & 0xFE00) {
    case 0x9000:
    case 0x9200:
        return follow_moves(pc, op, at);
    case 0x9400:
        return follow_one_operand(pc, op, next);
    case 0x9600: /* ADIW, SBIW */
        d = &follow.registers[24 + (op >> 3 & 6)];
        lanes_word(d, d + 1, (uint8_t)((op >> 2 & 0x30) | (op & 15)), op & 0x0100);
        return true;
    default:
        break;
    }
    if ((op & 0xFD00) == 0x9900) { /* SBIC, SBIS */
        return follow_load(REGISTERS + (op >> 3 & 31), at, &value) &&
               follow_skips(pc, next, &value, (uint8_t)(1u << (op & 7)), op & 0x0200);
    }
    if ((op & 0xF000) == 0xB000) { /* IN, OUT */
        address = REGISTERS + (uint32_t)((op & 15) | (op >> 5 & 0x30));
        return op & 0x0800 ? follow_store(address, d) : follow_load(address, at, d);
    }
    if ((op & 0xE000) == 0xC000) { /* RJMP, RCALL */
        return !(op & 0x1000) || follow_calls(pc + 2);
    }
    if ((op & 0xF800) == 0xF000) { /* BRBS, BRBC: `next` shows the way, unless both lead there */
        return wait_target(avr, pc) == pc + 2 ||
               lanes_need(&abreast.flags, (uint8_t)(1u << (op & 7)), (next != pc + 2) == !(op & 0x0400));
    }
    if ((op & 0xFC08) == 0xFC00) { /* SBRC, SBRS */
        return follow_skips(pc, next, d, (uint8_t)(1u << (op & 7)), op & 0x0200);
    }
    return false;
}

#endif
