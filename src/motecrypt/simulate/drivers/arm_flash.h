/* SPDX-License-Identifier: MIT
 * arm_flash.h: a flash with wait states between it and the core: lines, reading ahead, caches. It says how long the core waits
 * for a line, and knows neither the core nor a chip: all figures come from the device's descriptor (device.toml,
 * [simulator.memory]).
 *
 * A read occupies the flash for 1 + wait states cycles. A line that is asked for while another is being read waits for
 * it. Times are in core cycles.
 */
#ifndef MOTECRYPT_ARM_FLASH_H
#define MOTECRYPT_ARM_FLASH_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "arm_cache.h"
#include "bounds.h"

#define FLASH_FIGURES(X)                                                                                     \
    X(wait_states)      /* of a read of one line */                                                          \
    X(line_bytes)       /* that one read gives; a power of two */                                            \
    X(reads_ahead)      /* 1: the line after the one in use is read without being asked for */               \
    X(ahead_delay)      /* cycles between the first use of a line and reading the next one */                \
    X(core_ahead_bytes) /* by how much the core itself asks early for code that follows */                   \
    X(core_word_cycles) /* the core takes code word by word, in so many cycles each; 0: lines as a whole */   \
    X(code_lines)       /* of a cache for code; 0: there is none but the line in use */                      \
    X(code_ways)                                                                                             \
    X(keeps_ahead)      /* 1: a line that was read ahead goes to the cache */                                \
    X(data_lines)       /* of a cache for data; 0: there is none */                                          \
    X(data_ways)                                                                                             \
    X(shared)           /* 1: data use the cache for code */                                                 \
    X(data_wait_states) /* of a read as data */

enum flash_figure {
#define X(name) FLASH_##name,
    FLASH_FIGURES(X)
#undef X
        FLASH_FIGURE_COUNT
};

static const char *const flash_figure_names[FLASH_FIGURE_COUNT] = {
#define X(name) #name,
    FLASH_FIGURES(X)
#undef X
};

enum { FLASH_NO_LINE = UINT32_MAX };

/* What changes while it is used. */
struct flash_state {
    struct cache code, data;
    uint32_t current, next; /* lines: in use, and read ahead; or FLASH_NO_LINE */
    uint64_t next_at;       /* when the line read ahead is there */
    uint64_t free_at;       /* when another read can begin */
    uint64_t taken_at;      /* when the core has all words of the line in use, and can ask for another */
};

struct flash {
    bool on;
    uint32_t figure[FLASH_FIGURE_COUNT];
    uint32_t line_shift;
    struct flash_state state;
    uint64_t waited; /* cycles */
};

static inline void flash_copy_state(struct flash_state *to, const struct flash_state *from) {
    cache_copy(&to->code, &from->code);
    cache_copy(&to->data, &from->data);
    to->current = from->current;
    to->next = from->next;
    to->next_at = from->next_at;
    to->free_at = from->free_at;
    to->taken_at = from->taken_at;
}

/* Forgets all lines, as at power-on. */
static inline void flash_forget(struct flash *flash) {
    cache_flush(&flash->state.code);
    cache_flush(&flash->state.data);
    flash->state.current = flash->state.next = FLASH_NO_LINE;
    flash->state.next_at = flash->state.free_at = flash->state.taken_at = 0;
}

/* From its figures; false where they do not fit together. */
static inline bool flash_init(struct flash *flash) {
    const uint32_t *figure = flash->figure;
    uint32_t line = figure[FLASH_line_bytes];
    if (!cache_power_of_two(line) || line < 4 ||
        (figure[FLASH_code_lines] != 0 &&
         cache_init(&flash->state.code, figure[FLASH_code_lines] * line, figure[FLASH_code_ways], line) != 0) ||
        (figure[FLASH_data_lines] != 0 &&
         cache_init(&flash->state.data, figure[FLASH_data_lines] * line, figure[FLASH_data_ways], line) != 0) ||
        (figure[FLASH_shared] != 0 && (figure[FLASH_code_lines] == 0 || figure[FLASH_data_lines] != 0))) {
        return false;
    }
    while ((1u << flash->line_shift) < line) {
        flash->line_shift++;
    }
    flash_forget(flash);
    flash->on = true;
    return true;
}

/* Takes figures as "name=number,name=number"; those not given are 0. Returns what is wrong, or NULL. */
static inline const char *flash_figures(struct flash *flash, char *text) {
    for (char *item = strtok(text, ","); item != NULL; item = strtok(NULL, ",")) {
        size_t length = strcspn(item, "=");
        unsigned i = 0;
        char *end = item;
        while (i < FLASH_FIGURE_COUNT &&
               (strncmp(item, flash_figure_names[i], length) != 0 || flash_figure_names[i][length] != '\0')) {
            i++;
        }
        if (i < FLASH_FIGURE_COUNT && item[length] == '=') {
            flash->figure[i] = (uint32_t)strtoul(item + length + 1, &end, 0);
        }
        if (end == item || *end != '\0') {
            return item;
        }
    }
    return flash_init(flash) ? NULL : "--memory";
}

static inline uint64_t flash_read_line(struct flash *flash, uint64_t ask, uint32_t wait_states) {
    uint64_t there = most(ask, flash->state.free_at) + wait_states;
    flash->state.free_at = there + 1;
    return there;
}

/* When the core has taken some words of a line, the first of which is there at a time. */
static inline uint64_t flash_taken(const struct flash *flash, uint64_t there, uint32_t words) {
    uint32_t cycles = flash->figure[FLASH_core_word_cycles];
    return cycles == 0 ? 0 : there + words * cycles;
}

/* The core goes to a line of code: it asks for it at one time and needs it at a later one. Returns the cycles it waits. */
static inline uint32_t flash_fetch(struct flash *flash, uint32_t line, uint64_t ask, uint64_t need) {
    struct flash_state *state = &flash->state;
    bool cached = flash->figure[FLASH_code_lines] != 0;
    uint64_t there;
    if (line == state->current) {
        return 0;
    }
    ask = there = most(ask, state->taken_at);
    state->current = line;
    if (line == state->next) {
        there = most(ask, state->next_at);
        if (flash->figure[FLASH_keeps_ahead] != 0 && cached && !cache_find(&state->code, line)) {
            cache_put(&state->code, line);
        }
    } else if (!cached || !cache_find(&state->code, line)) {
        there = flash_read_line(flash, ask, flash->figure[FLASH_wait_states]);
        if (cached) {
            cache_put(&state->code, line);
        }
    }
    state->next = FLASH_NO_LINE;
    if (flash->figure[FLASH_reads_ahead] != 0 && !(cached && cache_find(&state->code, line + 1))) {
        state->next = line + 1;
        state->next_at = flash_read_line(flash, most(there, need) + flash->figure[FLASH_ahead_delay],
                                         flash->figure[FLASH_wait_states]);
    }
    state->taken_at = flash_taken(flash, there, flash->figure[FLASH_line_bytes] / 4u);
    return there > need ? (uint32_t)(there - need) : 0;
}

/* The core jumps to an address and begins there at `begun`: what it was taking is forgotten. `splits`: the instruction
 * there is in two words, and the first was taken before. Returns the cycles it waits. */
static inline uint32_t flash_jump(struct flash *flash, uint32_t address, bool splits, uint64_t begun) {
    uint32_t left = flash->figure[FLASH_line_bytes] - (address & (flash->figure[FLASH_line_bytes] - 1u));
    uint32_t waited;
    flash->state.taken_at = 0;
    waited = flash_fetch(flash, address >> flash->line_shift, begun, begun);
    flash->state.taken_at = flash_taken(flash, begun + waited, (left + 3u) / 4u - splits);
    return waited;
}

/* The core reads data of the flash; `begun`: when the code around began to run. Returns the cycles it waits. A line that
 * is being read ahead meanwhile comes later. */
static inline uint32_t flash_read(struct flash *flash, uint32_t address, uint64_t begun) {
    struct flash_state *state = &flash->state;
    uint32_t line = address >> flash->line_shift, wait = flash->figure[FLASH_data_wait_states];
    struct cache *cache = flash->figure[FLASH_shared] != 0       ? &state->code
                          : flash->figure[FLASH_data_lines] != 0 ? &state->data
                                                                 : NULL;
    if (cache != NULL) {
        if (cache_find(cache, line)) {
            return 0;
        }
        cache_put(cache, line);
    }
    if (state->next != FLASH_NO_LINE && state->next_at > begun) {
        state->next_at += wait + 1;
    }
    state->free_at = most(state->free_at, begun) + wait + 1;
    return wait;
}

#endif
