/* host.c: run the benchmark firmware as a native library and count what its operations cost.
 *
 *   host --describe
 *   host [--events DESCRIPTOR] [--trace] LIBRARY
 *   host --compare OPERATION KEY NONCE BYTES ROUNDS LIBRARY...
 *
 * With a library alone, standard input and output are the firmware's UART and the events descriptor gets one
 * JSON object a line, as from the simulators' drivers. A host's cycles vary. An operation is
 * repeated on the same inputs, first to warm up. It ends when the 95 % confidence interval of its median is
 * within 1 % of it (or a limit is reached, which the figures then show). --trace counts nothing and measures
 * the stack instead, on a stack of its own that has been painted.
 *
 * --compare times an operation of several libraries in turns, ROUNDS times each, so that other load on the
 * machine affects all of them equally. It prints one line a library. KEY and NONCE are hexadecimal, NONCE "-"
 * if there is none. A LIBRARY is one of ours, or an adapter to another project's with a cipher's name:
 * PATH=CIPHER[:ROUNDS]. Decryption starts from what the first library encrypted.
 *
 * It uses libraries through firmware/devices/host/hal.c, cipher.h and adapter.h and nothing else.
 */
#define _GNU_SOURCE
#include "host_counter.h"
#include "../../firmware/include/cipher.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <ucontext.h>

enum {
    LEAST_SAMPLES = 15,
    MOST_SAMPLES = 400,
    MOST_ROUNDS = 4096, /* of --compare, at least MOST_SAMPLES */
    WARM_UP_NS = 300000,
    WARM_UP_MOST = 50,
    REGION_NS = 20000000,
    EMPTY_SAMPLES = 101, /* of counting nothing, and of the spinning below */
    BUSY_SAMPLES = 7,
    STACK_BYTES = 1 << 20,
    PAINT = 0xa5
};

static const double WANTED_HALF_WIDTH = 0.01; /* of the median */

static struct {
    FILE *events;
    int trace;
    char *stack;
    long stack_overhead;
    double cycles_overhead, ns_overhead; /* of counting nothing */
    double ticks_per_ns;                 /* the counter's rate while computing */
} host;

/* --- statistics ------------------------------------------------------------------------------------ */

struct sample {
    double cycles, ns;
};

struct summary {
    double median, low, high, least, ns;
    int samples, outliers;
};

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_of(const double *sorted, int count) {
    return count % 2 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
}

/* Median with its 95 % interval by order statistics (binomial, normal approximation: no assumption about how
 * the samples are distributed), and how many samples are 5 median deviations above it. */
static struct summary summarise(const struct sample *samples, int count) {
    static double sorted[MOST_ROUNDS], deviation[MOST_ROUNDS];
    struct summary s = {0};
    s.samples = count;
    for (int i = 0; i < count; i++) {
        sorted[i] = samples[i].ns;
    }
    qsort(sorted, (size_t)count, sizeof *sorted, by_size);
    s.ns = median_of(sorted, count);
    for (int i = 0; i < count; i++) {
        sorted[i] = samples[i].cycles;
    }
    qsort(sorted, (size_t)count, sizeof *sorted, by_size);
    s.median = median_of(sorted, count);
    s.least = sorted[0];
    double reach = 1.96 * sqrt(count) / 2;
    int low = (int)floor(count / 2.0 - reach) - 1, high = (int)ceil(count / 2.0 + reach);
    s.low = sorted[low < 0 ? 0 : low];
    s.high = sorted[high >= count ? count - 1 : high];
    for (int i = 0; i < count; i++) {
        deviation[i] = fabs(sorted[i] - s.median);
    }
    qsort(deviation, (size_t)count, sizeof *deviation, by_size);
    double limit = s.median + 5 * fmax(median_of(deviation, count), s.median * 0.001);
    for (int i = 0; i < count; i++) {
        s.outliers += sorted[i] > limit;
    }
    return s;
}

static bool is_known(const struct summary *s) {
    return s->median > 0 && (s->high - s->low) / 2 <= WANTED_HALF_WIDTH * s->median;
}

/* --- the stack ------------------------------------------------------------------------------------- */

static ucontext_t driver_context, operation_context;
static uint8_t (*on_stack)(void);
static volatile uint8_t on_stack_status;

static void run_on_stack(void) {
    on_stack_status = on_stack();
}

static uint8_t nothing(void) {
    return 0;
}

/* Bytes of stack that `operation` uses, its caller's own included. */
static long stack_of(uint8_t (*operation)(void), uint8_t *status) {
    memset(host.stack, PAINT, STACK_BYTES);
    getcontext(&operation_context);
    operation_context.uc_stack.ss_sp = host.stack;
    operation_context.uc_stack.ss_size = STACK_BYTES;
    operation_context.uc_link = &driver_context;
    on_stack = operation;
    makecontext(&operation_context, run_on_stack, 0);
    swapcontext(&driver_context, &operation_context);
    *status = on_stack_status;
    long untouched = 0;
    while (untouched < STACK_BYTES && (uint8_t)host.stack[untouched] == PAINT) {
        untouched++;
    }
    return STACK_BYTES - untouched;
}

/* --- what counting costs, and how fast the counter runs --------------------------------------------- */

static struct sample sample_of(uint8_t (*operation)(void), uint8_t *status) {
    uint64_t ns = nanoseconds(CLOCK_MONOTONIC);
    uint64_t cycles = counter_now();
    *status = operation();
    cycles = counter_since(cycles);
    ns = nanoseconds(CLOCK_MONOTONIC) - ns;
    return (struct sample){(double)cycles - host.cycles_overhead, (double)ns - host.ns_overhead};
}

/* About 1 ms of plain computing at the processor's present frequency. */
static uint8_t spin(void) {
    uint64_t x = 1;
    for (int i = 0; i < 1000000; i++) {
        x = x * 6364136223846793005u + 1;
        __asm__ volatile("" : "+r"(x));
    }
    return (uint8_t)x;
}

static void calibrate(void) {
    static struct sample samples[EMPTY_SAMPLES];
    uint8_t status;
    for (int i = 0; i < EMPTY_SAMPLES; i++) {
        samples[i] = sample_of(nothing, &status);
    }
    struct summary empty = summarise(samples, EMPTY_SAMPLES);
    host.cycles_overhead = empty.median;
    host.ns_overhead = empty.ns;
    for (int i = 0; i < BUSY_SAMPLES; i++) {
        samples[i] = sample_of(spin, &status);
    }
    struct summary busy = summarise(samples, BUSY_SAMPLES);
    host.ticks_per_ns = busy.ns > 0 ? busy.median / busy.ns : 1;
}

/* --- serving one firmware -------------------------------------------------------------------------- */

static uint8_t count_operation(uint8_t (*operation)(void), void (*restore)(void)) {
    static struct sample samples[MOST_SAMPLES];
    uint64_t begun = nanoseconds(CLOCK_MONOTONIC);
    uint8_t status = operation();
    for (int i = 1; i < WARM_UP_MOST && nanoseconds(CLOCK_MONOTONIC) - begun < WARM_UP_NS; i++) {
        restore();
        status = operation();
    }
    struct summary summary = {0};
    uint64_t wall = nanoseconds(CLOCK_MONOTONIC), processor = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
    begun = wall;
    for (int count = 0; count < MOST_SAMPLES;) {
        restore();
        samples[count++] = sample_of(operation, &status);
        if (count >= LEAST_SAMPLES && count % 5 == 0) {
            summary = summarise(samples, count);
            if (is_known(&summary) || nanoseconds(CLOCK_MONOTONIC) - begun > REGION_NS) {
                break;
            }
        }
    }
    wall = nanoseconds(CLOCK_MONOTONIC) - wall;
    processor = nanoseconds(CLOCK_THREAD_CPUTIME_ID) - processor;
    fprintf(host.events,
            "{\"event\":\"region\",\"cycles\":%.0f,\"stack\":null,\"trace\":null,\"wall_ns\":%.0f,"
            "\"cycles_low\":%.0f,\"cycles_high\":%.0f,\"samples\":%d,\"outliers\":%d,\"cpu_load\":%.3f,"
            "\"ticks_per_ns\":%.4f}\n",
            fmax(0, summary.median), fmax(0, summary.ns), summary.low, summary.high, summary.samples,
            summary.outliers, (double)processor / (double)wall, host.ticks_per_ns);
    return status;
}

static uint8_t run(uint8_t (*operation)(void), void (*restore)(void)) {
    if (!host.trace) {
        return count_operation(operation, restore);
    }
    uint8_t status;
    long bytes = stack_of(operation, &status) - host.stack_overhead;
    fprintf(host.events, "{\"event\":\"region\",\"cycles\":0,\"stack\":%ld,\"trace\":null}\n",
            bytes > 0 ? bytes : 0);
    return status;
}

static void *load(const char *path) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        exit(2);
    }
    return library;
}

static void *symbol(void *library, const char *path, const char *name) {
    void *found = dlsym(library, name);
    if (!found) {
        fprintf(stderr, "%s: has no %s\n", path, name);
        exit(2);
    }
    return found;
}

static int serve(const char *path) {
    void *library = load(path);
    int (*main_of_firmware)(void);
    *(void **)&main_of_firmware = symbol(library, path, "main");
    *(uint8_t(**)(uint8_t(*)(void), void (*)(void)))symbol(library, path, "hal_host_run") = run;
    if (host.trace) {
        uint8_t status;
        host.stack = mmap(0, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (host.stack == MAP_FAILED) {
            fprintf(stderr, "no memory for a stack\n");
            return 2;
        }
        host.stack_overhead = stack_of(nothing, &status);
    }
    return main_of_firmware();
}

/* --- comparing libraries --------------------------------------------------------------------------- */

struct library {
    const char *path;
    void *handle;
    uint8_t (*operation)(struct cipher_context *, const struct cipher_io *);
    uint8_t (*restart)(struct cipher_context *, const uint8_t *, uint8_t);
    struct cipher_context *context;
    uint8_t *output;
    struct sample *samples;
    uint64_t processor_ns, wall_ns;
};

static size_t from_hex(const char *text, uint8_t *bytes, size_t capacity) {
    size_t count = 0;
    while (text[0] && text[1] && count < capacity) {
        unsigned value;
        if (sscanf(text, "%2x", &value) != 1) {
            break;
        }
        bytes[count++] = (uint8_t)value;
        text += 2;
    }
    return count;
}

static void refuse(const char *path, const char *what, unsigned status) {
    fprintf(stderr, "%s: %s answered %u\n", path, what, status);
    exit(2);
}

/* Zeros at the beginning of a cache line. */
static void *aligned(size_t bytes) {
    void *room;
    if (posix_memalign(&room, 64, bytes) != 0) {
        fprintf(stderr, "--compare: no memory\n");
        exit(2);
    }
    return memset(room, 0, bytes);
}

static void open_library(struct library *l, const char *path, const char *operation, const uint8_t *key,
                         size_t key_bytes, size_t bytes, int rounds) {
    char *file = strdup(path);
    char *cipher = strrchr(file, '=');
    if (cipher) {
        *cipher++ = 0;
    }
    void *handle = load(file);
    if (cipher) {
        char *colon = strchr(cipher, ':');
        int (*choose)(const char *, int);
        *(void **)&choose = symbol(handle, path, "adapter_select");
        if (colon) {
            *colon = 0;
        }
        if (!choose(cipher, colon ? atoi(colon + 1) : 0)) {
            refuse(path, "has no such cipher: adapter_select", 0);
        }
    }
    const size_t *context_bytes = symbol(handle, path, "cipher_context_bytes");
    l->path = path;
    l->handle = handle;
    *(void **)&l->restart = symbol(handle, path, "cipher_setup");
    if (operation) { /* none: it is the set-up that is timed */
        *(void **)&l->operation = symbol(handle, path, operation);
    }
    l->context = aligned(*context_bytes); /* an adapter recognises a new context by its zeros */
    l->output = aligned(bytes);
    l->samples = aligned((size_t)rounds * sizeof *l->samples);
    uint8_t status = l->restart(l->context, key, (uint8_t)key_bytes);
    if (status) {
        refuse(path, "cipher_setup", status);
    }
}

static uint64_t digest(const uint8_t *bytes, size_t count) {
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a: only to compare outputs */
    for (size_t i = 0; i < count; i++) {
        hash = (hash ^ bytes[i]) * 0x100000001b3u;
    }
    return hash;
}

static struct {
    struct library *library;
    const struct cipher_io *io;
    const uint8_t *key;
    size_t key_bytes;
} compared;

static uint8_t run_compared(void) {
    const struct library *l = compared.library;
    return l->operation ? l->operation(l->context, compared.io)
                        : l->restart(l->context, compared.key, (uint8_t)compared.key_bytes);
}

static int compare(char **arguments, int count) {
    const char *name = strcmp(arguments[0], "setup") == 0     ? 0
                       : strcmp(arguments[0], "decrypt") == 0 ? "cipher_decrypt"
                                                              : "cipher_encrypt";
    uint8_t key[256], nonce[64], tag[16] = {0};
    size_t key_bytes = from_hex(arguments[1], key, sizeof key - 1);
    size_t nonce_bytes = arguments[2][0] == '-' ? 0 : from_hex(arguments[2], nonce, sizeof nonce);
    size_t bytes = strtoul(arguments[3], 0, 10);
    int rounds = atoi(arguments[4]);
    int libraries = count - 5;
    compared.key = key;
    compared.key_bytes = key_bytes;
    if (rounds < 1 || rounds > MOST_ROUNDS || libraries < 1 || bytes == 0) {
        fprintf(stderr, "--compare: 1 to 4096 rounds, at least one byte and one library\n");
        return 2;
    }
    struct library *all = aligned((size_t)libraries * sizeof *all);
    uint8_t *input = aligned(bytes);
    for (size_t i = 0; i < bytes; i++) {
        input[i] = (uint8_t)(i * 167 + (i >> 8) * 13); /* any bytes: a cipher's time does not ask which */
    }
    for (int i = 0; i < libraries; i++) {
        open_library(&all[i], arguments[5 + i], name, key, key_bytes, bytes, rounds);
    }
    if (strcmp(arguments[0], "decrypt") == 0) {
        struct library *l = &all[0];
        uint8_t (*encrypt)(struct cipher_context *, const struct cipher_io *);
        *(void **)&encrypt = symbol(l->handle, l->path, "cipher_encrypt");
        struct cipher_io io = {nonce, 0, input, l->output, tag, bytes, 0, (uint8_t)nonce_bytes};
        uint8_t status = encrypt(l->context, &io);
        if (status) {
            refuse(l->path, "cipher_encrypt", status);
        }
        memcpy(input, l->output, bytes);
    }
    for (int round = -2; round < rounds; round++) { /* two rounds to warm up */
        for (int i = 0; i < libraries; i++) {
            struct library *l = &all[i];
            struct cipher_io io = {nonce, 0, input, l->output, tag, bytes, 0, (uint8_t)nonce_bytes};
            uint64_t processor = nanoseconds(CLOCK_THREAD_CPUTIME_ID), wall = nanoseconds(CLOCK_MONOTONIC);
            compared.library = l;
            compared.io = &io;
            uint8_t status;
            struct sample sample = sample_of(run_compared, &status);
            if (status) {
                refuse(l->path, arguments[0], status);
            }
            if (round >= 0) {
                l->samples[round] = sample;
                l->processor_ns += nanoseconds(CLOCK_THREAD_CPUTIME_ID) - processor;
                l->wall_ns += nanoseconds(CLOCK_MONOTONIC) - wall;
            }
        }
    }
    for (int i = 0; i < libraries; i++) {
        struct library *l = &all[i];
        struct summary s = summarise(l->samples, rounds);
        fprintf(host.events,
                "{\"event\":\"compared\",\"library\":%d,\"cycles\":%.0f,\"cycles_low\":%.0f,\"cycles_high\":%.0f,"
                "\"cycles_least\":%.0f,\"wall_ns\":%.0f,\"processor_ns\":%.0f,\"samples\":%d,\"outliers\":%d,"
                "\"cpu_load\":%.3f,\"output\":\"%016" PRIx64 "\"}\n",
                i, s.median, s.low, s.high, s.least, s.ns,
                (double)l->processor_ns / rounds, s.samples, s.outliers,
                l->wall_ns ? (double)l->processor_ns / (double)l->wall_ns : 1.0, digest(l->output, bytes));
    }
    return 0;
}

/* --- what this computer is ------------------------------------------------------------------------- */

static int describe(void) {
    printf("{\"counter\":\"%s\",\"core_cycles\":%s,\"aes_instructions\":%d,\"ticks_per_ns\":%.4f,"
           "\"cycles_overhead\":%.0f,\"ns_overhead\":%.0f}\n",
           counter_name(), counter.kind <= CORE_CYCLES_READ ? "true" : "false", aes_instructions(),
           host.ticks_per_ns, host.cycles_overhead, host.ns_overhead);
    return 0;
}

int main(int argc, char **argv) {
    counter_open();
    calibrate();
    host.events = stdout;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--describe") == 0) {
            return describe();
        }
        if (strcmp(argv[i], "--trace") == 0) {
            host.trace = true;
        } else if (strcmp(argv[i], "--events") == 0 && i + 1 < argc) {
            host.events = fdopen(atoi(argv[++i]), "w");
            if (!host.events) {
                perror("--events");
                return 2;
            }
            setlinebuf(host.events);
        } else if (strcmp(argv[i], "--compare") == 0 && argc - i > 6) {
            return compare(argv + i + 1, argc - i - 1);
        } else if (argv[i][0] != '-') {
            return serve(argv[i]);
        }
    }
    fprintf(stderr, "usage: host --describe | [--events DESCRIPTOR] [--trace] LIBRARY | --compare ...\n");
    return 2;
}
