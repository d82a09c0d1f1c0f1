/* shadow_harness.c: shadow.h with calls and returns given by a test. */
#include <stddef.h>
#include <stdlib.h>

static int no_memory;

static void *test_malloc(size_t bytes) {
    return no_memory ? NULL : malloc(bytes);
}

static void *test_realloc(void *old, size_t bytes) {
    return no_memory ? NULL : realloc(old, bytes);
}

#define malloc test_malloc
#define realloc test_realloc
#include "shadow.h"
#undef malloc
#undef realloc

#include "harness.h"

static struct shadow shadow;

static uint64_t open_functions(const uint64_t *n) {
    memset(&shadow, 0, sizeof shadow);
    shadow.call_bytes = (uint32_t)n[0];
    return (uint64_t)(int64_t)shadow_open(&shadow, arguments[0]);
}

static uint64_t begin(const uint64_t *n) {
    shadow_begin(&shadow, (uint32_t)n[0], (uint32_t)n[1], n[2]);
    return shadow.depth;
}

/* function, caller_sp, sp, return address, now */
static uint64_t call(const uint64_t *n) {
    shadow_call(&shadow, (uint32_t)n[0], (uint32_t)n[1], (uint32_t)n[2], (uint32_t)n[3], n[4]);
    return shadow.depth;
}

static uint64_t interrupt(const uint64_t *n) {
    shadow_interrupt(&shadow, (uint32_t)n[0], (uint32_t)n[1], (uint32_t)n[2], (uint32_t)n[3], n[4]);
    return shadow.depth;
}

static uint64_t jump(const uint64_t *n) {
    shadow_jump(&shadow, (uint32_t)n[0], (uint32_t)n[1], n[2]);
    return shadow.depth;
}

static uint64_t back(const uint64_t *n) {
    return (uint64_t)shadow_return(&shadow, (uint32_t)n[0], (uint32_t)n[1], n[2]);
}

static uint64_t land(const uint64_t *n) {
    shadow_land(&shadow, (uint32_t)n[0], (uint32_t)n[1], n[2]);
    return shadow.depth;
}

static uint64_t stack(const uint64_t *n) {
    shadow_stack(&shadow, (uint32_t)n[0]);
    return shadow.frames[shadow.depth].least_sp;
}

static uint64_t end(const uint64_t *n) {
    shadow_end(&shadow, n[0]);
    return shadow.depth;
}

static uint64_t dropped(const uint64_t *n) {
    (void)n;
    return shadow.dropped;
}

static uint64_t add(const uint64_t *n) {
    return shadow_add_function(&shadow, (uint32_t)n[0], (uint32_t)n[1]);
}

static uint64_t end_of(const uint64_t *n) {
    return shadow.functions[n[0]].end;
}

/* Calls and returns of a function, as often as given, each a cycle longer than the one before. */
static uint64_t repeat(const uint64_t *n) {
    uint64_t now = n[2];
    for (uint32_t i = 1; i <= n[1]; i++) {
        shadow_call(&shadow, (uint32_t)n[0], 100, 98, 7, now);
        now += i;
        shadow_return(&shadow, 100, 7, now);
    }
    return now;
}

/* As many calls of a function inside each other, a cycle apart; then as many returns. */
static uint64_t nest(const uint64_t *n) {
    uint64_t now = n[3];
    uint32_t sp = (uint32_t)n[2], deepest;
    for (uint32_t i = 0; i < n[1]; i++) {
        shadow_call(&shadow, (uint32_t)n[0], sp - 2 * i, sp - 2 * i - 2, 7, now++);
    }
    deepest = shadow.depth;
    for (uint32_t i = (uint32_t)n[1]; i > 0; i--) {
        shadow_return(&shadow, sp - 2 * (i - 1), 7, now++);
    }
    return deepest;
}

/* How many functions, and nodes of the tree, there is room for. */
static uint64_t room(const uint64_t *n) {
    return n[0] ? shadow.node_size : shadow.function_size;
}

static uint64_t out_of_memory(const uint64_t *n) {
    no_memory = (int)n[0];
    return 0;
}

static uint64_t put(const uint64_t *n) {
    FILE *out = fopen(arguments[1], "w");
    (void)n;
    shadow_write(&shadow, out);
    return (uint64_t)fclose(out);
}

int main(int argc, char **argv) {
    static const struct operation operations[] = {
        {"open", open_functions},
        {"begin", begin},
        {"call", call},
        {"interrupt", interrupt},
        {"jump", jump},
        {"back", back},
        {"land", land},
        {"stack", stack},
        {"end", end},
        {"add", add},
        {"dropped", dropped},
        {"repeat", repeat},
        {"nest", nest},
        {"put", put},
        {"room", room},
        {"out_of_memory", out_of_memory},
        {"end_of", end_of},
    };
    return argc < 3 ? 9 : SERVE(operations, argv);
}
