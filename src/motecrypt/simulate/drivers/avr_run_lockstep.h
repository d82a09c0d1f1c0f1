/* SPDX-License-Identifier: GPL-3.0-or-later -- part of avr_run.c, which links libsimavr.
 * avr_run_lockstep.h: simulated time that another program grants, piece by piece (--lockstep).
 *
 * At the end of each piece the events descriptor gets {"event":"reached","cycle":N,"output":"HEX"}, with the bytes that
 * the firmware has sent meanwhile. The next piece comes from standard input: the cycle that it ends at (8 bytes) and
 * how many bytes the UART receives now (2), both little-endian, and these bytes. A piece ends early when the firmware
 * sends.
 */
#ifndef MOTECRYPT_AVR_RUN_LOCKSTEP_H
#define MOTECRYPT_AVR_RUN_LOCKSTEP_H

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "line.h"

enum { GRANT_BYTES = 10 };

static bool lockstep_read(uint8_t *to, size_t count) {
    while (count > 0) {
        ssize_t n = read(STDIN_FILENO, to, count);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return false;
        }
        to += n;
        count -= (size_t)n;
    }
    return true;
}

/* Report the time and what was sent, and wait for more time; false when none will come. */
static bool lockstep_wait(struct line *line, FILE *events, uint64_t cycle, uint64_t *granted) {
    uint8_t head[GRANT_BYTES];
    size_t count, rest;
    fprintf(events, "{\"event\":\"reached\",\"cycle\":%" PRIu64 ",\"output\":\"", cycle);
    for (size_t i = 0; i < line->output_end; i++) {
        fprintf(events, "%02x", line->output[i]);
    }
    fprintf(events, "\"}\n");
    line->output_end = 0;
    if (!lockstep_read(head, sizeof head)) {
        return false;
    }
    *granted = 0;
    for (int i = 7; i >= 0; i--) {
        *granted = *granted << 8 | head[i];
    }
    count = (size_t)head[8] | (size_t)head[9] << 8;
    rest = line->input_end - line->input_at; /* bytes that are still on their way */
    memmove(line->input, line->input + line->input_at, rest);
    line->input_at = 0;
    line->input_end = rest;
    if (count > sizeof line->input - rest || !lockstep_read(line->input + rest, count)) {
        return false;
    }
    line->input_end += count;
    return true;
}

#endif
