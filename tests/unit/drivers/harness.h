/* harness.h: a program that a test controls: each line of its input is an operation and its numbers, each
 * line of its output the returned value. The harness that includes it has the list. */
#ifndef HARNESS_H
#define HARNESS_H

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct operation {
    const char *name;
    uint64_t (*run)(const uint64_t *numbers);
};

static char **arguments; /* from argv[1] on */

static int serve(const struct operation *operations, size_t count, char **argv, FILE *in, FILE *out) {
    static char line[1 << 16];
    arguments = argv + 1;
    while (fgets(line, sizeof line, in) != NULL) {
        uint64_t numbers[16] = {0};
        const char *name = strtok(line, " \n");
        size_t i = 0, used = 0;
        for (char *word; used < 16 && (word = strtok(NULL, " \n")) != NULL; used++) {
            numbers[used] = strtoull(word, NULL, 0);
        }
        while (i < count && strcmp(operations[i].name, name) != 0) {
            i++;
        }
        if (i == count) {
            fprintf(stderr, "no operation %s\n", name);
            return 9;
        }
        fprintf(out, "%" PRIu64 "\n", operations[i].run(numbers));
    }
    return 0;
}

#define SERVE_FROM(operations, argv, in, out)                                                                \
    serve(operations, sizeof(operations) / sizeof *(operations), argv, in, out)
#define SERVE(operations, argv) SERVE_FROM(operations, argv, stdin, stdout)

#endif
