/* SPDX-License-Identifier: GPL-2.0-only -- part of arm.c, which links Unicorn.
 * arm_rom_rp2350.h: what the boot ROM of our own has for RP2350: one function that looks for functions and data by a code and
 * the state they are for, and the functions that RP2040's has not (arm_rom.h has the others, and calls these). There is no
 * partition table, and no key in OTP. Source of codes, flags, arguments and errors: RP2350 datasheet, 5.4 and 5.5.
 */
#ifndef MOTECRYPT_ARM_ROM_RP2350_H
#define MOTECRYPT_ARM_ROM_RP2350_H

#include "arm_exception.h"

enum { /* in the ROM */
    ROM2_LOOKUP = 0x18,      /* its code; the address is at 0x16 */
    ROM2_FUNCTIONS = 0x1000, /* four bytes each */
    ROM2_FLASH_INFO = 0x1800 /* data: a pointer to the sizes of the flash chips */
};

enum rom2_state { ROM2_FOR_SECURE = 0x04, ROM2_FOR_DATA = 0x40 };
enum rom2_error {
    ROM2_NOT_PERMITTED = -4, ROM2_INVALID = -5, ROM2_BAD_ADDRESS = -10, ROM2_BAD_ALIGNMENT = -11, ROM2_TOO_SMALL = -13,
    ROM2_NOT_FOUND = -17
};
enum rom2_restart { ROM2_TO_BOOTSEL = 2, ROM2_TO_RAM = 3, ROM2_TO_UPDATE = 4, ROM2_TO_PC = 0xD, ROM2_TO_RISCV = 0x20, ROM2_NO_RETURN = 0x100 };
enum { ROM2_16_MB = 12 };

#define ROM2_CODE(a, b) ((uint16_t)((a) | (b) << 8))

enum rom2_function {
    ROM2_SYS_INFO, ROM2_STATE_RESET, ROM2_STACK, ROM2_REBOOT, ROM2_FLASH_OP, ROM2_STORAGE_ADDRESS, ROM2_NO_TRANSLATION,
    ROM2_READ_MODE, ROM2_PARTITIONS, ROM2_LOAD_PARTITIONS, ROM2_B_PARTITION, ROM2_PICK_AB, ROM2_UF2_TARGET, ROM2_BUY,
    ROM2_COUNT
};

static const uint16_t rom2_codes[ROM2_COUNT] = {
    [ROM2_SYS_INFO] = ROM2_CODE('G', 'S'), [ROM2_STATE_RESET] = ROM2_CODE('S', 'R'), [ROM2_STACK] = ROM2_CODE('S', 'S'),
    [ROM2_REBOOT] = ROM2_CODE('R', 'B'), [ROM2_FLASH_OP] = ROM2_CODE('F', 'O'),
    [ROM2_STORAGE_ADDRESS] = ROM2_CODE('F', 'A'), [ROM2_NO_TRANSLATION] = ROM2_CODE('R', 'A'),
    [ROM2_READ_MODE] = ROM2_CODE('X', 'M'), [ROM2_PARTITIONS] = ROM2_CODE('G', 'P'),
    [ROM2_LOAD_PARTITIONS] = ROM2_CODE('L', 'P'), [ROM2_B_PARTITION] = ROM2_CODE('G', 'B'),
    [ROM2_PICK_AB] = ROM2_CODE('A', 'B'), [ROM2_UF2_TARGET] = ROM2_CODE('G', 'U'), [ROM2_BUY] = ROM2_CODE('E', 'B'),
};

/* Words of each part of what is asked for, by its flag's bit (5.4.8.17); the chip's number is that of unique_board_id. */
static uint32_t rom2_sys_info(struct machine *m, const uint32_t *r) {
    static const struct {
        uint32_t count, words[4];
    } parts[] = {{3, {1, 0x6D6F7465u, 0x70693032u}}, {1, {0}}, {1, {0}}, {1, {ROM2_16_MB << 8}},
                 {4, {0x6D6F7465u, 0x63727970u, 0x74207231u, 0x32333530u}}, {2, {1, 2}}, {4, {0xFFu << 8, 0, 0, 0}}};
    uint32_t out[32] = {r[2] & 0x7Fu}, count = 1;
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        for (uint32_t word = 0; (r[2] >> i & 1u) && word < parts[i].count; word++) {
            out[count++] = parts[i].words[word];
        }
    }
    return count > r[1] ? (uint32_t)ROM2_TOO_SMALL : put_words(m, r[0], out, count) ? count : (uint32_t)ROM2_INVALID;
}

/* Why a restart is not modelled, or NULL. */
static const char *rom2_refuses(uint32_t flags) {
    return flags & ROM2_TO_RISCV                ? "with the RISC-V cores"
           : (flags & 0xFu) == ROM2_TO_RAM    ? "into an image in RAM"
           : (flags & 0xFu) == ROM2_TO_UPDATE ? "into an update in the flash"
                                              : NULL;
}

/* Restarts by the watchdog (5.4.8.24): the flags, a delay in milliseconds, and two parameters. Returns the cycles until
 * then if the function is not to return, or 0. */
static uint64_t rom2_reboot(struct machine *m, const uint32_t *r) {
    struct rp2040 *chip = &m->chip.rp2040;
    uint32_t *scratch = rp2040_register(chip, RP2040_WATCHDOG + WATCHDOG_SCRATCH);
    uint64_t ends;
    if ((r[0] & 0xFu) == ROM2_TO_BOOTSEL) {
        finish(m, "stop", "the firmware has restarted into the boot ROM's USB mode (BOOTSEL)");
        return 0;
    }
    if (rom2_refuses(r[0]) != NULL) {
        finish(m, "fault", "the firmware restarts %s, by the boot ROM's function reboot with flags 0x%" PRIx32 ": not modelled",
               rom2_refuses(r[0]), r[0]);
        return 0;
    }
    if ((r[0] & 0xFu) == ROM2_TO_PC) {
        memcpy(scratch + 4, (const uint32_t[]){WATCHDOG_BOOTS, r[2] ^ (0u - WATCHDOG_BOOTS), r[3], r[2]}, 16);
    } else {
        memcpy(scratch + 2, (const uint32_t[]){r[2], r[3], 0}, 12);
    }
    if (!(chip->tick_control[TICKS_WATCHDOG] & 0x200u)) {
        rp2350_own_write(chip, RP2350_AT_TICKS + rp2350_generators[TICKS_WATCHDOG] + 4, RP2040_XOSC_HZ / 1000000u);
        rp2350_own_write(chip, RP2350_AT_TICKS + rp2350_generators[TICKS_WATCHDOG], 1);
    }
    chip->watchdog.control = WATCHDOG_ENABLE;
    rp2350_watchdog_load(chip, r[1] * 1000u);
    m->event_at = 0;
    set_deadline(m);
    ends = rp2040_watchdog_cycle(chip);
    return (r[0] & ROM2_NO_RETURN) && ends != UINT64_MAX ? most(ends, core_time(m)) - core_time(m) : 0;
}

/* Where in the flash an address of a program is; at the end of the flash or beyond: all ones. A storage address, as the
 * ROM's functions take and give it, is this and where the flash is in the address space, without translation. */
static uint32_t rom2_storage(const struct machine *m, uint32_t address) {
    return address - m->flash_base < m->nor.bytes ? address - m->flash_base : UINT32_MAX;
}

/* What is wrong with the arguments of flash_op (5.4.8.8); 0: nothing. */
static int rom2_flash_error(const struct machine *m, const uint32_t *r) {
    uint32_t operation = r[0] >> 16 & 7u, at = rom2_storage(m, r[1]);
    uint32_t unit = operation == 0 ? 4096 : operation == 1 ? NOR_PAGE : 1; /* erases sectors, programs pages, reads bytes */
    if ((r[0] & ~0x00070301u) != 0 || (r[0] & 0x300u) == 0 || operation > 2) {
        return ROM2_INVALID;
    }
    if ((r[0] & 1u) && r[1] - m->flash_base >= 0x02000000u) {
        return ROM2_BAD_ADDRESS;
    }
    if (at == UINT32_MAX || r[2] > m->nor.bytes - at) {
        return ROM2_NOT_PERMITTED;
    }
    return at % unit != 0 || r[2] % unit != 0 ? ROM2_BAD_ALIGNMENT : 0;
}

/* Returns the cycles that it takes; `r`: the arguments, and the result. */
static uint64_t rom2_call(struct machine *m, enum rom2_function function, uint32_t *r) {
    uint64_t cycles;
    switch (function) {
    case ROM2_SYS_INFO:
        r[0] = rom2_sys_info(m, r);
        return 200;
    case ROM2_REBOOT:
        cycles = rom2_reboot(m, r);
        r[0] = 0;
        return 200 + cycles;
    case ROM2_STORAGE_ADDRESS:
        r[0] = rom2_storage(m, r[0]) == UINT32_MAX ? (uint32_t)ROM2_BAD_ADDRESS : r[0];
        return 30;
    case ROM2_PARTITIONS: /* no partitions: the flags, their number, and what the rest of the flash allows */
        r[0] = r[1] < 4 ? (uint32_t)ROM2_TOO_SMALL
               : put_words(m, r[0], (const uint32_t[]){1, 0, 0xFC000000u, 0xFC000000u}, 4) ? 4u : (uint32_t)ROM2_INVALID;
        return 200;
    case ROM2_B_PARTITION:
    case ROM2_PICK_AB:
    case ROM2_UF2_TARGET:
        r[0] = (uint32_t)ROM2_NOT_FOUND;
        return 100;
    case ROM2_NO_TRANSLATION:
    case ROM2_READ_MODE:
        return 100;
    default: /* the state's and the stack's, tables that are not there, what was bought already */
        r[0] = 0;
        return 60;
    }
}

#endif
