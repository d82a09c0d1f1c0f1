/* uno_size.c: the least sketch that uses the whole link, to see what it takes of an UNO.
 *
 * Its packets go to and come from the UART's registers; WITHOUT_LINK is the sketch without the link.
 */
#include <avr/eeprom.h>
#include <avr/io.h>

#ifndef WITHOUT_LINK
#include "link.h"

static struct link link;
static uint8_t in[80], out[80]; /* the message buffers, which the budget leaves out */

void link_packet(struct link *of, const uint8_t *packet, uint8_t bytes) {
    (void)of;
    while (bytes-- > 0) {
        UDR0 = *packet++;
    }
}

uint16_t link_clock(struct link *of) {
    (void)of;
    return TCNT1;
}

void link_load(struct link *of, uint8_t at, uint8_t *to, uint8_t bytes) {
    (void)of;
    eeprom_read_block(to, (const void *)(uint16_t)at, bytes);
}

void link_store(struct link *of, uint8_t at, const uint8_t *from, uint8_t bytes) {
    (void)of;
    eeprom_update_block(from, (void *)(uint16_t)at, bytes);
}
#endif

int main(void) {
#ifndef WITHOUT_LINK
    GPIOR0 = link_begin(&link, in, sizeof in);
#endif
    for (;;) {
#ifndef WITHOUT_LINK
#ifndef SENDS_ONLY
        static uint8_t packet[12]; /* counts as the radio's */
        packet[TCNT0 & 7] = UDR0;
        GPIOR0 = link_receive(&link, packet, sizeof packet);
        link_answer(&link, GPIOR1);
        GPIOR0 = link_poll(&link);
#endif
        GPIOR0 = link_send(&link, out, GPIOR1, GPIOR2);
#endif
    }
}
