/* SPDX-License-Identifier: MIT
 * stack_told.h: the deepest stack of a free run, in its last event. With several stacks, as of tasks, the difference of two
 * stack pointers is not a depth: then it has the reason in place of a figure.
 */
#ifndef MOTECRYPT_STACK_TOLD_H
#define MOTECRYPT_STACK_TOLD_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

static inline void print_stack(FILE *events, bool has_several, uint32_t bytes) {
    if (has_several) {
        fputs("\"stack\":null,\"stack_reason\":\"several stacks\",", events);
    } else {
        fprintf(events, "\"stack\":%" PRIu32 ",", bytes);
    }
}

#endif
