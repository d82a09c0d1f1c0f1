/* uno_node.c: a node on an UNO that plays one scenario (steps.h) and prints the cost of each step.
 *
 * After each step, a line on the UART: the event, cycles / 8, the deepest stack in bytes, the packets sent.
 */
#include "hal.h"
#include "link.h"

#include <avr/eeprom.h>
#include <avr/io.h>
#include <avr/pgmspace.h>
#include <string.h>

struct step {
    uint8_t receives, how, bytes, data[48];
};

#include "steps.h" /* IMAGE: the storage; STEPS */

static uint8_t storage[LINK_STORAGE_BYTES] EEMEM = {IMAGE};
static const struct step steps[] PROGMEM = {STEPS};
static struct link link;
static uint8_t in[LINK_BUFFER_BYTES(48, 12)], out[LINK_BUFFER_BYTES(48, 12)];
static uint8_t sent[96], sent_bytes;

void link_packet(struct link *of, const uint8_t *packet, uint8_t bytes) {
    (void)of;
    memcpy(sent + sent_bytes, packet, bytes);
    sent_bytes = (uint8_t)(sent_bytes + bytes);
}

uint16_t link_clock(struct link *of) {
    (void)of;
    return 0;
}

void link_load(struct link *of, uint8_t at, uint8_t *to, uint8_t bytes) {
    (void)of;
    eeprom_read_block(to, storage + at, bytes);
}

void link_store(struct link *of, uint8_t at, const uint8_t *from, uint8_t bytes) {
    (void)of;
    eeprom_update_block(from, storage + at, bytes);
}

static void write_hex(uint16_t number, uint8_t digits) {
    while (digits-- > 0) {
        hal_write((uint8_t)("0123456789abcdef"[number >> 4 * digits & 15]));
    }
}

static uint8_t take(struct step *step) {
    if (!step->receives) {
        return link_send(&link, out, step->bytes, step->how);
    }
    uint8_t event = link_receive(&link, step->data, step->bytes);
    if (event == LINK_MESSAGE) {
        link_answer(&link, 1);
    }
    return event;
}

int main(void) {
    hal_init();
    for (uint8_t i = 0; i <= sizeof steps / sizeof *steps; i++) {
        struct step step;
        uint8_t event;
        uint16_t cycles, stack;

        if (i > 0) {
            memcpy_P(&step, &steps[i - 1], sizeof step);
            memcpy(out + LINK_HEAD, step.data, step.bytes);
        }
        sent_bytes = 0;
        hal_stack_paint();
        TCCR1A = 0;
        TCNT1 = 0;
        TCCR1B = 1 << CS11; /* clk / 8 */
        event = i > 0 ? take(&step) : link_begin(&link, in, sizeof in);
        TCCR1B = 0;
        cycles = TCNT1;
        stack = (uint16_t)hal_stack_depth();
        write_hex(event, 2);
        hal_write(' ');
        write_hex(cycles, 4);
        hal_write(' ');
        write_hex(stack, 4);
        hal_write(' ');
        for (uint8_t k = 0; k < sent_bytes; k++) {
            write_hex(sent[k], 2);
        }
        hal_write('\n');
    }
    hal_write('.');
    for (;;) {
    }
}
