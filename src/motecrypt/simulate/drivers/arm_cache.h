/* SPDX-License-Identifier: MIT
 * arm_cache.h: a set-associative read cache in front of a serial flash. It only counts hits and misses:
 * what a miss costs is the caller's parameter. RP2040 datasheet, 2.6.3.1: 16 KB, two ways, 8-byte lines,
 * a hit in 1 cycle. The datasheet does not name the replacement; least recently used is taken.
 */
#ifndef MOTECRYPT_ARM_CACHE_H
#define MOTECRYPT_ARM_CACHE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define CACHE_LINES_MAX 8192u
#define CACHE_WAYS_MAX 64u
#define CACHE_HINTS 256u /* a power of two */

struct cache {
    uint32_t line_shift; /* log2 of bytes a line */
    uint32_t set_mask;   /* sets - 1 */
    uint32_t ways;
    uint32_t lines;    /* sets x ways */
    uint64_t accesses; /* that were looked up; repeats of the line just used are not looked up again */
    uint64_t misses;
    uint32_t last_line;
    uint64_t uses;                  /* of any line */
    uint16_t hints[CACHE_HINTS];    /* by the low bits of a line: where it may be */
    uint32_t tags[CACHE_LINES_MAX]; /* [set][way]; 0: empty */
    uint64_t used[CACHE_LINES_MAX]; /* [set][way]: the value of `uses` when it last was; 0: never */
};

static inline int cache_power_of_two(uint32_t value) {
    return value != 0 && (value & (value - 1)) == 0;
}

static inline void cache_flush(struct cache *cache) {
    memset(cache->tags, 0, cache->lines * sizeof cache->tags[0]);
    memset(cache->used, 0, cache->lines * sizeof cache->used[0]);
    cache->last_line = UINT32_MAX;
}

/* Only as much as there is: a small one is copied for every region of the firmware. */
static inline void cache_copy(struct cache *to, const struct cache *from) {
    memcpy(to, from, offsetof(struct cache, tags));
    memcpy(to->tags, from->tags, from->lines * sizeof from->tags[0]);
    memcpy(to->used, from->used, from->lines * sizeof from->used[0]);
}

/* Returns 0, or -1 for a geometry that is not made of powers of two or is too large. */
static inline int cache_init(struct cache *cache, uint32_t bytes, uint32_t ways, uint32_t line_bytes) {
    memset(cache, 0, sizeof *cache);
    if (!cache_power_of_two(bytes) || !cache_power_of_two(ways) || !cache_power_of_two(line_bytes) ||
        ways > CACHE_WAYS_MAX || bytes / line_bytes > CACHE_LINES_MAX || bytes / line_bytes < ways) {
        return -1;
    }
    while ((1u << cache->line_shift) < line_bytes) {
        cache->line_shift++;
    }
    cache->ways = ways;
    cache->lines = bytes / line_bytes;
    cache->set_mask = cache->lines / ways - 1;
    cache_flush(cache);
    return 0;
}

/* Whether a line (an address without its lowest bits) is there; it becomes the most recently used one. */
static inline unsigned cache_find(struct cache *cache, uint32_t line) {
    uint32_t tag = line + 1; /* so that 0 means empty */
    uint32_t at = cache->hints[line & (CACHE_HINTS - 1)];
    if (cache->tags[at] != tag) {
        uint32_t end;
        at = (line & cache->set_mask) * cache->ways;
        end = at + cache->ways;
        while (at < end && cache->tags[at] != tag) {
            at++;
        }
        if (at == end) {
            return 0;
        }
        cache->hints[line & (CACHE_HINTS - 1)] = (uint16_t)at;
    }
    cache->used[at] = ++cache->uses;
    return 1;
}

/* Brings a line in that is not there, in the place of the one not used for longest. */
static inline void cache_put(struct cache *cache, uint32_t line) {
    uint32_t at = (line & cache->set_mask) * cache->ways, end = at + cache->ways, oldest = at;
    for (at++; at < end; at++) {
        oldest = cache->used[at] < cache->used[oldest] ? at : oldest;
    }
    cache->tags[oldest] = line + 1;
    cache->used[oldest] = ++cache->uses;
    cache->hints[line & (CACHE_HINTS - 1)] = (uint16_t)oldest;
}

/* Look `address` up, and bring its line in when it is not there. Returns 1 on a miss. */
static inline unsigned cache_access(struct cache *cache, uint32_t address) {
    uint32_t line = address >> cache->line_shift;
    if (line == cache->last_line) {
        return 0;
    }
    cache->last_line = line;
    cache->accesses++;
    if (cache_find(cache, line)) {
        return 0;
    }
    cache_put(cache, line);
    cache->misses++;
    return 1;
}

#endif
