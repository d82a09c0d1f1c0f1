/* timed.c: runs a user's program with timed regions once. The first region is empty: what marking costs. Then come the
 * user's, and one line of hexadecimal digits, which ends the run.
 */
#include "timed.h"

static void send_digit(uint8_t digit) {
    hal_write((uint8_t)(digit < 10 ? '0' + digit : 'a' + digit - 10));
}

void timed_output(const void *bytes, uint16_t count) {
    const uint8_t *byte = bytes;
    while (count--) {
        send_digit((uint8_t)(*byte >> 4));
        send_digit((uint8_t)(*byte & 15u));
        byte++;
    }
}

int main(void) {
    hal_init();
    timed_begin();
    timed_end();
    timed();
    hal_write('\n');
    for (;;) {
        (void)hal_read(); /* nothing comes; a simulator that waits for input hands over what was sent */
    }
}
