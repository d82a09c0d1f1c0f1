/* SPDX-License-Identifier: MIT
 * overflow.h: how far a stack left its memory, as part of a driver's last event. It depends on no core.
 */
#ifndef MOTECRYPT_OVERFLOW_H
#define MOTECRYPT_OVERFLOW_H

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* `kind`: of the fault, or NULL. Prints nothing where it is another fault, or where how far is not known. */
static inline void print_overflow(FILE *events, const char *kind, uint32_t stack_pointer, uint32_t limit) {
    if (kind != NULL && strcmp(kind, "stack") == 0 && stack_pointer < limit) {
        fprintf(events, "\"stack_pointer\":%" PRIu32 ",\"stack_limit\":%" PRIu32 ",", stack_pointer, limit);
    }
}

#endif
