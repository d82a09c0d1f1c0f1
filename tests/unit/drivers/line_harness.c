/* line_harness.c: line.h under a test's fingers. Descriptors 0 and 1 are the line's own, so what to do comes
 * over the descriptors that the first two arguments name. Then: a path, a text to wait for, a file for names. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

static int64_t now_us, slept_us;

static int test_clock(clockid_t clock, struct timespec *now) {
    now->tv_sec = now_us / 1000000;
    now->tv_nsec = now_us % 1000000 * 1000;
    return clock == CLOCK_MONOTONIC ? 0 : -1;
}

static int test_sleep(const struct timespec *time, struct timespec *rest) {
    (void)rest;
    slept_us = time->tv_sec * 1000000 + time->tv_nsec / 1000;
    now_us += slept_us;
    return 0;
}

static int interrupted, shortened; /* how many writes to standard output a signal interrupts; their most */

static ssize_t test_write(int descriptor, const void *bytes, size_t count) {
    if (descriptor == STDOUT_FILENO && interrupted > 0) {
        interrupted--;
        errno = EINTR;
        return -1;
    }
    return write(descriptor, bytes, descriptor == STDOUT_FILENO && shortened && count > 3 ? 3 : count);
}

#define clock_gettime test_clock
#define nanosleep test_sleep
#define write test_write
#include "line.h"

#include "harness.h"

static struct line line;
static struct pace pace;

static uint64_t open_none(const uint64_t *n) {
    (void)n;
    return (uint64_t)(int64_t)line_open(&line, NULL, NULL) + (uint64_t)(line.port + 1) * 100;
}

static uint64_t open_port(const uint64_t *n) {
    (void)n;
    return line_open(&line, arguments[2], NULL) == 0 ? 0 : (uint64_t)errno;
}

static uint64_t open_pty(const uint64_t *n) {
    FILE *names;
    (void)n;
    if (line_open(&line, NULL, arguments[2]) != 0) {
        return (uint64_t)errno;
    }
    names = fopen(arguments[4], "w");
    fputs(line.name, names);
    return (uint64_t)fclose(names);
}

/* most output, stamps, input, whether there is a text to wait for */
static uint64_t set(const uint64_t *n) {
    line.max_output = n[0];
    line.stamps = (int)n[1];
    line.reads_input = (int)n[2];
    line.until = n[3] ? arguments[3] : NULL;
    return 0;
}

static uint64_t send_byte(const uint64_t *n) {
    return (uint64_t)line_send(&line, (uint8_t)n[0], (double)n[1] / 1e6);
}

/* As many bytes, of any value. */
static uint64_t send_many(const uint64_t *n) {
    uint64_t sent = 0;
    while (sent < n[0]) {
        sent++;
        if (line_send(&line, (uint8_t)(sent * 7), 0)) {
            return sent;
        }
    }
    return sent;
}

static uint64_t look(const uint64_t *n) {
    line_look(&line, (int)n[0]);
    return line.input_end - line.input_at;
}

static uint64_t take(const uint64_t *n) {
    (void)n;
    return line.input_at < line.input_end ? line.input[line.input_at++] : 999;
}

static uint64_t state(const uint64_t *n) {
    (void)n;
    return (uint64_t)(!!line.seen_until | !!line.flooded << 1 | !!line.joined << 2 | !!line.opened << 3 |
                      !!line.vanished << 4 | !!line.reads_input << 5);
}

static uint64_t flush(const uint64_t *n) {
    (void)n;
    line_flush(&line);
    return line.output_end;
}

static uint64_t end(const uint64_t *n) {
    exit((int)n[0]);
}

static uint64_t clock_is(const uint64_t *n) {
    now_us = (int64_t)n[0];
    return 0;
}

static uint64_t disturb(const uint64_t *n) {
    interrupted = (int)n[0];
    shortened = (int)n[1];
    return 0;
}

static uint64_t pace_from(const uint64_t *n) {
    pace_start(&pace, n[0], n[1]);
    return 0;
}

static uint64_t pace_to(const uint64_t *n) {
    slept_us = 0;
    pace_wait(&pace, n[0]);
    return (uint64_t)slept_us;
}

int main(int argc, char **argv) {
    static const struct operation operations[] = {
        {"open_none", open_none}, {"open_port", open_port}, {"open_pty", open_pty}, {"set", set},
        {"send", send_byte},      {"send_many", send_many}, {"look", look},         {"take", take},
        {"state", state},         {"flush", flush},         {"end", end},           {"clock_is", clock_is},
        {"pace_from", pace_from}, {"pace_to", pace_to},     {"disturb", disturb},
    };
    FILE *in, *out;
    if (argc < 6) {
        return 9;
    }
    in = fdopen(atoi(argv[1]), "r");
    out = fdopen(atoi(argv[2]), "w");
    setvbuf(out, NULL, _IOLBF, 0);
    return SERVE_FROM(operations, argv, in, out);
}
