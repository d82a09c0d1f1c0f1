/* SPDX-License-Identifier: MIT
 * arm_cache.h: a set-associative read cache in front of a serial flash. It only counts hits and misses:
 * what a miss costs is the caller's parameter. RP2040 datasheet, 2.6.3.1: 16 KB, two ways, 8-byte lines,
 * a hit in 1 cycle. The datasheet does not name the replacement; least recently used is taken.
 */
#ifndef MOTECRYPT_ARM_CACHE_H
#define MOTECRYPT_ARM_CACHE_H

#include <stdint.h>
#include <string.h>

#define CACHE_LINES_MAX 8192u
#define CACHE_WAYS_MAX 8u

struct cache {
    uint32_t line_shift; /* log2 of bytes a line */
    uint32_t set_mask;   /* sets - 1 */
    uint32_t ways;
    uint64_t accesses; /* that were looked up; repeats of the line just used are not looked up again */
    uint64_t misses;
    uint32_t last_line;
    uint32_t tags[CACHE_LINES_MAX]; /* [set][way], the most recently used way first; 0: empty */
};

static inline int cache_power_of_two(uint32_t value) {
    return value != 0 && (value & (value - 1)) == 0;
}

static inline void cache_flush(struct cache *cache) {
    memset(cache->tags, 0, sizeof cache->tags);
    cache->last_line = UINT32_MAX;
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
    cache->set_mask = bytes / line_bytes / ways - 1;
    cache_flush(cache);
    return 0;
}

/* Look `address` up, and bring its line in when it is not there. Returns 1 on a miss. */
static inline unsigned cache_access(struct cache *cache, uint32_t address) {
    uint32_t line = address >> cache->line_shift;
    uint32_t *set = &cache->tags[(line & cache->set_mask) * cache->ways];
    uint32_t tag = line + 1; /* so that 0 means empty */
    uint32_t way = 0;
    unsigned miss;
    if (line == cache->last_line) {
        return 0;
    }
    cache->last_line = line;
    cache->accesses++;
    while (way < cache->ways - 1 && set[way] != tag) {
        way++;
    }
    miss = set[way] != tag;
    cache->misses += miss;
    for (; way > 0; way--) {
        set[way] = set[way - 1];
    }
    set[0] = tag;
    return miss;
}

#endif
