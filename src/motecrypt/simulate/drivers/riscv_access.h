/* SPDX-License-Identifier: MIT
 * riscv_access.h: loads and stores, through the flash cache, of memories and chip registers, and what ends a
 * firmware at a wrong address. It does not know instructions.
 */
#ifndef MOTECRYPT_RISCV_ACCESS_H
#define MOTECRYPT_RISCV_ACCESS_H

#include "riscv_machine.h"

static __attribute__((noinline)) void bad_access(struct machine *m, const char *what, uint32_t address) {
    uint32_t sp = m->x[RISCV_SP];
    if (m->stack_limit != 0 &&
        (sp < m->stack_limit || (address < m->stack_limit && m->stack_limit - address <= 4096))) {
        stack_fault(m, sp);
        finish(m, "fault",
               "the stack ran out of its memory: stack pointer 0x%" PRIx32 ", limit 0x%" PRIx32
               ", at 0x%" PRIx32,
               sp, m->stack_limit, m->pc);
        return;
    }
    finish(m, "fault", "the firmware %s 0x%" PRIx32 "%s, at 0x%" PRIx32 ", return address 0x%" PRIx32 "%s",
           what, address, memory_at(m, address, 1) != NULL ? "" : ", where nothing is", m->pc, m->x[RISCV_RA],
           riscv_chip_absent(&m->chip, address));
}

static __attribute__((noinline)) void unaligned_access(struct machine *m, uint32_t address) {
    finish(m, "fault", "unaligned access to 0x%" PRIx32 " at 0x%" PRIx32, address, m->pc);
}

/* A read of the flash through the cache. */
static inline void read_flash(struct machine *m, uint32_t address) {
    if (m->cache_on && cache_access(&m->cache, address)) {
        m->cycles += m->miss_cycles;
    }
}

static __attribute__((noinline)) uint32_t load_slow(struct machine *m, uint32_t address, uint32_t bytes) {
    struct riscv_memory *memory = memory_at(m, address, bytes);
    uint32_t value = 0;
    if (memory != NULL) {
        m->last_read = 1;
        if (memory->is_flash) {
            read_flash(m, address);
        }
        return bytes_at(memory->data + (address - memory->base), bytes);
    }
    if (m->on_register != NULL) {
        m->on_register(m, address, false);
    }
    m->polling = m->last_read == address;
    m->last_read = address;
    if (!riscv_chip_read(&m->chip, address, &value)) {
        bad_access(m, "read from", address);
    }
    return value >> 8 * (address & 3u);
}

static inline uint32_t load(struct machine *m, uint32_t address, uint32_t bytes) {
    const struct riscv_memory *ram = &m->memories[0];
    if ((address & (bytes - 1)) != 0 && !m->core->allows_unaligned) {
        unaligned_access(m, address);
        return 0;
    }
    if (address - ram->base <= ram->bytes - bytes) {
        m->last_read = 1;
        return bytes_at(ram->data + (address - ram->base), bytes);
    }
    return load_slow(m, address, bytes);
}

static inline void put_bytes(struct riscv_memory *memory, uint32_t offset, uint32_t value, uint32_t bytes) {
    for (uint32_t i = 0; i < bytes; i++) {
        memory->data[offset + i] = (uint8_t)(value >> 8 * i);
    }
    if (memory->has_code) {
        forget_code(memory, offset, bytes);
    }
}

static __attribute__((noinline)) void store_slow(struct machine *m, uint32_t address, uint32_t value,
                                                 uint32_t bytes) {
    struct riscv_memory *memory = memory_at(m, address, bytes);
    m->last_read = 1;
    if (memory != NULL && memory->is_flash) {
        bad_access(m, "wrote to the flash at", address);
    } else if (memory != NULL) {
        put_bytes(memory, address - memory->base, value, bytes);
    } else {
        if (m->on_register != NULL) {
            m->on_register(m, address, true);
        }
        if (address == m->mark) {
            on_mark(m, value);
        }
        if (!riscv_chip_write(&m->chip, address, value)) {
            bad_access(m, "wrote to", address);
        }
    }
}

static inline void store(struct machine *m, uint32_t address, uint32_t value, uint32_t bytes) {
    struct riscv_memory *ram = &m->memories[0];
    if ((address & (bytes - 1)) != 0 && !m->core->allows_unaligned) {
        unaligned_access(m, address);
    } else if (address - ram->base <= ram->bytes - bytes) {
        m->last_read = 1;
        put_bytes(ram, address - ram->base, value, bytes);
    } else {
        store_slow(m, address, value, bytes);
    }
}

#endif
