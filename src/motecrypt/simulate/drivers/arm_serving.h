/* SPDX-License-Identifier: GPL-2.0-only -- part of arm.c, which links Unicorn.
 * arm_serving.h: where in the current block of code an access to a register of the chip is, and so at which cycle.
 */
#ifndef MOTECRYPT_ARM_SERVING_H
#define MOTECRYPT_ARM_SERVING_H

#include "arm_machine.h"
#include "arm_uses.h"

static const int register_ids[] = {UC_ARM_REG_R0, UC_ARM_REG_R1, UC_ARM_REG_R2,  UC_ARM_REG_R3,
                                   UC_ARM_REG_R4, UC_ARM_REG_R5, UC_ARM_REG_R6,  UC_ARM_REG_R7,
                                   UC_ARM_REG_R8, UC_ARM_REG_R9, UC_ARM_REG_R10, UC_ARM_REG_R11,
                                   UC_ARM_REG_R12, UC_ARM_REG_SP, UC_ARM_REG_LR, UC_ARM_REG_PC};

/* The first address that `access`, of the instruction at `pc`, touches; before that instruction has run. */
static uint32_t access_address(const struct machine *m, const struct thumb_access *access, uint32_t pc) {
    uint32_t address = (uint32_t)access->offset;
    if (access->base == THUMB_PC) {
        address += (pc + 4) & ~3u;
    } else {
        address += register_value(m, register_ids[access->base]);
    }
    return access->index < 0 ? address
                             : address + (register_value(m, register_ids[access->index]) << access->shift);
}

/* Where an unaligned read begins that the engine asks for as two aligned ones, and now serves the second of. */
struct split_read {
    bool is_known; /* each instruction is followed: it is that of the one that runs */
    uint32_t begin;
};

static struct split_read split_read;

/* ---- registers whose values follow from the code of the current block alone ---- */

struct constants {
    uint32_t known; /* a bit for each register */
    uint32_t values[8];
};

static inline void constant_is(struct constants *constants, unsigned target, bool is_known, uint32_t value) {
    constants->values[target] = value;
    constants->known = (constants->known & ~(UINT32_C(1) << target)) | (uint32_t)is_known << target;
}

/* The instruction of the walk runs: a literal, a number, a sum, a shift or a copy stays known; all else is unknown. */
static void constants_after(const struct machine *m, struct constants *constants, const struct walk *walk) {
    uint16_t code = walk->code;
    unsigned small = code >> 8 & 7u, target = code & 7u, source = code >> 3 & 7u;
    bool has_small = constants->known >> small & 1u, has_source = constants->known >> source & 1u;
    uint32_t from = constants->values[source];
    struct thumb_uses uses;
    if (walk->instruction.class == THUMB_store || walk->instruction.class == THUMB_push) {
        return;
    }
    if (walk->instruction.bytes != 2 || !thumb_uses(code, &walk->instruction, &uses)) {
        constants->known = 0;
    } else if (code >> 11 == 0x09) { /* LDR of a literal */
        const uint8_t *literal = host_pointer(m, ((walk->at + 4) & ~3u) + 4u * (code & 0xFFu), 4);
        uint32_t value = 0;
        if (literal != NULL) {
            memcpy(&value, literal, 4);
        }
        constant_is(constants, small, literal != NULL, value);
    } else if (code >> 11 == 0x04) { /* MOVS */
        constant_is(constants, small, true, code & 0xFFu);
    } else if (code >> 12 == 0x3) { /* ADDS, SUBS */
        constant_is(constants, small, has_small,
                    constants->values[small] + (code & 0x800u ? 0u - (code & 0xFFu) : code & 0xFFu));
    } else if (code >> 10 == 0x07) { /* ADDS, SUBS of three bits */
        constant_is(constants, target, has_source, from + (code & 0x200u ? 0u - (code >> 6 & 7u) : code >> 6 & 7u));
    } else if (code >> 11 == 0x00) { /* LSLS */
        constant_is(constants, target, has_source, from << (code >> 6 & 31u));
    } else if ((code & 0xFFC0u) == 0x4600u) { /* MOV */
        constant_is(constants, target, has_source, from);
    } else {
        constants->known &= ~uses.writes;
    }
}

/* Whether the registers are now as the code before an instruction leaves them. */
static bool constants_agree(const struct machine *m, const struct constants *constants) {
    for (unsigned i = 0; i < 8; i++) {
        if ((constants->known >> i & 1u) && register_value(m, register_ids[i]) != constants->values[i]) {
            return false;
        }
    }
    return true;
}

/* ---- which access is being served ---- */

static bool may_be_served(const struct machine *m, const struct walk *walk) {
    uint32_t begin;
    if (walk->access.kind != (m->access.is_write ? THUMB_WRITES : THUMB_READS)) {
        return false;
    }
    begin = access_address(m, &walk->access, walk->at);
    return walk->access.units > 1 ? m->access.address - begin < 4u * walk->access.units : m->access.address == begin;
}

/* How many of the accesses served in this run of the block can have been made by the end of the instruction, of which
 * `count` were before it: each is a read or a write, and neither of a literal nor of a stack in RAM. */
static uint32_t served_by(const struct machine *m, const struct walk *walk, uint32_t count) {
    const struct thumb_access *access = &walk->access;
    if (access->kind == THUMB_NO_ACCESS || access->base == THUMB_PC ||
        (access->base == THUMB_SP && host_pointer(m, register_value(m, UC_ARM_REG_SP) - 1, 1) != NULL)) {
        return count;
    }
    for (unsigned i = 0; i < access->units && count < m->access.served_count; i++) {
        count += (m->access.served[count] & 1u) == (access->kind == THUMB_WRITES);
    }
    return count;
}

/* Of several instructions that may be the one: the first that is not before its turn, by which all that was served can
 * have been made, and before which the registers are as they are now. One before it may have had another
 * address, in a register that has been written since. */
static uint32_t serving_pc_of_several(const struct machine *m, uint32_t otherwise) {
    struct walk walk = {.next = m->current->address};
    struct constants constants = {0};
    uint32_t matches = 0, served = 0;
    while (walk_on(m, m->current, &walk)) {
        served = served_by(m, &walk, served);
        if (may_be_served(m, &walk) && ++matches >= m->access.turn && served == m->access.served_count &&
            constants_agree(m, &constants)) {
            return walk.at;
        }
        constants_after(m, &constants, &walk);
    }
    return otherwise;
}

/* Where the current block has come to. Unicorn keeps no program counter inside a block (its hooks on every
 * instruction would, at a tenth of the speed), but the registers are right: the access being served is the
 * load or store of the block whose operands give its address; of several such, the one whose turn it is. */
static uint32_t serving_pc(const struct machine *m) {
    struct walk walk = {.next = m->current->address};
    uint32_t found = m->current->address, matches = 0, served = 0;
    bool is_found = false;
    while (walk_on(m, m->current, &walk)) {
        served = served_by(m, &walk, served);
        if (may_be_served(m, &walk)) {
            found = is_found ? found : walk.at;
            is_found |= ++matches >= m->access.turn && served == m->access.served_count;
        }
    }
    return matches > 1 && !m->has_pipeline ? serving_pc_of_several(m, found) : found;
}

/* Cycles (and instructions) of the current block that follow the access: the block was counted as a whole. */
static uint32_t ahead(const struct machine *m, uint32_t *instructions) {
    struct walk walk = {.next = m->current->address};
    uint32_t cycles = 0, from = serving_pc(m);
    *instructions = 0;
    while (walk_on(m, m->current, &walk)) {
        if (walk.at >= from) {
            cycles += walk.cycles;
            ++*instructions;
        }
    }
    return cycles + (m->waits_ahead != NULL ? m->waits_ahead(m, from) : 0);
}

/* Every access to a register of the chip begins here. Returns 1 when it repeats the one before. */
static int serve(struct machine *m, uint32_t address, int is_write) {
    struct access *access = &m->access;
    int again = access->address == address && access->is_write == is_write;
    uint32_t key = address | (is_write ? 1u : 0u); /* registers are words: bit 0 is free */
    if (access->run != m->instructions) {
        access->run = m->instructions;
        access->served_count = 0;
    }
    access->turn = 1;
    for (unsigned i = 0; i < access->served_count; i++) {
        access->turn += access->served[i] == key;
    }
    if (access->served_count < ACCESSES_A_BLOCK) {
        access->served[access->served_count++] = key;
    }
    access->address = address;
    access->is_write = is_write;
    return again;
}

/* Time as the board's own timers see it, at the access that is being served. */
static uint64_t board_cycles(void *context) {
    struct machine *m = context;
    uint32_t instructions;
    return m->looks_at != 0 ? m->looks_at : core_time(m) - ahead(m, &instructions);
}

#endif
