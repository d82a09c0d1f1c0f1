/* node_bed.c: a node (firmware/link/node) on a host, over a flash whose power goes at any moment, or over a file.
 *
 * The flash obeys a NOR flash's rules: a write only clears bits, an erasure sets a whole sector, and what the
 * power interrupts is left half done. BED_FILE takes the file's storage instead.
 */
#include "node.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

enum { POWER_LOST = 255, START = 4096, ROOM = 4 * 4096, MESSAGE = 40, PACKET = 32 };
enum { BEGIN, SEND, RECEIVE, POLL, BYTE, PROVISION, FIRST_PROVISION, STORE, REFUSES };

struct bed {
    struct link_node node; /* first: link_clock finds the bed by it */
    uint8_t buffer[LINK_NODE_BYTES(MESSAGE, PACKET)];
    struct link_stream stream;
    uint8_t packet[PACKET];
    uint8_t sent[4096], taken[256];
    uint32_t sent_bytes, taken_bytes, taken_count;
    uint8_t takes, taken_event;
    uint16_t clock;
#ifdef BED_FILE
    struct link_file file;
#else
    struct link_flash flash;
#endif
};

const size_t bed_bytes = sizeof(struct bed);

#ifndef BED_FILE
static uint8_t memory[ROOM];    /* a sector of somebody else's on both sides */
static uint8_t stuck[ROOM];     /* bits that stay 0 */
static uint8_t lazy[ROOM];      /* bits that a write leaves 1 */
static int32_t steps_left = -1; /* bytes written or erased until the power goes; below 0: it stays */
static uint32_t erasures, writes, reads;
static jmp_buf power;

uint8_t *bed_memory(void) {
    return memory;
}

uint8_t *bed_stuck(void) {
    return stuck;
}

const uint32_t bed_flash_bytes = LINK_FLASH_BYTES;

uint8_t *bed_lazy(void) {
    return lazy;
}

void bed_cut(int32_t steps) {
    steps_left = steps;
}

uint32_t bed_erasures(void) {
    return erasures;
}

uint32_t bed_writes(void) {
    return writes;
}

uint32_t bed_reads(void) {
    return reads;
}

static void step(void) {
    if (steps_left == 0) {
        longjmp(power, 1);
    }
    if (steps_left > 0) {
        steps_left--;
    }
}

void link_flash_read(uint32_t at, uint8_t *to, uint16_t bytes) {
    if (at < START || at + bytes > START + LINK_FLASH_BYTES) {
        abort();
    }
    reads++;
    memcpy(to, memory + at, bytes);
}

void link_flash_write(uint32_t at, const uint8_t *page) {
    if (at < START || at % LINK_FLASH_PAGE != 0 || at + LINK_FLASH_PAGE > START + LINK_FLASH_BYTES) {
        abort();
    }
    writes++;
    for (uint32_t i = 0; i < LINK_FLASH_PAGE; i++) {
        step();
        memory[at + i] &= (uint8_t)((page[i] & ~stuck[at + i]) | lazy[at + i]);
    }
}

void link_flash_erase(uint32_t at) {
    if (at < START || at % LINK_FLASH_SECTOR != 0 || at + LINK_FLASH_SECTOR > START + LINK_FLASH_BYTES) {
        abort();
    }
    erasures++;
    for (uint32_t i = 0; i < LINK_FLASH_SECTOR; i++) {
        if (i % 64 == 0) {
            step();
        }
        memory[at + i] = (uint8_t)~stuck[at + i];
    }
}

uint16_t link_clock(struct link *link) {
    return ((struct bed *)link)->clock;
}
#endif

static void put(struct link_node *node, const uint8_t *packet, uint8_t bytes) {
    struct bed *bed = (struct bed *)node;

    if (bed->sent_bytes + 1u + bytes > sizeof bed->sent) {
        abort();
    }
    bed->sent[bed->sent_bytes++] = bytes;
    memcpy(bed->sent + bed->sent_bytes, packet, bytes);
    bed->sent_bytes += bytes;
}

static uint8_t take(struct link_node *node, const uint8_t *message, link_size bytes, uint8_t event) {
    struct bed *bed = (struct bed *)node;

    memcpy(bed->taken, message, bytes);
    bed->taken_bytes = bytes;
    bed->taken_count++;
    bed->taken_event = event;
    return bed->takes;
}

static uint8_t begin(struct bed *bed) {
    bed->node.put = put;
    bed->node.take = bed->takes == 2 ? 0 : take;
#ifdef BED_FILE
    bed->node.place = &bed->file;
#else
    link_flash_open(&bed->flash, START);
    bed->node.place = &bed->flash;
#endif
    bed->stream.packet = bed->packet;
    return link_node_begin(&bed->node, bed->buffer, MESSAGE, PACKET, 250);
}

uint8_t bed_call(struct bed *bed, int what, const uint8_t *data, uint32_t bytes, uint8_t how) {
#ifndef BED_FILE
    if (setjmp(power) != 0) {
        steps_left = -1;
        return POWER_LOST;
    }
#endif
    switch (what) {
    case BEGIN:
        return begin(bed);
    case SEND:
        return link_node_send(&bed->node, data, (link_size)bytes, how);
    case RECEIVE:
        return link_node_receive(&bed->node, data, (uint8_t)bytes);
    case POLL:
        return link_poll(&bed->node.core);
    case BYTE:
        bed->stream.packet_bytes = how;
        return link_node_byte(&bed->node, &bed->stream, *data);
    case PROVISION:
        return link_node_provision(&bed->node, data, how);
    case REFUSES:
        return link_node_refuses(&bed->node, data, how);
    case FIRST_PROVISION:
        return (uint8_t)!link_provision(&bed->node.core, data);
    case STORE:
        link_store(&bed->node.core, how, data, (uint8_t)bytes);
        return 0;
    default:
        abort();
    }
}

void bed_load(struct bed *bed, uint8_t *to) {
    link_load(&bed->node.core, 0, to, LINK_STORAGE_BYTES);
}

void bed_set(struct bed *bed, uint16_t clock, uint8_t takes) {
#ifndef BED_FILE
    bed->clock = clock;
#else
    (void)clock;
#endif
    bed->takes = takes;
}

uint32_t bed_sent(struct bed *bed, const uint8_t **sent) {
    uint32_t bytes = bed->sent_bytes;

    *sent = bed->sent;
    bed->sent_bytes = 0;
    return bytes;
}

uint32_t bed_taken(const struct bed *bed, const uint8_t **taken, uint8_t *event) {
    *taken = bed->taken;
    *event = bed->taken_event;
    return bed->taken_count << 16 | bed->taken_bytes;
}

#ifdef BED_FILE
int bed_open(struct bed *bed, const char *path) {
    return link_file_open(&bed->file, path);
}

void bed_close(struct bed *bed) {
    link_file_close(&bed->file);
}
#endif

uint16_t bed_clock(struct bed *bed) {
    return link_clock(&bed->node.core);
}
