/* host_counter.h: the best clock that this computer gives a program, and its name.
 *
 * In order: the processor's own cycle counter read without the kernel (perf_event with rdpmc), the same
 * counter read through the kernel, the time stamp counter (x86: ticks at a constant rate, independent of the
 * core's frequency), nanoseconds. Only the first two count core cycles; both leave the kernel's cycles out.
 */
#ifndef MOTECRYPT_HOST_COUNTER_H
#define MOTECRYPT_HOST_COUNTER_H

#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum counter_kind { CORE_CYCLES_RDPMC, CORE_CYCLES_READ, TIME_STAMP, NANOSECONDS };

static struct {
    enum counter_kind kind;
    int descriptor;
    volatile struct perf_event_mmap_page *page;
} counter;

static uint64_t nanoseconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static const char *counter_name(void) {
    switch (counter.kind) {
    case CORE_CYCLES_RDPMC:
        return "core cycles (perf_event, rdpmc)";
    case CORE_CYCLES_READ:
        return "core cycles (perf_event, read)";
    case TIME_STAMP:
        return "time stamp counter ticks";
    default:
        return "nanoseconds";
    }
}

#if defined(__x86_64__)
static inline uint64_t read_pmc(uint32_t index) {
    __asm__ volatile("lfence" : : : "memory");
    uint64_t value = __builtin_ia32_rdpmc((int)index);
    __asm__ volatile("lfence" : : : "memory");
    return value;
}

static inline uint64_t read_time_stamp(void) {
    __asm__ volatile("lfence" : : : "memory");
    uint64_t value = __builtin_ia32_rdtsc();
    __asm__ volatile("lfence" : : : "memory");
    return value;
}
#endif

/* The counter's value; only differences by counter_since mean anything. */
static inline uint64_t counter_now(void) {
#if defined(__x86_64__)
    if (counter.kind == CORE_CYCLES_RDPMC) {
        /* the kernel moves the counter under a sequence lock; see perf_event_open(2) */
        uint32_t sequence;
        uint64_t value;
        do {
            sequence = counter.page->lock;
            __asm__ volatile("" : : : "memory");
            uint32_t index = counter.page->index;
            value = (uint64_t)counter.page->offset;
            if (index) {
                unsigned shift = 64u - counter.page->pmc_width;
                value += (uint64_t)((int64_t)(read_pmc(index - 1) << shift) >> shift);
            }
            __asm__ volatile("" : : : "memory");
        } while (counter.page->lock != sequence);
        return value;
    }
    if (counter.kind == TIME_STAMP) {
        return read_time_stamp();
    }
#endif
    if (counter.kind == CORE_CYCLES_READ) {
        uint64_t value;
        if (read(counter.descriptor, &value, sizeof value) != sizeof value) {
            perror("the kernel's cycle counter");
            exit(2);
        }
        return value;
    }
    return nanoseconds(CLOCK_MONOTONIC);
}

/* What was counted since `start`. The kernel's offset may jump by a whole turn of the hardware's counter (48
 * bits wide on AMD, seen in a guest right after the event is opened), so a difference counts modulo one turn. */
static inline uint64_t counter_since(uint64_t start) {
    uint64_t counted = counter_now() - start;
    if (counter.kind == CORE_CYCLES_RDPMC && counter.page->pmc_width < 64) {
        counted &= ((uint64_t)1 << counter.page->pmc_width) - 1;
    }
    return counted;
}

/* Choose the best counter; MOTECRYPT_HOST_COUNTER=read, tsc or ns asks for a lesser one. */
static void counter_open(void) {
    const char *wish = getenv("MOTECRYPT_HOST_COUNTER");
    wish = wish ? wish : "";
#if defined(__x86_64__)
    counter.kind = TIME_STAMP;
#else
    counter.kind = NANOSECONDS;
#endif
    if (strcmp(wish, "ns") == 0) {
        counter.kind = NANOSECONDS;
        return;
    }
    if (strcmp(wish, "tsc") == 0) {
        return;
    }
    struct perf_event_attr attributes;
    memset(&attributes, 0, sizeof attributes);
    attributes.size = sizeof attributes;
    attributes.type = PERF_TYPE_HARDWARE;
    attributes.config = PERF_COUNT_HW_CPU_CYCLES;
    attributes.exclude_kernel = 1;
    attributes.exclude_hv = 1;
    int descriptor = (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0);
    if (descriptor < 0) {
        return;
    }
    uint64_t value;
    if (read(descriptor, &value, sizeof value) != sizeof value) {
        close(descriptor);
        return;
    }
    counter.descriptor = descriptor;
    counter.kind = CORE_CYCLES_READ;
#if defined(__x86_64__)
    void *page = mmap(0, (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, descriptor, 0);
    if (page != MAP_FAILED) {
        counter.page = page;
        if (counter.page->cap_user_rdpmc && counter.page->index && strcmp(wish, "read") != 0) {
            counter.kind = CORE_CYCLES_RDPMC;
        }
    }
#endif
}

/* Whether the processor has instructions for AES: 1 yes, 0 no, -1 not known here. */
static int aes_instructions(void) {
#if defined(__x86_64__)
    __builtin_cpu_init();
    return __builtin_cpu_supports("aes") ? 1 : 0;
#else
    return -1;
#endif
}

#endif
