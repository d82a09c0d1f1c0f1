/* storage_harness.c: the firmware's sd.c or nor.c with registers that the test controls: it sets what comes
 * back for each byte, and how fast the timer runs. Each relevant write, byte and read is printed on its own
 * line.
 *
 * The source is a copy in which AT asks at() for a register (test_storage_drivers.py). at() cannot know whether
 * its register is to be read or written: it gives a value that nothing writes, and looks at the next call whether
 * that has changed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "hal.h"

volatile uint32_t *at(uint32_t address);

#ifdef STORAGE_SD
#include "sd.c"
#define DATA_ADDRESS 0x4003C008u
#define STATUS_ADDRESS 0x4003C00Cu
#define STORAGE storage_sd
#else
#include "nor.c"
#define DATA_ADDRESS 0x18000060u
#define STATUS_ADDRESS 0x18000028u
#define STORAGE storage_nor
#endif
#define TIMER_ADDRESS 0x40054028u

enum { FIFO = 16, BYTES = 1 << 16, UNTOUCHED = 0x5A000000 };

static volatile uint32_t slot;
static uint32_t given, address_of_slot, now_us, timer_looks;
static uint8_t answers[BYTES], received[FIFO];
static size_t answers_next, answers_end;
static unsigned in_flight, in_flight_most, first, looks, quiet;
static int refused, in_place;

static uint32_t setting(const char *name, uint32_t otherwise) {
    const char *text = getenv(name);
    return text ? (uint32_t)strtoul(text, NULL, 0) : otherwise;
}

/* Each setting is one number after another, for one look after another; the last one stays. */
static uint32_t of_list(const char *name, unsigned turn, uint32_t otherwise) {
    const char *text = getenv(name);
    uint32_t value = otherwise;
    for (unsigned i = 0; text && *text && i <= turn; i++) {
        value = (uint32_t)strtoul(text, (char **)&text, 0);
    }
    return value;
}

static void byte_out(uint8_t out) {
    printf("byte %02x\n", out);
    if (in_flight == FIFO || refused) {
        printf("overrun\n");
        exit(1);
    }
    received[(first + in_flight++) % FIFO] =
        answers_next < answers_end ? answers[answers_next++] : (uint8_t)setting("REST", 0xFF);
    in_flight_most = in_flight > in_flight_most ? in_flight : in_flight_most;
    quiet = 0;
#ifdef STORAGE_SD
    looks = 0;
#endif
}

static void byte_in(void) {
    first = (first + 1) % FIFO;
    in_flight -= in_flight != 0;
}

/* What the last at() was for. */
static void settle(void) {
    uint32_t value = slot;
    if (address_of_slot == 0) {
        return;
    }
    if (value != given) {
        if (address_of_slot == DATA_ADDRESS) {
            byte_out((uint8_t)value);
        } else {
            printf("%08x = %x\n", address_of_slot, value);
            if (address_of_slot == 0x18000008u) { /* the interface goes off or on: its FIFO is empty then */
                in_flight = looks = 0;
                refused = 0;
            }
            in_place = address_of_slot == 0x180000F4u || (in_place && address_of_slot != 0x18000000u);
        }
    } else if (address_of_slot == DATA_ADDRESS) {
        byte_in();
    } else if (address_of_slot == 0x14000004u) {
        printf("flushed?\n");
    }
    address_of_slot = 0;
}

/* The flags. Of nor.c's interface: no room at every fifth look; what has come in is seen when nothing went out since
 * a look before; while the mode of reading in place is set up, it ends as ENDING states. */
static uint32_t status(void) {
    looks++;
#ifdef STORAGE_SD
    return looks > setting("LATE", 1) && in_flight ? 0x14u : 0x10u;
#else
    if (in_place) {
        printf("look\n");
        return of_list("ENDING", looks - 1, 4);
    }
    refused = looks % 5 == 4;
    return (quiet++ >= setting("LATE", 1) && in_flight ? 8u : 0u) | (refused ? 0u : 2u) | 4u;
#endif
}

volatile uint32_t *at(uint32_t address) {
    settle();
    address_of_slot = address;
    if (address == DATA_ADDRESS) {
        given = UNTOUCHED | received[first];
    } else if (address == STATUS_ADDRESS) {
        given = status();
    } else if (address == TIMER_ADDRESS) {
        given = now_us;
        now_us += setting("STEP", 1);
        timer_looks++;
    } else if (address == 0x4000C008u) { /* the resets that are done: the SPI's at the third look */
        printf("reset?\n");
        given = looks++ == 2 ? 1u << 16 : ~(1u << 16);
    } else {
        given = UNTOUCHED | 0x15C; /* bits 9:8 as they are when the interface rules its pin */
    }
    slot = given;
    return &slot;
}

uint32_t hal_clock_hz(void) {
    return setting("CLOCK", 125000000);
}

static void show(const uint8_t *bytes, uint32_t count) {
    printf("data ");
    for (uint32_t i = 0; i < count; i++) {
        printf("%02x", bytes[i]);
    }
    printf("\n");
}

int main(int argc, char **argv) {
    static uint8_t data[8192];
    answers_end = fread(answers, 1, sizeof answers, stdin);
    now_us = setting("NOW", 0xFFFFFFF0u);
#ifndef STORAGE_SD
    uint8_t *flash = mmap((void *)0x10000000, 1 << 21, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    for (uint32_t i = 0; i < 1 << 21; i++) {
        flash[i] = (uint8_t)(i * 31 + (i >> 8) + (i >> 16));
    }
#endif
    for (int i = 1; i < argc; i++) {
        const char *what = argv[i];
        int code = 99;
        memset(data, 0xEE, sizeof data);
        if (strcmp(what, "start") == 0) {
            code = STORAGE.start();
        } else if (strcmp(what, "erase") == 0 && i + 1 < argc) {
            code = STORAGE.erase((uint32_t)strtoul(argv[++i], NULL, 0));
        } else if (i + 2 < argc) {
            uint32_t place = (uint32_t)strtoul(argv[++i], NULL, 0),
                     count = (uint32_t)strtoul(argv[++i], NULL, 0);
            for (uint32_t k = 0; k < count && strcmp(what, "program") == 0; k++) {
                data[k] = (uint8_t)(k * 7 + (k >> 8) + 1);
            }
            code = strcmp(what, "program") == 0 ? STORAGE.program(place, data, count)
                                                : STORAGE.read(place, data, count);
            settle();
            if (strcmp(what, "read") == 0) {
                show(data, count + 2);
            }
        }
        settle();
        printf("status %d, looks %u\n", code, timer_looks);
    }
#ifdef STORAGE_SD
    printf("pause %u\n", pause_loops);
#else
    printf("most %u\n", in_flight_most);
#endif
    printf("sizes %u %u %u %u\n", STORAGE.read_bytes, STORAGE.program_bytes, STORAGE.block_bytes,
           STORAGE.block_count);
    return 0;
}
