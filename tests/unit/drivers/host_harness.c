/* host_harness.c: host.c with a clock and a counter that the test rules, so that all it prints is known. Each look
 * at the clock takes STEP ns, after LOOKS looks LATER ns; a library that it loads calls `advance`. COUNTER=perf
 * gives it a counter of the kernel, COUNTER=rdpmc one that it may read itself. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static uint64_t now_ns, looks, kernel_count = 1000;
static struct perf_event_mmap_page page;
static int live; /* the counter is read from the processor, not from the page */

void advance(uint64_t ns);
void advance(uint64_t ns) {
    now_ns += ns;
    kernel_count += 3 * ns;
    page.offset += live ? 0 : 2 * (int64_t)ns;
}

/* The counter that it reads itself: 48 bits of it, the highest like a sign. TORN: how often the kernel moves it. */
static uint64_t test_rdpmc(int index);
static uint64_t test_rdtsc(void);

static uint64_t setting(const char *name, uint64_t otherwise) {
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 0) : otherwise;
}

static int is(const char *what) {
    const char *counter = getenv("COUNTER");
    return counter && strcmp(counter, what) == 0;
}

static uint64_t test_rdpmc(int index) {
    static uint64_t reads;
    uint64_t every = setting("TORN", 0);
    if (every && reads++ % every != 0) {
        page.lock++;
        return 123456789;
    }
    return index == 4 ? (2 * now_ns - 3000) & (((uint64_t)1 << 48) - 1) : 0;
}

static uint64_t test_rdtsc(void) {
    return 4 * now_ns;
}

static int test_clock(clockid_t clock, struct timespec *now) {
    if (!is("live")) {
        page.index = 0; /* from now on the kernel has the counter's value */
    }
    now_ns += looks == 0 ? setting("NOW", 0) : 0;
    advance(looks++ < setting("LOOKS", UINT64_MAX) ? setting("STEP", 10) : setting("LATER", 10));
    if (looks == setting("TURN", 0)) {
        page.offset += (int64_t)1 << 48;
    }
    now->tv_sec = (time_t)(now_ns / 1000000000u);
    now->tv_nsec = (long)(now_ns % 1000000000u);
    if (clock == CLOCK_THREAD_CPUTIME_ID) { /* half of the time belongs to others */
        now->tv_sec = (time_t)(now_ns / 2 / 1000000000u);
        now->tv_nsec = (long)(now_ns / 2 % 1000000000u);
    }
    return 0;
}

static long test_syscall(long number, struct perf_event_attr *a, int pid, int cpu, int group, int flags) {
    int right = number == SYS_perf_event_open && a->size == sizeof *a && a->type == PERF_TYPE_HARDWARE &&
                a->config == PERF_COUNT_HW_CPU_CYCLES && a->exclude_kernel && a->exclude_hv &&
                !a->exclude_user && !a->disabled && !a->inherit && pid == 0 && cpu == -1 && group == -1 &&
                flags == 0;
    return right && getenv("COUNTER") ? 77 : -1;
}

static int closed;

static int test_close(int descriptor) {
    closed = descriptor;
    return 0;
}

static ssize_t test_read(int descriptor, void *value, size_t bytes) {
    static int reads;
    if (descriptor != 77 || bytes != 8 || is("broken") || (is("stops") && reads++ != 0)) {
        errno = EIO;
        return -1;
    }
    memcpy(value, &kernel_count, 8);
    return 8;
}

static void *test_mmap(void *at, size_t bytes, int protection, int flags, int descriptor, off_t offset) {
    if (descriptor != 77 && getenv("NOSTACK")) {
        return MAP_FAILED;
    }
    if (descriptor != 77) {
        return mmap(at, bytes, protection, flags, descriptor, offset);
    }
    page.cap_user_rdpmc = is("rdpmc") || is("unused") || is("live");
    page.index = is("rdpmc") || is("denied") || is("live") ? 5 : 0;
    page.pmc_width = 48;
    return protection == PROT_READ && flags == MAP_SHARED && offset == 0 && !is("unmapped") ? (void *)&page
                                                                                            : MAP_FAILED;
}

#define clock_gettime test_clock
#define syscall test_syscall
#define read test_read
#define close test_close
#define mmap test_mmap
#define __builtin_ia32_rdpmc test_rdpmc
#define __builtin_ia32_rdtsc test_rdtsc
#define main driver_main
#include "host.c"
#undef main

int main(int argc, char **argv) {
    live = is("live");
    int code = driver_main(argc, argv);
    if (closed) {
        fprintf(stderr, "closed %d\n", closed);
    }
    return code;
}
