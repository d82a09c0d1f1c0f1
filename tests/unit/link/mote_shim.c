/* mote_shim.c: a mote's board on the host, for firmware/motes/link: memory, a radio that Python plays. */
#include "link.h"
#include "mote.h"

static void (*on_write)(uint8_t byte);
static int16_t (*on_read)(uint16_t milliseconds);

uint8_t shim_memory[64];
const size_t shim_link_bytes = sizeof(struct link);
const size_t shim_counter_bytes = sizeof(struct counter);

void shim_radio(void (*write)(uint8_t), int16_t (*read)(uint16_t)) {
    on_write = write;
    on_read = read;
}

void mote_write(uint8_t byte) {
    on_write(byte);
}

int16_t mote_read(uint16_t milliseconds) {
    return on_read(milliseconds);
}

uint8_t mote_load(uint16_t at) {
    return at < sizeof shim_memory ? shim_memory[at] : 0;
}

void mote_store(uint16_t at, uint8_t byte) {
    if (at < sizeof shim_memory) {
        shim_memory[at] = byte;
    }
}
