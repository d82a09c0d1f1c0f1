/* littlefs_aes.c: a file written to the Pico's own flash, encrypted into another and decrypted into a third,
 * with the progress on the terminal, as the demo littleFsAes of "String and File Encryption with AES" does:
 * our program, over littlefs and Mbed TLS, in the format of crypt_and_hash. The key is for this demo only.
 */
#include <stddef.h>
#include <string.h>

#include "../demos/terminal.h"
#include "job.h"
#include "store.h"

enum { LINES = 10, ROUNDS = 8192, KEY_BYTES = 32, PIECE = 64 };

static const char LINE[] = "A line of text that the demo writes to a file again and again\r\n";
static struct store_file file;
static uint8_t key[KEY_BYTES], read_back[PIECE];

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

static int make_input(void) {
    int error = store_open(&file, "input.txt", 1);
    for (int i = 0; i < LINES && error == 0; i++) {
        error = store_write(&file, (const uint8_t *)LINE, sizeof LINE - 1u);
    }
    return error != 0 ? error : store_close(&file);
}

static int make_empty(const char *name) {
    int error = store_open(&file, name, 1);
    return error != 0 ? error : store_close(&file);
}

/* Milliseconds that a job took, or its error. */
static int32_t run(int decrypts, const char *source, const char *target) {
    struct job job = {.format = JOB_PUBLISHED, .cipher = KEY_BYTES, .rounds = ROUNDS, .key_bytes = KEY_BYTES};
    uint32_t start = now_us();
    int error;
    job.decrypts = (uint8_t)decrypts;
    job.key = key;
    job.source = source;
    job.target = target;
    error = job_published(&job);
    return error != 0 ? error : (int32_t)((now_us() - start) / 1000u);
}

/* Whether output.txt holds the lines that input.txt got. */
static int is_right(void) {
    int error = store_open(&file, "output.txt", 0);
    int right = error == 0 && store_size(&file) == (int32_t)(LINES * (sizeof LINE - 1u));
    for (int i = 0; i < LINES && right; i++) {
        right = store_read(&file, read_back, sizeof LINE - 1u) == (int32_t)sizeof LINE - 1 &&
                memcmp(read_back, LINE, sizeof LINE - 1u) == 0;
    }
    if (error == 0) {
        store_close(&file);
    }
    return right;
}

static int put_done(const char *what, int32_t ms) {
    put_text(what);
    if (ms < 0) {
        put_line(" failed");
        return 0;
    }
    put_text(" Done, Time taken: ");
    put_number((uint32_t)ms);
    put_line(" ms");
    return 1;
}

static const char *demo(void) {
    for (uint32_t i = 0; i < sizeof key; i++) {
        key[i] = (uint8_t)(i * 7u + 1u);
    }
    put_line("AES File Encryption (Mbed TLS, littlefs) on a Raspberry Pi Pico");
    if (store_mount(&storage_nor, 1) != 0) {
        return "The file system cannot be made!";
    }
    put_line("FileSystem mounted!");
    if (make_input() != 0 || make_empty("cipherFile.aes") != 0 || make_empty("output.txt") != 0) {
        return "The files cannot be written!";
    }
    put_text("File Size (W): ");
    put_number(LINES * (sizeof LINE - 1u));
    put_line("");
    if (!put_done("Encryption", run(0, "input.txt", "cipherFile.aes")) ||
        !put_done("Decryption", run(1, "cipherFile.aes", "output.txt"))) {
        return "Example failed!";
    }
    return is_right() ? "Example Done!" : "The output is not the input!";
}

int main(void) {
    hal_init();
    put_line(demo());
    end_of_demo();
    return 0;
}
