/* main.c: the file firmware: a file system and jobs over it, asked for by frames on the UART (the frames of
 * the benchmark firmware, docs/formats.md, with requests of its own, docs/files.md). Numbers are little-endian.
 */
#include <stddef.h>
#include <string.h>

#include "frame.h"
#include "hal.h"
#include "job.h"
#include "store.h"

#ifdef STORAGE_SD
#define STORAGE storage_sd
#else
#define STORAGE storage_nor
#endif

enum request {
    HELLO = 'H',
    FORMAT = 'F',
    MOUNT = 'M',
    WRITE = 'W',
    READ = 'G',
    JOB = 'J',
    DUMP = 'D',
    LOAD = 'L',
};

enum { PIECE_MAX = 4096, JOB_FIXED = 8, BAD_REQUEST = 3 };

static uint8_t request[FRAME_PAYLOAD_MAX];
static uint8_t piece[PIECE_MAX];
static struct store_file file;

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

static uint32_t number(const uint8_t *bytes, int count) {
    uint32_t value = 0;
    while (count--) {
        value = value << 8 | bytes[count];
    }
    return value;
}

static void answer_status(uint8_t sequence, int32_t status) {
    frame_start(sequence, 's');
    frame_number((uint32_t)status, 4);
    frame_end();
}

static void answer_data(uint8_t sequence, int32_t status, uint32_t count) {
    frame_start(sequence, 'd');
    frame_number((uint32_t)status, 4);
    if (status >= 0) {
        frame_bytes(piece, count);
    }
    frame_end();
}

static void hello(uint8_t sequence) {
    frame_start(sequence, 'h');
    frame_number(hal_clock_hz(), 4);
    frame_number(STORAGE.block_bytes, 4);
    frame_number(STORAGE.block_count, 4);
    frame_end();
}

/* A text at `at`: its length in a byte, then its characters; a 0 is put behind it, over the next text's
 * length, so texts are taken from the back to the front. Returns where it ends, or 0. */
static uint32_t text_end(uint32_t at, uint32_t count) {
    return at < count && request[at] != 0 && at + 1u + request[at] <= count ? at + 1u + request[at] : 0;
}

/* flags (1: start a new file), then a name, then data to append. */
static int32_t write_piece(uint32_t count) {
    static int open;
    static char name[64];
    uint32_t end = text_end(1, count);
    int status = 0;
    if (end == 0 || request[1] >= sizeof name) {
        return JOB_BAD_REQUEST;
    }
    if (request[0] & 1u) {
        if (open) {
            store_abandon(&file);
        }
        memcpy(name, request + 2, request[1]);
        name[request[1]] = 0;
        status = store_open(&file, name, 1);
        open = status == 0;
    }
    if (!open) {
        return status != 0 ? status : JOB_BAD_REQUEST;
    }
    status = store_write(&file, request + end, count - end);
    if (status != 0) {
        store_abandon(&file);
        open = 0;
    } else if (request[0] & 2u) {
        open = 0;
        status = store_close(&file);
    }
    return status;
}

/* offset (4), count (2), a name. */
static int32_t read_piece(uint32_t count) {
    uint32_t end = text_end(6, count);
    uint32_t wanted = number(request + 4, 2);
    lfs_soff_t at = (lfs_soff_t)number(request, 4);
    int32_t got;
    int status;
    if (end == 0 || wanted > PIECE_MAX) {
        return JOB_BAD_REQUEST;
    }
    request[end] = 0;
    status = store_open(&file, (const char *)request + 7, 0);
    if (status != 0) {
        return status;
    }
    got = lfs_file_seek(&store_lfs, &file.file, at, LFS_SEEK_SET);
    got = got < 0 ? got : lfs_file_read(&store_lfs, &file.file, piece, wanted);
    store_close(&file);
    return got;
}

/* format, decrypts, cipher, rounds (2), chunk_log2, key_bytes, salt_bytes; key; salt; source; target. */
static void run_job(uint8_t sequence, uint32_t count) {
    struct job job = {0};
    uint32_t key = JOB_FIXED, salt, source, target, end, stack, start_us;
    int32_t status = JOB_BAD_REQUEST;
    if (count < JOB_FIXED) {
        answer_status(sequence, status);
        return;
    }
    job.format = request[0];
    job.decrypts = request[1];
    job.cipher = request[2];
    job.rounds = (uint16_t)number(request + 3, 2);
    job.chunk_log2 = request[5];
    job.key_bytes = request[6];
    salt = key + job.key_bytes;
    source = salt + request[7];
    job.key = request + key;
    job.salt = request[7] == 32 ? request + salt : 0;
    target = text_end(source, count);
    end = target != 0 ? text_end(target, count) : 0;
    stack = 0;
    start_us = 0;
    if (end != 0) {
        request[target] = 0;
        request[end] = 0;
        job.source = (const char *)request + source + 1;
        job.target = (const char *)request + target + 1;
        hal_stack_paint();
        start_us = *(volatile uint32_t *)0x40054028u;
        hal_mark(PHASE_OTHER << 1 | 1);
        status = job.format == JOB_MODERN ? job_modern(&job) : job_published(&job);
        hal_mark(0);
        start_us = *(volatile uint32_t *)0x40054028u - start_us;
        stack = hal_stack_depth();
    }
    frame_start(sequence, 'j');
    frame_number((uint32_t)status, 4);
    frame_number(start_us, 4);
    frame_number(stack, 4);
    frame_number((uint32_t)(heap_top - __heap_start), 4);
    frame_end();
}

static int32_t load(uint32_t count) {
    uint32_t at = number(request, 4) * STORAGE.block_bytes;
    int32_t status = STORAGE.erase(at);
    return status != 0 ? status : STORAGE.program(at, request + 4, count - 4);
}

static void serve(uint8_t type, uint8_t sequence, uint32_t count) {
    uint32_t index;
    int32_t status;
    switch (type) {
    case HELLO:
        hello(sequence);
        break;
    case FORMAT:
        answer_status(sequence, store_mount(&STORAGE, 1));
        break;
    case MOUNT:
        answer_status(sequence, store_mount(&STORAGE, 0));
        break;
    case WRITE:
        answer_status(sequence, write_piece(count));
        break;
    case READ:
        status = read_piece(count);
        answer_data(sequence, status, (uint32_t)status);
        break;
    case JOB:
        run_job(sequence, count);
        break;
    case DUMP:
        index = number(request, 4);
        status = count == 4 && index < STORAGE.block_count
                     ? STORAGE.read(index * STORAGE.block_bytes, piece, STORAGE.block_bytes)
                     : JOB_BAD_REQUEST;
        answer_data(sequence, status, STORAGE.block_bytes);
        break;
    case LOAD:
        index = number(request, 4);
        answer_status(sequence, count == 4 + STORAGE.block_bytes && index < STORAGE.block_count
                                    ? load(count)
                                    : JOB_BAD_REQUEST);
        break;
    default:
        frame_error(sequence, BAD_REQUEST);
    }
}

int main(void) {
    hal_init();
    hello(0);
    for (;;) {
        uint8_t type, sequence;
        uint32_t count;
        uint8_t failure = frame_receive(&sequence, &type, request, &count);
        if (failure) {
            frame_error(sequence, failure);
        } else {
            serve(type, sequence, count);
        }
    }
}
