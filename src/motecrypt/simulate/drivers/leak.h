/* SPDX-License-Identifier: MIT
 * leak.h: what a device's current may show of each instruction in a window, as small integers, and how traces leave
 * the simulator. It depends on neither core nor simulator: avr_leak.h, arm_leak.h and riscv_leak.h report what each instruction
 * wrote and moved. The model is described in docs/leakage.md. Options of the drivers:
 *
 *   --leak-from ADDRESS    where a run begins. The machine's state there is kept; inputs are put into memory.
 *   --leak-window ADDRESS  the function that is recorded, from its first call after that until it returns.
 *   --leak-skip N          instructions of it that are not recorded first.
 *   --leak-limit N         the most that are recorded; a run ends there.
 *   --leak-runs N          how many.
 *   --leak-poke ADDRESS:BYTES   repeated: bytes of each run's input are put here, in this order.
 *   --leak-channels MASK   which of enum leak_channel.
 *   --leak-input DESCRIPTOR, --leak-output DESCRIPTOR
 *   --leak-detail          where each instruction is, and which values met, instead of samples.
 *
 * For each run the output gets a struct leak_head, then one byte for each channel and each of --leak-limit
 * instructions, channel after channel; with --leak-detail a struct leak_detail for each instruction that was recorded.
 */
#ifndef MOTECRYPT_LEAK_H
#define MOTECRYPT_LEAK_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum leak_channel {
    LEAK_RESULT,   /* Hamming weight of what is written: registers, and memory by stores */
    LEAK_REGISTER, /* Hamming distance: a register's old and new value */
    LEAK_DATA,     /* consecutive values on the data bus */
    LEAK_ADDRESS,  /* consecutive addresses of data */
    LEAK_FLASH,    /* consecutive words that the flash delivers */
    LEAK_LATCH,    /* consecutive words that loads take from RAM: its output latch */
    LEAK_CELL,     /* what a store writes over */
    LEAK_CHANNELS
};

enum { LEAK_POKES = 8, LEAK_SAMPLE_MOST = 255, LEAK_NOBODY = -1, LEAK_BUFFER = 1 << 18 };
enum { LEAK_CYCLES_MOST = 50000000 }; /* of one run */

enum leak_flags {
    LEAK_CUT = 1,    /* the function had not returned after --leak-limit instructions */
    LEAK_ABSENT = 2, /* the function was not called in this run */
    LEAK_DIRTY = 4   /* with --leak-detail: memory differs after the state was put back */
};

struct leak_head {
    uint32_t instructions; /* recorded */
    uint32_t flags;
    uint64_t path; /* a digest of their addresses */
};

/* Two values that met: the one before was put there by the instruction `source` of this window (counted from 0), or
 * by none of it. Both are 0 where the instruction does not use the channel. */
struct leak_meeting {
    int32_t source;
    uint32_t place; /* a register's number, or an address */
    uint32_t before, after;
};

struct leak_detail {
    uint32_t pc;
    struct leak_meeting meetings[LEAK_CHANNELS];
};

/* Where a value stays until the next one replaces it. */
struct leak_place {
    uint32_t value;
    int32_t source;
};

static struct leak {
    bool on;
    int detail;
    uint32_t from, window, skip, limit, runs, mask;
    FILE *input, *output;
    struct {
        uint32_t address, bytes;
    } pokes[LEAK_POKES];
    unsigned poke_count;
    /* of this run */
    bool recording;
    uint32_t at; /* instructions of the window so far */
    struct leak_head head;
    struct leak_place data, address, flash, latch;
    uint32_t sums[LEAK_CHANNELS]; /* of the current instruction */
    struct leak_detail now;
    uint8_t *samples; /* LEAK_CHANNELS rows of `limit` */
    struct leak_detail *details;
} leak = {.limit = UINT32_MAX};

static inline uint32_t leak_weight(uint32_t value) {
    return (uint32_t)__builtin_popcount(value);
}

/* One of the options above takes `value`. */
static inline bool leak_option(const char *key, const char *value) {
    char *end;
    uint32_t number = (uint32_t)strtoul(value, &end, 0);
    leak.on = true;
    if (strcmp(key, "--leak-from") == 0) {
        leak.from = number;
    } else if (strcmp(key, "--leak-window") == 0) {
        leak.window = number;
    } else if (strcmp(key, "--leak-skip") == 0) {
        leak.skip = number;
    } else if (strcmp(key, "--leak-limit") == 0) {
        leak.limit = number;
    } else if (strcmp(key, "--leak-runs") == 0) {
        leak.runs = number;
    } else if (strcmp(key, "--leak-channels") == 0) {
        leak.mask = number;
    } else if (strcmp(key, "--leak-input") == 0) {
        leak.input = fdopen((int)number, "rb");
        return leak.input != NULL && *end == '\0';
    } else if (strcmp(key, "--leak-output") == 0) {
        leak.output = fdopen((int)number, "wb");
        return leak.output != NULL && *end == '\0';
    } else if (strcmp(key, "--leak-poke") == 0) {
        if (*end != ':' || leak.poke_count == LEAK_POKES) {
            return false;
        }
        leak.pokes[leak.poke_count].address = number;
        leak.pokes[leak.poke_count++].bytes = (uint32_t)strtoul(end + 1, &end, 0);
    } else {
        return false;
    }
    return end != value && *end == '\0';
}

/* Before the sandbox. Whether there is all that recording needs. */
static inline bool leak_open(void) {
    size_t rows = leak.detail ? 0 : LEAK_CHANNELS;
    if (leak.input == NULL || leak.output == NULL || leak.limit == 0 || leak.limit > 1u << 24) {
        return false;
    }
    setvbuf(leak.input, NULL, _IOFBF, LEAK_BUFFER);
    setvbuf(leak.output, NULL, _IOFBF, LEAK_BUFFER);
    leak.samples = malloc(rows * leak.limit + 1);
    leak.details = malloc(leak.detail ? leak.limit * sizeof *leak.details : 1);
    return leak.samples != NULL && leak.details != NULL;
}

/* Before each run: every place holds a 0 that no instruction of the window has put there. */
static inline void leak_begin(void) {
    static const struct leak_place empty = {0, LEAK_NOBODY};
    leak.recording = false;
    leak.at = 0;
    leak.head = (struct leak_head){.path = UINT64_C(0xCBF29CE484222325)};
    leak.data = leak.address = leak.flash = leak.latch = empty;
    if (!leak.detail) {
        memset(leak.samples, 0, (size_t)LEAK_CHANNELS * leak.limit);
    }
}

/* Before each instruction of the window. */
static inline void leak_next(uint32_t pc) {
    memset(leak.sums, 0, sizeof leak.sums);
    if (leak.detail) {
        leak.now.pc = pc;
        for (unsigned channel = 0; channel < LEAK_CHANNELS; channel++) {
            leak.now.meetings[channel] = (struct leak_meeting){.source = LEAK_NOBODY};
        }
    }
    if (leak.at >= leak.skip) {
        leak.head.path = (leak.head.path ^ pc) * UINT64_C(0x9E3779B97F4A7C15);
        leak.head.path ^= leak.head.path >> 29;
    }
}

/* Of one instruction's meetings on a channel, the one with the largest distance is kept. */
static inline void leak_meet(enum leak_channel channel, uint32_t place, uint32_t before, uint32_t after,
                             int32_t source) {
    leak.sums[channel] += leak_weight(before ^ after);
    if (leak.detail) {
        struct leak_meeting *kept = &leak.now.meetings[channel];
        if (leak_weight(before ^ after) >= leak_weight(kept->before ^ kept->after)) {
            *kept = (struct leak_meeting){source, place, before, after};
        }
    }
}

static inline void leak_result(uint32_t place, uint32_t value) {
    leak.sums[LEAK_RESULT] += leak_weight(value);
    if (leak.detail && leak_weight(value) >= leak_weight(leak.now.meetings[LEAK_RESULT].after)) {
        leak.now.meetings[LEAK_RESULT] = (struct leak_meeting){LEAK_NOBODY, place, 0, value};
    }
}

/* A value takes its place on a bus or in a latch. */
static inline void leak_replace(enum leak_channel channel, struct leak_place *at, uint32_t place, uint32_t value) {
    leak_meet(channel, place, at->value, value, at->source);
    *at = (struct leak_place){value, (int32_t)leak.at};
}

/* After each instruction of the window. Whether the run continues. */
static inline bool leak_keep(void) {
    uint32_t at = leak.at - leak.skip;
    if (leak.at++ < leak.skip) {
        return true;
    }
    if (leak.detail) {
        leak.details[at] = leak.now;
    } else {
        for (unsigned channel = 0; channel < LEAK_CHANNELS; channel++) {
            uint32_t sum = leak.sums[channel];
            leak.samples[(size_t)channel * leak.limit + at] = (uint8_t)(sum < LEAK_SAMPLE_MOST ? sum : LEAK_SAMPLE_MOST);
        }
    }
    leak.head.instructions = at + 1;
    return leak.head.instructions < leak.limit;
}

/* After a run. Whether it could be written. */
static inline bool leak_write(void) {
    size_t limit = leak.limit;
    bool written = fwrite(&leak.head, sizeof leak.head, 1, leak.output) == 1;
    if (leak.detail) {
        size_t count = leak.head.instructions;
        return written && fwrite(leak.details, sizeof *leak.details, count, leak.output) == count;
    }
    for (unsigned channel = 0; channel < LEAK_CHANNELS; channel++) {
        if (leak.mask >> channel & 1u) {
            written = written && fwrite(leak.samples + channel * limit, 1, limit, leak.output) == limit;
        }
    }
    return written;
}

#endif
