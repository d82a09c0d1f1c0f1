/* SPDX-License-Identifier: GPL-2.0-only -- part of arm.c, which links Unicorn.
 * arm_rom.h: a boot ROM of our own for RP2040 and RP2350 (arm_rom_rp2350.h): the tables in which firmware looks for functions and data, and the
 * functions. Core 0 immediately starts the program in flash; what the flash's second boot stage would set up is taken as
 * done. Each function is one instruction, a return: what it does, and its cycles, this program adds. Where the datasheet
 * does not give cycles, they are those of a plain loop, and in the flash functions those of the flash. Core 1's part is real
 * code (arm_rom_core1.h). Source of names, codes and rules: RP2040 datasheet, 2.8 (2.8.3 contents of the ROM).
 */
#ifndef MOTECRYPT_ARM_ROM_H
#define MOTECRYPT_ARM_ROM_H

#include <stdbool.h>
#include <string.h>

#include "arm_code.h"
#include "arm_exception.h"
#include "arm_rom_core1.h"
#include "arm_rom_float.h"
#include "arm_rom_rp2350.h"

#define ROM_CODE(a, b) ((uint16_t)((a) | (b) << 8))

enum { /* addresses in the ROM */
    ROM_RESET = 0xEE & ~3,
    ROM_TRAP = 0xF0,     /* exceptions before firmware has a table of its own */
    ROM_FUNCTIONS = 0x100, /* four bytes each */
    ROM_FUNCTION_TABLE = 0x400,
    ROM_DATA_TABLE = 0x500,
    ROM_TEXTS = 0x540,
    ROM_SINGLE = 0x600,
    ROM_DOUBLE = 0x700,
    ROM_SINGLE_CODE = 0x800,
    ROM_DOUBLE_CODE = 0x900,
    ROM_HOOKED = ROM_CORE1 /* what is below is served here */
};

enum { ROM_VERSION = 3, ROM_BUSY_SELECT = 8 /* cycles: one command's chip select */ };

enum rom_function { ROM_LOOKUP, ROM_POPCOUNT, ROM_REVERSE, ROM_CLZ, ROM_CTZ, ROM_MEMSET, ROM_MEMSET4, ROM_MEMCPY,
                    ROM_MEMCPY4, ROM_CONNECT, ROM_EXIT_XIP, ROM_ERASE, ROM_PROGRAM, ROM_FLUSH, ROM_ENTER_XIP,
                    ROM_USB_BOOT, ROM_WAIT_VECTOR, ROM_DEBUG, ROM_DEBUG_END, ROM_FUNCTION_COUNT };

static const uint16_t rom_codes[ROM_FUNCTION_COUNT] = {
    [ROM_LOOKUP] = 0, [ROM_POPCOUNT] = ROM_CODE('P', '3'), [ROM_REVERSE] = ROM_CODE('R', '3'),
    [ROM_CLZ] = ROM_CODE('L', '3'), [ROM_CTZ] = ROM_CODE('T', '3'), [ROM_MEMSET] = ROM_CODE('M', 'S'),
    [ROM_MEMSET4] = ROM_CODE('S', '4'), [ROM_MEMCPY] = ROM_CODE('M', 'C'), [ROM_MEMCPY4] = ROM_CODE('C', '4'),
    [ROM_CONNECT] = ROM_CODE('I', 'F'), [ROM_EXIT_XIP] = ROM_CODE('E', 'X'), [ROM_ERASE] = ROM_CODE('R', 'E'),
    [ROM_PROGRAM] = ROM_CODE('R', 'P'), [ROM_FLUSH] = ROM_CODE('F', 'C'), [ROM_ENTER_XIP] = ROM_CODE('C', 'X'),
    [ROM_USB_BOOT] = ROM_CODE('U', 'B'), [ROM_WAIT_VECTOR] = ROM_CODE('W', 'V'), [ROM_DEBUG] = ROM_CODE('D', 'T'),
    [ROM_DEBUG_END] = ROM_CODE('D', 'E'),
};

static __attribute__((aligned(4096))) uint8_t boot_rom[ROM_BYTES];

static void rom_half(uint32_t at, uint32_t value) {
    boot_rom[at] = (uint8_t)value;
    boot_rom[at + 1] = (uint8_t)(value >> 8);
}

static void rom_word(uint32_t at, uint32_t value) {
    rom_half(at, value);
    rom_half(at + 2, value >> 16);
}

static void rom_pair(uint32_t *at, uint32_t code, uint32_t value) {
    rom_half(*at, code);
    rom_half(*at + 2, value);
    *at += 4;
}

/* What both chips' have. `stack`: where the boot ROM's own stack begins. */
static void rom_begin(uint32_t stack) {
    uint32_t at;
    for (at = 0; at < ROM_BYTES; at += 2) {
        rom_half(at, 0xBE00u); /* BKPT */
    }
    rom_word(0, stack);
    rom_word(4, ROM_RESET | 1u);
    for (at = 8; at < 0x10; at += 4) { /* NMI, hard fault */
        rom_word(at, ROM_TRAP | 1u);
    }
    rom_put_core1(boot_rom);
}

/* RP2350's: functions are found by calling one, not by reading tables. */
static void rom_fill_rp2350(uint32_t stack) {
    rom_begin(stack);
    memcpy(boot_rom + 0x10, "Mu\2\2", 4);
    rom_half(0x14, 0);
    rom_half(0x16, ROM2_LOOKUP | 1u);
    rom_word(ROM2_LOOKUP, 0xBF004770u);
    for (uint32_t at = ROM_RESET; at < ROM_FUNCTION_TABLE; at += 4) {
        rom_word(at, 0xBF004770u); /* BX LR; NOP */
    }
    rom_half(ROM_TRAP, 0xBE00u);
    for (uint32_t i = 0; i < ROM2_COUNT; i++) {
        rom_word(ROM2_FUNCTIONS + 4 * i, 0xBF004770u);
    }
    rom_word(ROM2_FLASH_INFO, ROM2_FLASH_INFO + 4);
    rom_half(ROM2_FLASH_INFO + 4, ROM2_16_MB << 8);
}

/* The address of a function or of data; 0: there is none. */
static uint32_t rom2_lookup(uint32_t code, uint32_t state) {
    static const enum rom_function shared[] = {ROM_CONNECT, ROM_EXIT_XIP, ROM_ERASE, ROM_PROGRAM, ROM_FLUSH, ROM_ENTER_XIP};
    for (size_t i = 0; (state & ROM2_FOR_SECURE) && i < COUNT_OF(shared); i++) {
        if (rom_codes[shared[i]] == code) {
            return (ROM_FUNCTIONS + 4 * shared[i]) | 1u;
        }
    }
    for (uint32_t i = 0; (state & ROM2_FOR_SECURE) && i < ROM2_COUNT; i++) {
        if (rom2_codes[i] == code) {
            return (ROM2_FUNCTIONS + 4 * i) | 1u;
        }
    }
    return (state & ROM2_FOR_DATA) && code == ROM2_CODE('F', 'D') ? ROM2_FLASH_INFO : 0;
}

/* Fills RP2040's ROM. */
static void rom_fill(uint32_t stack) {
    static const char copyright[] = "motecrypt: a boot ROM of our own";
    uint32_t at;
    rom_begin(stack);
    memcpy(boot_rom + 0x10, "Mu\1", 3);
    boot_rom[0x13] = ROM_VERSION;
    rom_half(0x14, ROM_FUNCTION_TABLE);
    rom_half(0x16, ROM_DATA_TABLE);
    rom_half(0x18, ROM_FUNCTIONS | 1u);
    for (at = ROM_RESET; at < ROM_FUNCTION_TABLE; at += 4) {
        rom_word(at, 0xBF004770u); /* BX LR; NOP */
    }
    rom_half(ROM_TRAP, 0xBE00u);
    at = ROM_FUNCTION_TABLE;
    for (uint32_t i = ROM_LOOKUP + 1; i < ROM_FUNCTION_COUNT; i++) {
        rom_pair(&at, rom_codes[i], (ROM_FUNCTIONS + 4 * i) | 1u);
    }
    rom_word(at, 0);
    at = ROM_DATA_TABLE;
    rom_pair(&at, ROM_CODE('C', 'R'), ROM_TEXTS);
    rom_pair(&at, ROM_CODE('G', 'R'), ROM_TEXTS + 0x40);
    rom_pair(&at, ROM_CODE('S', 'F'), ROM_SINGLE);
    rom_pair(&at, ROM_CODE('S', 'D'), ROM_DOUBLE);
    rom_pair(&at, ROM_CODE('F', 'S'), ROM_SINGLE_CODE);
    rom_pair(&at, ROM_CODE('F', 'E'), ROM_DOUBLE_CODE + 4 * ROM_FLOATS);
    rom_word(at, 0);
    memcpy(boot_rom + ROM_TEXTS, copyright, sizeof copyright);
    rom_word(ROM_TEXTS + 0x40, 0x6D6F7465u);
    rom_half(ROM_SINGLE - 2, ROM_FLOATS); /* words in the table that follows */
    rom_half(ROM_DOUBLE - 2, ROM_FLOATS);
    for (uint32_t i = 0; i < ROM_FLOATS; i++) {
        rom_word(ROM_SINGLE + 4 * i, (ROM_SINGLE_CODE + 4 * i) | 1u);
        rom_word(ROM_DOUBLE + 4 * i, (ROM_DOUBLE_CODE + 4 * i) | 1u);
        rom_word(ROM_SINGLE_CODE + 4 * i, 0xBF004770u);
        rom_word(ROM_DOUBLE_CODE + 4 * i, 0xBF004770u);
    }
}

/* ---- functions ---- */

/* Memory that firmware may write, or NULL: then the run ends. */
static uint8_t *rom_target(struct machine *m, uint32_t address, uint32_t bytes, const char *what) {
    uint8_t *data = address >> 28 == 2 || address >> 28 == 5 ? host_pointer(m, address, bytes) : NULL;
    if (data == NULL && bytes != 0) {
        finish(m, "fault", "the boot ROM's %s is to write %" PRIu32 " bytes at 0x%" PRIx32 ", where no memory is", what, bytes,
               address);
    }
    return data;
}

static uint64_t rom_copy(struct machine *m, const uint32_t *r, bool is_words) {
    uint8_t *to = rom_target(m, r[0], r[2], is_words ? "memcpy44" : "memcpy");
    const uint8_t *from = host_pointer(m, r[1], r[2]);
    if (to != NULL && from == NULL && r[2] != 0) {
        finish(m, "fault", "the boot ROM's memcpy is to read %" PRIu32 " bytes at 0x%" PRIx32 ", where no memory is", r[2], r[1]);
    } else if (to != NULL && r[2] != 0) {
        memmove(to, from, r[2]);
        code_changed(m, r[0], r[2]);
    }
    /* four words a round of LDM, STM, and a branch; else byte by byte */
    return ((r[0] | r[1]) & 3u) == 0 || is_words ? 20 + (r[2] / 16) * 13 + (r[2] % 16 + 3) / 4 * 6 : 12 + (uint64_t)r[2] * 7;
}

static uint64_t rom_fill_memory(struct machine *m, const uint32_t *r, bool is_words) {
    uint8_t *to = rom_target(m, r[0], r[2], is_words ? "memset4" : "memset");
    if (to != NULL && r[2] != 0) {
        memset(to, (int)(r[1] & 0xFFu), r[2]);
        code_changed(m, r[0], r[2]);
    }
    return 20 + (r[2] / 16) * 8 + (r[2] % 16 + 3) / 4 * 4;
}

static uint64_t rom_lookup(struct machine *m, uint32_t *r) {
    uint32_t at = r[0];
    uint64_t cycles = 8;
    for (;; at += 4, cycles += 9) {
        const uint8_t *pair = host_pointer(m, at, 4);
        uint32_t code = pair == NULL ? 0 : pair[0] | (uint32_t)pair[1] << 8;
        if (code == 0 || code == (r[1] & 0xFFFFu)) {
            r[0] = code == 0 ? 0 : pair[2] | (uint32_t)pair[3] << 8;
            return cycles;
        }
    }
}

static uint64_t rom_erase(struct machine *m, const uint32_t *r) {
    uint32_t at = r[0], end = r[0] + r[1], step;
    uint64_t cycles = 0;
    while (m->nor.data != NULL && at < end && at < m->nor.bytes) {
        step = r[2] >= 4096 && (at & (r[2] - 1)) == 0 && end - at >= r[2] ? r[2] : 4096;
        memset(m->nor.data + at, 0xFF, least(step, m->nor.bytes - at));
        cycles += nor_erase_cycles(&m->nor, step);
        m->nor.erases++;
        at += step;
    }
    return cycles;
}

static uint64_t rom_program(struct machine *m, const uint32_t *r) {
    uint64_t cycles = 0;
    const uint8_t *from = host_pointer(m, r[1], r[2]);
    if (from == NULL && r[2] != 0) {
        finish(m, "fault", "the boot ROM is to program %" PRIu32 " bytes from 0x%" PRIx32 ", where no memory is", r[2], r[1]);
    }
    for (uint32_t i = 0; from != NULL && m->nor.data != NULL && i < r[2] && r[0] + i < m->nor.bytes; i++) {
        m->nor.data[r[0] + i] &= from[i];
        if (i % NOR_PAGE == 0) { /* its time, and that of its bytes through the interface */
            cycles += m->nor.program_cycles + (uint64_t)NOR_PAGE * 8 * 6;
            m->nor.programs++;
        }
    }
    return cycles;
}

/* Where the flash is in the address space: the cached address, and those without the cache (RP2040 datasheet, 2.6.3;
 * RP2350's, 4.4). */
static uint32_t rom_alias(const struct machine *m, uint32_t number) {
    static const uint32_t rp2350[] = {0x10000000u, 0x14000000u, 0x1C000000u, 0x1C000000u};
    return m->chip.rp2040.is_rp2350 ? rp2350[number] : m->flash_base + number * FLASH_WINDOW;
}

/* What was read from the flash before may be other code now. */
static void rom_flash_changed(struct machine *m, const uint32_t *range) {
    uint32_t bytes = range[0] < m->nor.bytes ? (uint32_t)least(range[1], m->nor.bytes - range[0]) : 0;
    for (uint32_t alias = 0; alias < 4; alias++) {
        code_changed(m, rom_alias(m, alias) + range[0], bytes);
    }
}

/* RP2350's one function for all: erases, programs or reads (5.4.8.8). */
static uint64_t rom2_flash_op(struct machine *m, uint32_t *r) {
    uint32_t at = rom2_storage(m, r[1]), range[3] = {at, r[2], 0x10000u}, operation = r[0] >> 16 & 7u;
    int error = rom2_flash_error(m, r);
    uint64_t cycles = 0;
    uint8_t *to;
    if (error != 0) {
        r[0] = (uint32_t)error;
        return 60;
    }
    if (operation == 0) {
        cycles = rom_erase(m, range);
    } else if (operation == 1) {
        cycles = rom_program(m, (const uint32_t[]){at, r[3], r[2]});
    } else {
        to = rom_target(m, r[3], r[2], "flash_op");
        if (to != NULL) {
            memcpy(to, host_pointer(m, m->flash_base + at, r[2]), r[2]);
            code_changed(m, r[3], r[2]);
        }
    }
    if (operation != 2) {
        rom_flash_changed(m, range);
    }
    r[0] = 0;
    return 400 + cycles;
}

static uint64_t rom_call(struct machine *m, enum rom_function function, uint32_t *r) {
    uint64_t cycles;
    switch (function) {
    case ROM_LOOKUP:
        return rom_lookup(m, r);
    case ROM_POPCOUNT:
        r[0] = (uint32_t)__builtin_popcount(r[0]);
        return 18;
    case ROM_REVERSE:
        r[0] = dma_reversed(r[0], 32);
        return 22;
    case ROM_CLZ:
        r[0] = r[0] == 0 ? 32 : (uint32_t)__builtin_clz(r[0]);
        return 20;
    case ROM_CTZ:
        r[0] = r[0] == 0 ? 32 : (uint32_t)__builtin_ctz(r[0]);
        return 20;
    case ROM_MEMSET:
    case ROM_MEMSET4:
        return rom_fill_memory(m, r, function == ROM_MEMSET4);
    case ROM_MEMCPY:
    case ROM_MEMCPY4:
        cycles = rom_copy(m, r, function == ROM_MEMCPY4);
        return cycles;
    case ROM_CONNECT:
        m->chip.rp2040.ssi[SSI_DIVIDER / 4] = 6;
        m->chip.rp2040.ssi[SSI_ENABLE / 4] = 1;
        return 200;
    case ROM_ERASE:
        cycles = rom_erase(m, r);
        rom_flash_changed(m, (const uint32_t[]){r[0], (r[1] + 0xFFFu) & ~0xFFFu});
        return 100 + cycles;
    case ROM_PROGRAM:
        cycles = rom_program(m, r);
        rom_flash_changed(m, (const uint32_t[]){r[0], r[2]});
        return 100 + cycles;
    case ROM_FLUSH:
        cache_flush(&m->cache);
        return 40;
    case ROM_USB_BOOT:
        finish(m, "stop", "the firmware has restarted into the boot ROM's USB mode (BOOTSEL)");
        return 0;
    case ROM_EXIT_XIP:
    case ROM_ENTER_XIP:
        return 300;
    default:
        finish(m, "fault", "the boot ROM's function '%c%c' is not modelled", rom_codes[function] & 0xFF,
               rom_codes[function] >> 8);
        return 0;
    }
}

/* Core 0 begins in the ROM, as after a reset or as a debugger starts a program: the program in flash is started. */
static void rom_boot(struct machine *m) {
    uint32_t words[2];
    if (get_words(m, m->vectors, words, 2)) {
        set_register(m, UC_ARM_REG_SP, words[0]);
        *nvic_word(core_nvic(m), NVIC_VTOR) = m->vectors;
        m->cores[m->core].stopped = true;
        m->cores[m->core].until = UINT32_MAX;
        m->cores[m->core].at = words[1] & ~1u;
        uc_emu_stop(m->uc);
    }
}

static const int rom_register_ids[4] = {UC_ARM_REG_R0, UC_ARM_REG_R1, UC_ARM_REG_R2, UC_ARM_REG_R3};

/* Code in the ROM begins a block, which has been counted. */
static void on_rom(uc_engine *uc, uint64_t address64, uint32_t bytes, void *user) {
    struct machine *m = user;
    uint32_t address = (uint32_t)address64;
    struct rom_call call = {{0}, 0, false};
    (void)uc;
    (void)bytes;
    if (m->cores[m->core].stopped) { /* an exception comes first: it is called again */
        return;
    }
    if (address == ROM_RESET) {
        rom_boot(m);
        return;
    }
    if (m->chip.rp2040.is_rp2350 && address != ROM2_LOOKUP && address - ROM2_FUNCTIONS >= 4 * ROM2_COUNT &&
        address - ROM_FUNCTIONS >= 4 * ROM_FUNCTION_COUNT) {
        return;
    }
    for (unsigned i = 0; i < 4; i++) {
        call.r[i] = register_value(m, rom_register_ids[i]);
    }
    if (m->chip.rp2040.is_rp2350 && address == ROM2_LOOKUP) {
        call.r[0] = rom2_lookup(call.r[0] & 0xFFFFu, call.r[1]);
        m->cycles += 150;
    } else if (m->chip.rp2040.is_rp2350 && address >= ROM2_FUNCTIONS) {
        enum rom2_function number = (enum rom2_function)((address - ROM2_FUNCTIONS) / 4);
        m->cycles += number == ROM2_FLASH_OP ? rom2_flash_op(m, call.r) : rom2_call(m, number, call.r);
    } else if (address - ROM_FUNCTIONS < 4 * ROM_FUNCTION_COUNT) {
        m->cycles += rom_call(m, (enum rom_function)((address - ROM_FUNCTIONS) / 4), call.r);
    } else if (address - ROM_SINGLE_CODE < ROM_DOUBLE_CODE + 4 * ROM_FLOATS - ROM_SINGLE_CODE) {
        bool is_double = address >= ROM_DOUBLE_CODE;
        uint32_t number = (address - (is_double ? ROM_DOUBLE_CODE : ROM_SINGLE_CODE)) / 4;
        if (number >= ROM_FLOATS) { /* between the tables: the code there is a trap */
            return;
        }
        rom_float_call(&call, (enum rom_float)number, is_double);
        m->cycles += rom_float_cycles[number][is_double];
    } else {
        return;
    }
    if (call.sets_flags) {
        set_register(m, UC_ARM_REG_XPSR, (register_value(m, UC_ARM_REG_XPSR) & 0x0FFFFFFFu) | call.flags);
    }
    for (unsigned i = 0; i < 4; i++) {
        set_register(m, rom_register_ids[i], call.r[i]);
    }
}

/* The DMA's memory, for arm_window.h. */
static uint8_t *memory_of(void *context, uint32_t address, uint32_t bytes) {
    return host_pointer(context, address, bytes);
}

static uc_err map_memory(struct machine *m, uint32_t base, uint32_t bytes, uint8_t *data, uint32_t permissions) {
    m->memories[m->memory_count++] = (struct memory){base, bytes, data};
    return uc_mem_map_ptr(m->uc, base, bytes, permissions, data);
}

/* The boot ROM, the USB's memory, and the flash's further addresses: without the cache, and without filling it (2.6.3). */
/* A write of the ROM changes nothing on the chip: TinyUSB writes to address 0 for each packet of endpoint 0. The engine has
 * no such memory, so the write is let through, and taken back before the next block of code. */
static struct {
    uint8_t as_made[ROM_BYTES];
    uc_engine *open; /* that can write it now */
} rom_writes;

static bool ignore_rom_write(struct machine *m, uint32_t address) {
    if (address >= ROM_BYTES || uc_mem_protect(m->uc, 0, ROM_BYTES, UC_PROT_ALL) != UC_ERR_OK) {
        return false;
    }
    rom_writes.open = m->uc;
    m->event_at = 0;
    set_deadline(m);
    return true;
}

static void attend_with_rom(struct machine *m) {
    if (rom_writes.open != NULL) {
        memcpy(boot_rom, rom_writes.as_made, ROM_BYTES);
        uc_mem_protect(rom_writes.open, 0, ROM_BYTES, UC_PROT_READ | UC_PROT_EXEC);
        rom_writes.open = NULL;
    }
    attend_core(m);
}

static uc_err map_rom(struct machine *m) {
    const struct memory *flash = &m->memories[0], *ram = &m->memories[1];
    uc_err error;
    if (m->memory_count < 2 || flash->base != m->flash_base) {
        return UC_ERR_OK;
    }
    (m->chip.rp2040.is_rp2350 ? rom_fill_rp2350 : rom_fill)(ram->base + ram->bytes - 0x100u);
    memcpy(rom_writes.as_made, boot_rom, ROM_BYTES);
    m->ignores = ignore_rom_write;
    m->attend = attend_with_rom;
    error = map_memory(m, 0, ROM_BYTES, boot_rom, UC_PROT_READ | UC_PROT_EXEC);
    error = error != UC_ERR_OK ? error
                               : map_memory(m, 0x50100000u, USB_DPRAM, m->chip.rp2040.usb.dpram,
                                            UC_PROT_READ | UC_PROT_WRITE);
    for (uint32_t alias = 1; alias < (m->chip.rp2040.is_rp2350 ? 3u : 4u) && error == UC_ERR_OK; alias++) {
        error = map_memory(m, rom_alias(m, alias), flash->bytes, flash->data, UC_PROT_READ | UC_PROT_EXEC);
    }
    return error;
}

#endif
