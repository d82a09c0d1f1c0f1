/* cost.c: a node that follows requests over the UART, so that a simulator can count what each step costs.
 *
 * A request is a letter (P: a whole storage; B: begin; S: send; R: receive), a byte for how, a length and so many
 * bytes; an answer is the event, a length of two bytes and the packets that were sent. Each byte travels as two
 * letters, high half first, A for 0, and 0x7e ends a request and an answer. Only the work of the link is
 * between the marks. COST_MESSAGE is the longest
 * message, COST_PACKET the longest packet. COST_NOTHING is the same program without the link: the difference of
 * both is what the link takes. COST_SENDS is for a node that never listens.
 */
#include "hal.h"

#include <string.h>

enum { LONGEST = 255, PACKETS = 3 };

static uint8_t given[LONGEST], sent[PACKETS * COST_PACKET];
static uint16_t sent_bytes;

#ifndef COST_NOTHING
#include "node.h"

static struct link_node node;
static uint8_t buffer[LINK_NODE_BYTES(COST_MESSAGE, COST_PACKET)];

static void put(struct link_node *of, const uint8_t *packet, uint8_t bytes) {
    (void)of;
    if (sent_bytes + bytes <= sizeof sent) {
        memcpy(sent + sent_bytes, packet, bytes);
        sent_bytes = (uint16_t)(sent_bytes + bytes);
    }
}

static uint8_t take(struct link_node *of, const uint8_t *message, link_size bytes, uint8_t event) {
    (void)of, (void)message, (void)bytes, (void)event;
    return 1;
}

uint16_t link_clock(struct link *link) {
    (void)link;
    return 0;
}

#if defined(__AVR__)
#include <avr/eeprom.h>

void link_load(struct link *link, uint8_t at, uint8_t *to, uint8_t bytes) {
    eeprom_read_block(to, (const void *)(((struct link_node *)link)->place + at), bytes);
}

void link_store(struct link *link, uint8_t at, const uint8_t *from, uint8_t bytes) {
    eeprom_update_block(from, (void *)(((struct link_node *)link)->place + at), bytes);
}
#elif defined(COST_FLASH)
/* The chip's flash, modelled in RAM. */
static uint8_t sectors[LINK_FLASH_BYTES];
static struct link_flash flash;

void link_flash_read(uint32_t at, uint8_t *to, uint16_t bytes) {
    memcpy(to, sectors + at, bytes);
}

void link_flash_write(uint32_t at, const uint8_t *page) {
    memcpy(sectors + at, page, LINK_FLASH_PAGE);
}

void link_flash_erase(uint32_t at) {
    memset(sectors + at, 0xff, LINK_FLASH_SECTOR);
}
#else
static uint8_t storage[LINK_STORAGE_BYTES];

void link_load(struct link *link, uint8_t at, uint8_t *to, uint8_t bytes) {
    (void)link;
    memcpy(to, storage + at, bytes);
}

void link_store(struct link *link, uint8_t at, const uint8_t *from, uint8_t bytes) {
    (void)link;
    memcpy(storage + at, from, bytes);
}
#endif

static void prepare(void) {
    node.put = put;
    node.take = take;
#if !defined(__AVR__) && defined(COST_FLASH)
    memset(sectors, 0xff, sizeof sectors);
    link_flash_open(&flash, 0);
    node.place = &flash;
#endif
}

static __attribute__((noinline)) uint8_t serve(uint8_t what, uint8_t how, uint8_t bytes) {
    switch (what) {
    case 'P':
        link_store(&node.core, 0, given, LINK_STORAGE_BYTES);
        return LINK_NOTHING;
    case 'B':
        return link_node_begin(&node, buffer, COST_MESSAGE, COST_PACKET, 250);
    case 'S':
        return link_node_send(&node, given, bytes, how);
#ifndef COST_SENDS
    case 'R':
        return link_node_receive(&node, given, bytes);
#endif
    default:
        return 0xff;
    }
}
#else
static void prepare(void) {
}

static __attribute__((noinline)) uint8_t serve(uint8_t what, uint8_t how, uint8_t bytes) {
    sent[how % sizeof sent] = given[bytes % sizeof given]; /* the link uses neither array */
    sent_bytes = how;
    return what;
}
#endif

static uint8_t read_byte(void) {
    uint8_t high = (uint8_t)(hal_read() - 'A');

    return (uint8_t)(high << 4 | (hal_read() - 'A'));
}

static void write_byte(uint8_t byte) {
    hal_write((uint8_t)('A' + (byte >> 4)));
    hal_write((uint8_t)('A' + (byte & 15)));
}

int main(void) {
    hal_init();
    prepare();
    write_byte(0); /* it is there: a simulator sends nothing before */
    hal_write(0x7e);
    for (;;) {
        uint8_t what = read_byte(), how = read_byte(), bytes = read_byte(), event;

        for (uint8_t i = 0; i < bytes; i++) {
            given[i] = read_byte();
        }
        (void)hal_read();
        sent_bytes = 0;
        hal_mark(1);
        event = serve(what, how, bytes);
        hal_mark(0);
        write_byte(event);
        write_byte((uint8_t)sent_bytes);
        write_byte((uint8_t)(sent_bytes >> 8));
        for (uint16_t i = 0; i < sent_bytes; i++) {
            write_byte(sent[i]);
        }
        hal_write(0x7e);
    }
}
