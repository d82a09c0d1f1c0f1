/* SPDX-License-Identifier: GPL-2.0-only -- part of arm.c, which links Unicorn.
 * arm_bus.h: what two cores wait for each other on the way to memory. RP2040's crossbar takes one access a cycle to each
 * of its ports: four banks of RAM that hold words in turn, two small ones, the flash cache, the boot ROM, and the bridges
 * to the peripherals (RP2040 datasheet, 2.1.1, 2.6.2). When both cores want the same port in the same cycle, they get it
 * in turn. Without this, accesses never wait.
 *
 * An instruction's word is fetched in its first cycle, unless the instruction before was in the same word; loads and
 * stores are in the cycles after it. ARM does not publish in which cycles Cortex-M0+ fetches, so which of two accesses
 * waits may differ on a chip by a cycle; one core alone never waits, and takes the cycles that it takes without this.
 */
#ifndef MOTECRYPT_ARM_BUS_H
#define MOTECRYPT_ARM_BUS_H

#include "arm_cores.h"

enum bus_port { BUS_RAM, BUS_RAM4 = 4, BUS_RAM5, BUS_FLASH, BUS_ROM, BUS_PERIPHERALS, BUS_FAST, BUS_PORTS, BUS_NO_PORT };

static struct {
    bool on;
    uint64_t free_at[BUS_PORTS]; /* the port takes the next access then */
    unsigned last[BUS_PORTS];    /* core that had it last */
    enum bus_port wants[SIO_CORES];
    uint32_t left[SIO_CORES];  /* cycles of the current block from the next instruction on */
    uint32_t next[SIO_CORES];  /* address after the last instruction */
    uint64_t waits[SIO_CORES]; /* cycles that each core has waited */
} bus;

static inline enum bus_port port_of(uint32_t address) {
    switch (address >> 28) {
    case 0:
        return BUS_ROM;
    case 1:
        return BUS_FLASH;
    case 2:
        return address - 0x20000000u < 0x40000u ? (enum bus_port)(BUS_RAM + (address >> 2 & 3u))
               : address < 0x20041000u         ? BUS_RAM4
                                               : BUS_RAM5;
    case 4:
        return BUS_PERIPHERALS;
    case 5:
        return BUS_FAST;
    default:
        return BUS_NO_PORT; /* the SIO and a core's own peripherals */
    }
}

/* Takes a port for `cycles` from `time` on, or as soon as it is free. Returns what the core has waited. */
static uint64_t take_port(struct machine *m, enum bus_port port, uint64_t time, uint64_t cycles) {
    const struct core *other = other_core(m);
    unsigned me = m->core;
    uint64_t at = time;
    if (port == BUS_NO_PORT) {
        return 0;
    }
    for (;;) {
        bus.wants[me] = port;
        if (other_runs(m)) {
            wait_for_turn(m, at);
        }
        if (m->ending != NULL) {
            break;
        }
        if (bus.free_at[port] > at) {
            at = bus.free_at[port];
        } else if (me == 0 && other->pending == at && bus.wants[1] == port && bus.last[port] == 0) {
            at++; /* core 1's turn */
        } else {
            break;
        }
    }
    bus.wants[me] = BUS_NO_PORT;
    bus.free_at[port] = at + cycles;
    bus.last[port] = me;
    bus.waits[me] += at - time;
    m->cycles += at - time;
    return at - time;
}

/* The time at which the present instruction has come `cycles` far. */
static inline uint64_t bus_time(const struct machine *m, uint32_t cycles) {
    return core_time(m) - bus.left[m->core] + cycles;
}

static void access_flash(struct machine *m, uint32_t address, uint32_t cycle) {
    take_port(m, BUS_FLASH, bus_time(m, cycle), 1);
    if (m->cache_on && cache_access(&m->cache, address)) {
        bus.free_at[BUS_FLASH] += m->miss_cycles;
    }
}

static void access_bus(struct machine *m, uint32_t address, uint32_t cycle, bool is_write) {
    enum bus_port port = port_of(address);
    if (port == BUS_FLASH) {
        access_flash(m, address, cycle);
    } else {
        uint32_t more = port == BUS_PERIPHERALS ? (is_write ? m->bus_write_extra : m->bus_read_extra) : 0;
        take_port(m, port, bus_time(m, cycle), 1 + more);
    }
}

/* Before every instruction. */
static void on_bus(uc_engine *uc, uint64_t address, uint32_t bytes, void *user) {
    struct machine *m = user;
    uint32_t pc = (uint32_t)address;
    uint16_t code = code_at(m, pc);
    struct thumb_instruction instruction = thumb_decode(code, bytes == 4 ? code_at(m, pc + 2) : 0);
    struct thumb_access access = thumb_access(code, &instruction);
    (void)uc;
    if (pc == m->current->address) {
        bus.left[m->core] = m->current->cycles;
    }
    if (m->nor.selected && port_of(pc) == BUS_FLASH) {
        on_fetch(uc, address, bytes, user);
    }
    if ((pc & 2u) == 0 || pc != bus.next[m->core]) {
        access_bus(m, pc, 0, false);
    }
    if (bytes == 4 && (pc & 2u) != 0) {
        access_bus(m, pc + 2, 1, false);
    }
    if (m->cache.misses != m->misses_seen && m->flash_waited != NULL) {
        m->flash_waited(m, pc);
        if (m->cores[m->core].stopped) { /* it has not come to this instruction yet */
            return;
        }
    }
    bus.next[m->core] = pc + bytes;
    if (access.kind != THUMB_NO_ACCESS && m->ending == NULL) {
        uint32_t first = access_address(m, &access, pc);
        for (uint32_t i = 0; i < access.units; i++) {
            access_bus(m, first + i * access.bytes, 1 + i, access.kind == THUMB_WRITES);
        }
    }
    bus.left[m->core] -= thumb_cycles(&instruction, m->cost);
}

#endif
