/* second_core.c: strings and a file encrypted while the board samples its pins 1,000 times a second: on the second core,
 * between the samples of one core, and interrupted by them. It receives "STRINGS ROUNDS LINES\n", and sends a line of
 * numbers for each way: enum way, what was encrypted, microseconds, a hash of the ciphertext, samples, ticks without
 * one, and by how many cycles the samples were late: least, most, sum. The key is for this experiment only.
 * Section numbers: RP2040 datasheet.
 */
#include <stddef.h>
#include <string.h>

#include "../demos/terminal.h"
#include "job.h"
#include "mbedtls/aes.h"
#include "store.h"

#define AT(address) (*(volatile uint32_t *)(address))
#define RAMCODE __attribute__((section(".ramcode"), noinline, long_call))
#define SIO 0xD0000000u /* 2.3.1.7 */
#define SIO_PINS AT(SIO + 0x04u)
#define FIFO_STATUS AT(SIO + 0x50u)
#define FIFO_WRITE AT(SIO + 0x54u)
#define FIFO_READ AT(SIO + 0x58u)
#define TIMER_RAW_LOW AT(0x40054028u)
#define SYSTICK_CONTROL AT(0xE000E010u)
#define SYSTICK_RELOAD AT(0xE000E014u)
#define SYSTICK_VALUE AT(0xE000E018u)
#define VECTORS_AT AT(0xE000ED08u)

enum {
    KEY_BYTES = 32,
    IV_BYTES = 16,
    STRING_BYTES = 48,
    TICK_US = 1000,
    STACK_WORDS = 1024,
    SYSTICK = 15,
    VECTORS = 48
};

/* How the work and the samples share the chip. */
enum way {
    ALONE,     /* no samples */
    CORE_1,    /* the work on core 1; core 0 samples from RAM */
    LOCKED,    /* the same, but core 0 waits while the flash is written, as code in the flash must */
    BETWEEN,   /* one core, samples between two strings, or after the file */
    INTERRUPT, /* one core, samples in an interrupt from RAM */
    MASKED     /* the same, but interrupts wait while the flash is written, as for code in the flash */
};
enum work { STRINGS = 's', FILES = 'f' };

struct samples {
    uint32_t count, missed, least, most, sum;
    uint32_t tick_us; /* the timer at the tick whose sample was taken last */
};

static volatile struct samples samples;
static volatile uint32_t pins, is_sampling, locked, is_locked;
static uint32_t strings, rounds, lines, ticks_a_us;
static enum way way;
static enum work work;
static volatile int32_t outcome;
static volatile uint32_t work_done;

static const char LINE[] = "A fixed string that is written again and again, as in a log. \r\n";
static struct store_file file;
static uint8_t key[KEY_BYTES], text[STRING_BYTES] = "AES_Test_3 - Hello! Testing AES Encryption here";
static uint32_t stack1[STACK_WORDS], vectors_in_ram[VECTORS] __attribute__((aligned(256)));

extern const uint32_t vectors[];
extern uint8_t __heap_start[], __heap_end[];
static uint8_t *heap_top = __heap_start;

/* newlib's malloc asks here; Mbed TLS's cipher and md layers allocate their contexts. */
void *_sbrk(ptrdiff_t more);
void *_sbrk(ptrdiff_t more) {
    uint8_t *before = heap_top;
    if (more > __heap_end - heap_top) {
        return (void *)-1;
    }
    heap_top += more;
    return before;
}

/* ---- samples ---- */

/* SysTick counts down a tick of TICK_US in cycles and begins again: how far it has come is how late a sample is. The
 * timer counts whole ticks. Both begin together, so near a tick's end the timer may be a microsecond behind or ahead. */
static RAMCODE void sample(void) {
    uint32_t period = TICK_US * ticks_a_us;
    uint32_t phase = period - 1u - SYSTICK_VALUE;
    uint32_t us = TIMER_RAW_LOW - samples.tick_us, ticks = 0, late;
    us = phase < period / 2u ? us + TICK_US / 4u : us - TICK_US / 4u;
    while (us >= TICK_US && us < UINT32_MAX / 2u) { /* no division: the library's is in the flash */
        us -= TICK_US;
        ticks++;
    }
    if (ticks == 0) {
        return;
    }
    pins = SIO_PINS;
    late = (ticks - 1u) * period + phase; /* after the first tick that waits for a sample */
    samples.tick_us += ticks * TICK_US;
    samples.missed += ticks - 1u;
    samples.count++;
    samples.sum += late;
    samples.least = late < samples.least ? late : samples.least;
    samples.most = late > samples.most ? late : samples.most;
}

static RAMCODE void on_systick(void) {
    sample();
}

/* Core 0 of two: samples until the work is done. */
static RAMCODE void sample_until_done(void) {
    while (!work_done) {
        if (locked) {
            is_locked = 1;
            while (locked) {
            }
            is_locked = 0;
        }
        sample();
    }
    is_sampling = 0;
}

static void start_samples(void) {
    samples = (struct samples){.least = UINT32_MAX};
    SYSTICK_CONTROL = 0;
    SYSTICK_RELOAD = TICK_US * ticks_a_us - 1u;
    SYSTICK_VALUE = 0;
    samples.tick_us = TIMER_RAW_LOW;
    SYSTICK_CONTROL = way == INTERRUPT || way == MASKED ? 7u : 5u;
}

/* ---- the flash, with the other core or the interrupts out of the way ---- */

static void before_command(void) {
    if (way == MASKED) {
        __asm__ volatile("cpsid i" ::: "memory");
    } else if (way == LOCKED && is_sampling) {
        locked = 1;
        while (!is_locked) {
        }
    }
}

static void after_command(void) {
    if (way == MASKED) {
        __asm__ volatile("cpsie i" ::: "memory");
    } else if (way == LOCKED && is_sampling) {
        locked = 0;
        while (is_locked) {
        }
    }
}

static int start_flash(void) {
    return storage_nor.start();
}

static int read_flash(uint32_t at, uint8_t *data, uint32_t count) {
    return storage_nor.read(at, data, count);
}

static int program_flash(uint32_t at, const uint8_t *data, uint32_t count) {
    int error = 0;
    for (uint32_t done = 0; done < count && error == 0; done += storage_nor.program_bytes) {
        before_command();
        error = storage_nor.program(at + done, data + done, storage_nor.program_bytes);
        after_command();
    }
    return error;
}

static int erase_flash(uint32_t at) {
    int error;
    before_command();
    error = storage_nor.erase(at);
    after_command();
    return error;
}

/* ---- the work ---- */

static uint32_t hashed(uint32_t hash, const uint8_t *bytes, uint32_t count) { /* FNV-1a */
    for (uint32_t i = 0; i < count; i++) {
        hash = (hash ^ bytes[i]) * 16777619u;
    }
    return hash;
}

/* Each string is encrypted with a key schedule of its own, as the source's test does. Returns a hash of all. */
static uint32_t encrypt_strings(void) {
    static mbedtls_aes_context aes;
    static uint8_t sealed[STRING_BYTES];
    uint32_t hash = 2166136261u;
    for (uint32_t i = 0; i < strings; i++) {
        uint8_t iv[IV_BYTES] = {(uint8_t)i, (uint8_t)(i >> 8)};
        mbedtls_aes_init(&aes);
        outcome |= mbedtls_aes_setkey_enc(&aes, key, 128);
        outcome |= mbedtls_aes_crypt_cbc(&aes, MBEDTLS_AES_ENCRYPT, sizeof text, iv, text, sealed);
        hash = hashed(hash, sealed, sizeof sealed);
        if (way == BETWEEN) {
            sample();
        }
    }
    return hash;
}

static void encrypt_file(void) {
    struct job job = {.format = JOB_PUBLISHED, .cipher = KEY_BYTES, .key_bytes = KEY_BYTES};
    job.rounds = (uint16_t)rounds;
    job.key = key;
    job.source = "input.txt";
    job.target = "cipherFile.aes";
    outcome = job_published(&job);
    if (way == BETWEEN) {
        sample();
    }
}

static volatile uint32_t strings_hash;

static void run_work(void) {
    outcome = 0;
    if (work == STRINGS) {
        strings_hash = encrypt_strings();
    } else {
        encrypt_file();
    }
}

static uint32_t file_hash(void) {
    uint8_t piece[64];
    uint32_t hash = 2166136261u;
    int32_t got = store_open(&file, "cipherFile.aes", 0);
    while (got == 0 && (got = store_read(&file, piece, sizeof piece)) > 0) {
        hash = hashed(hash, piece, (uint32_t)got);
        got = 0;
    }
    store_close(&file);
    return hash;
}

/* ---- core 1 ---- */

static void fifo_send(uint32_t word) {
    while (!(FIFO_STATUS & 2u)) {
    }
    FIFO_WRITE = word;
    __asm__ volatile("sev" ::: "memory");
}

static uint32_t fifo_receive(void) {
    while (!(FIFO_STATUS & 1u)) {
        __asm__ volatile("wfe" ::: "memory");
    }
    return FIFO_READ;
}

static void core1(void) {
    for (;;) {
        (void)fifo_receive();
        run_work();
        work_done = 1;
    }
}

/* 2.8.2: the boot ROM's core 1 sends each word back. */
static void start_core1(void) {
    const uint32_t words[] = {0, 0, 1, (uint32_t)vectors, (uint32_t)&stack1[STACK_WORDS], (uint32_t)core1};
    for (unsigned i = 0; i < sizeof words / sizeof *words;) {
        if (words[i] == 0) {
            while (FIFO_STATUS & 1u) {
                (void)FIFO_READ;
            }
            __asm__ volatile("sev" ::: "memory");
        }
        fifo_send(words[i]);
        i = fifo_receive() == words[i] ? i + 1 : 0;
    }
}

/* ---- all ways ---- */

static void put_numbers(const uint32_t *numbers, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        put_text(i == 0 ? "" : " ");
        put_number(numbers[i]);
    }
    put_line("");
}

static void run_way(void) {
    uint32_t start, took, hash;
    work_done = 0;
    start_samples();
    start = TIMER_RAW_LOW;
    if (way == CORE_1 || way == LOCKED) {
        is_sampling = 1;
        fifo_send(1);
        sample_until_done();
    } else {
        run_work();
    }
    took = TIMER_RAW_LOW - start;
    SYSTICK_CONTROL = 0;
    hash = work == STRINGS ? strings_hash : file_hash();
    if (outcome != 0) {
        put_line("failed");
    } else {
        const uint32_t numbers[] = {way,           (uint32_t)work, took,
                                    hash,          samples.count,  samples.missed,
                                    samples.least, samples.most,   samples.sum};
        put_numbers(numbers, sizeof numbers / sizeof *numbers);
    }
}

static uint32_t receive_number(void) {
    uint32_t number = 0;
    uint8_t digit;
    while ((digit = hal_read()) >= '0' && digit <= '9') {
        number = number * 10u + digit - '0';
    }
    return number;
}

static int make_files(const struct storage *storage) {
    int error = store_mount(storage, 1);
    if (error == 0) {
        error = store_open(&file, "input.txt", 1);
    }
    for (uint32_t i = 0; i < lines && error == 0; i++) {
        error = store_write(&file, (const uint8_t *)LINE, sizeof LINE - 1u);
    }
    return error != 0 ? error : store_close(&file);
}

int main(void) {
    static struct storage flash;
    hal_init();
    flash = storage_nor;
    flash.start = start_flash;
    flash.read = read_flash;
    flash.program = program_flash;
    flash.erase = erase_flash;
    ticks_a_us = hal_clock_hz() / 1000000u;
    strings = receive_number();
    rounds = receive_number();
    lines = receive_number();
    for (uint32_t i = 0; i < sizeof key; i++) {
        key[i] = (uint8_t)(i + 1u);
    }
    memcpy(vectors_in_ram, vectors, sizeof vectors_in_ram);
    vectors_in_ram[SYSTICK] = (uint32_t)on_systick;
    VECTORS_AT = (uint32_t)vectors_in_ram;
    start_core1();
    for (work = STRINGS;; work = FILES) {
        for (way = ALONE; way <= MASKED; way++) {
            if (work == FILES && make_files(&flash) != 0) {
                put_line("failed");
            } else if (work == FILES || (way != LOCKED && way != MASKED)) {
                /* strings do not write the flash */
                run_way();
            }
        }
        if (work == FILES) {
            break;
        }
    }
    put_line("end");
    end_of_demo();
    return 0;
}
